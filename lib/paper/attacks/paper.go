// Package attacks makes the tables that ask what the attacks of the literature find in
// models that a method has unlearned: membership attacks on fleets of models, each of
// which forgot a random half of the records in question, and distances between
// ensembles of unlearned and of retrained models.
package attacks

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
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
			{Name: "quick", About: "fleets of 24 models, ensembles of 10, on two tables; needs no data files and takes some minutes"},
			{Name: "standard", About: "fleets of 64 models, ensembles of 32, on the same, German Credit and drawings"},
			{Name: "paper", About: "fleets of 256 models, as many as Hayes et al. have, ensembles of 100"},
		},
		Recipes: []paper.Recipe{tprTable(), vulnerability(), distancesTable()},
	}
}

// The arms that every table has.
const (
	Original  = "original (do nothing)"
	Retrained = "retrained (oracle)"
)

// Case is a setting with its name and the methods that are judged on it.
type Case struct {
	Label string
	lab.Setting
	Methods []unlearn.Method
}

// Study is what is computed at one scale.
type Study struct {
	Scale    string
	Cases    []Case
	Models   int // models of a fleet, in pairs
	Ensemble int // models of an ensemble
}

// StudyAt is the study of the scale of that name.
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

// memorisingFit is a training that ends when a network knows its records by heart.
func memorisingFit() train.Config { return train.Config{Epochs: 200, Optimizer: nn.Adam{LR: 5e-3}} }

// contradictingLabels are records with labels that the others contradict: who fits them knows
// them by heart.
func contradictingLabels() Case {
	return Case{"records with a wrong label",
		lab.Setting{DataSet: "linear_flips", MaxRows: 600, Planted: "flipped", Arch: wideNet, Fit: memorisingFit()}, tableMethods()}
}

// randomRecords are random records of the same table, of which one in five has a wrong label.
func randomRecords() Case {
	return Case{"random records, one in five with a wrong label",
		lab.Setting{DataSet: "linear_flips", MaxRows: 600, Fraction: 0.20, Arch: wideNet, Fit: memorisingFit()}, tableMethods()}
}

// realData are random records of a real table.
func realData(name string) Case {
	return Case{"random records, real data",
		lab.Setting{DataSet: name, MaxRows: 600, Fraction: 0.20, Arch: wideNet, Fit: memorisingFit()}, tableMethods()}
}

// drawings are random drawings that a small network knows by heart.
func drawings() Case {
	return Case{"random drawings", lab.Setting{
		DataSet: "glyphs", MaxRows: 400, TestRows: 400, Fraction: 0.30, Arch: wideNet, Fit: memorisingFit(),
	}, tableMethods()}
}

// wideNet is a network that knows some hundred records by heart.
func wideNet(features, classes int) model.Architecture {
	return tabular.MLP{Features: features, Outputs: classes, Hidden: 64, Dropout: tabular.NoDropout}
}

func tableMethods() []unlearn.Method {
	return []unlearn.Method{
		unlearn.GradientAscent{}, unlearn.NegGrad{LR: 2e-3}, unlearn.FineTuning{}, unlearn.SCRUB{}, unlearn.BadTeacher{},
	}
}

// variants are the rows of a case.
func (c Case) variants() []lab.Variant {
	out := []lab.Variant{{Label: Original, Method: unlearn.NoOp{}, Control: true}, {Label: Retrained, Method: unlearn.Retrain{}, Control: true}}
	for _, m := range c.Methods {
		out = append(out, lab.Variant{Label: m.Name(), Method: m})
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

// variantKey is an arm as a key holds it.
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
