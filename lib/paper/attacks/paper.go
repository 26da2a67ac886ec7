// Package attacks makes the tables on attacks from the literature against unlearned models:
// membership attacks with shadow models, each of which forgot a random half of the records in
// question, and distances between ensembles of unlearned and of retrained models.
package attacks

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Results is the version of the numbers of this package.
const Results = 1

// Paper lists the tables and the figure to the command line.
func Paper() paper.Paper {
	return paper.Paper{
		Name: "attacks", Title: "What attacks find after unlearning",
		Scales: []paper.Scale{
			{Name: "quick", About: "24 shadow models, ensembles of 10, on two tables; needs no data files and takes some minutes"},
			{Name: "standard", About: "64 shadow models, ensembles of 32, on the same, German Credit and drawings"},
			{Name: "paper", About: "256 shadow models, as many as Hayes et al. use, ensembles of 100"},
		},
		Recipes: []paper.Recipe{tprTable(), vulnerability(), distancesTable()},
	}
}

// The variants that every table has.
const (
	Original  = "original (do nothing)"
	Retrained = "retrained (oracle)"
)

// Case is a setting with a label and the methods that it compares.
type Case struct {
	Label string
	lab.Setting
	Methods []unlearn.Method
}

// Study is what one scale computes.
type Study struct {
	Scale    string
	Cases    []Case
	Models   int // number of shadow models, in pairs
	Ensemble int // models per ensemble
}

// StudyAt returns the study of a scale.
func StudyAt(scale string) (Study, error) {
	s := Study{Scale: scale, Cases: []Case{contradictingLabels(), randomRecords(), realData("breast_cancer")}}
	switch scale {
	case "quick":
		s.Models, s.Ensemble = 24, 10
	case "standard":
		s.Models, s.Ensemble, s.Cases = 64, 32, append(s.Cases, realData("german_credit"), drawings())
	case "paper":
		s.Models, s.Ensemble, s.Cases = 256, 100, append(s.Cases, realData("german_credit"), drawings())
	default:
		return s, fmt.Errorf("scale %q is not one of quick, standard, paper", scale)
	}
	return s, nil
}

// memorisingFit trains until the network has memorised its records.
func memorisingFit() train.Config { return train.Config{Epochs: 200, Optimizer: nn.Adam{LR: 5e-3}} }

// contradictingLabels are records with labels that contradict the others, so that a model that
// fits them has memorised them.
func contradictingLabels() Case {
	return Case{"records with a wrong label",
		lab.Setting{Data: lab.Table{Set: "linear_flips", MaxRows: 600}, Forget: lab.Planted("flipped"), Model: wideNet, Fit: memorisingFit()}, tableMethods()}
}

// randomRecords are random records of the same table, one in five with a wrong label.
func randomRecords() Case {
	return Case{"random records, one in five with a wrong label",
		lab.Setting{Data: lab.Table{Set: "linear_flips", MaxRows: 600}, Forget: lab.Random{Fraction: 0.20}, Model: wideNet, Fit: memorisingFit()},
		tableMethods()}
}

// realData are random records of a real table.
func realData(name string) Case {
	return Case{"random records, real data",
		lab.Setting{Data: lab.Table{Set: name, MaxRows: 600}, Forget: lab.Random{Fraction: 0.20}, Model: wideNet, Fit: memorisingFit()}, tableMethods()}
}

// drawings are random glyphs that a small network memorises.
func drawings() Case {
	return Case{"random drawings", lab.Setting{
		Data: lab.Images{Set: "glyphs", MaxTrain: 400, MaxTest: 400}, Forget: lab.Random{Fraction: 0.30}, Model: wideNet, Fit: memorisingFit(),
	}, tableMethods()}
}

// wideNet can memorise some hundred records.
var wideNet = tabular.MLP{Hidden: 64, Dropout: new(0.0)}

func tableMethods() []unlearn.Method {
	return []unlearn.Method{
		unlearn.GradientAscent{}, unlearn.NegGrad{LR: 2e-3}, unlearn.FineTuning{}, unlearn.SCRUB{}, unlearn.BadTeacher{},
	}
}

// variants are the rows of a case.
func (c Case) variants() []lab.Variant {
	out := []lab.Variant{{Label: Original, Method: unlearn.NoOp{}, Control: true}, {Label: Retrained, Method: unlearn.Retrain{}, Control: true}}
	for _, m := range c.Methods {
		out = append(out, lab.Variant{Label: m.Info().Name, Method: m})
	}
	return out
}

func (c Case) methods() []unlearn.Method {
	var out []unlearn.Method
	for _, a := range c.variants() {
		out = append(out, a.Method)
	}
	return out
}

// variantKey is a variant in a key.
type variantKey struct {
	Label  string        `json:"label"`
	Method lab.MethodKey `json:"method"`
}

func (c Case) variantKeys() (out []variantKey) {
	for _, a := range c.variants() {
		out = append(out, variantKey{a.Label, lab.MethodKeyOf(a.Method)})
	}
	return out
}
