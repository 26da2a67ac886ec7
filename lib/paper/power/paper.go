// Package power makes the table of the lenses' statistical power. It plants memories of known
// size: a share of the forget set stays in the training, or a few of its records are repeated.
// For every lens it reports the smallest memory that the lens detects in four of five models, at
// a false alarm rate of one in twenty.
package power

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/paper/fishing"
	"github.com/lethe-ml/lethe/lib/train"
)

// Results is the version of the numbers of this package. 2: lenses use only held-out records
// that no method uses.
const Results = 2

const (
	id    = "power"
	title = "The smallest memory that a lens finds"
	doc   = "Models are trained on the retained records and on a share of those to be forgotten, as if a method had left so much behind, and every lens " +
		"looks at them. 'Smallest share' is what it finds in 80 of 100 models while one retrained model in 20 is accused; between the shares " +
		"that were planted, power is taken to be a straight line. 'By retraining' compares with retrained models: a model is accused where its " +
		"reading, less that of one retrained model of its case, is beyond what other retrained models show. 'By its null' needs none: it is " +
		"accused where its interval is beyond the null, on memory's side. A lens that accuses more than one retrained model in ten " +
		"by its null is no test of forgetting on that case; what it says without a retrained model is not to be believed."
	figureDoc = "How often a lens finds a planted memory, by the share of the forget set that stayed in the training, beside retrained models. The line at " +
		"0.8 is what the table asks for; at a share of 0 one model in 20 is accused by chance."
)

// Paper is the table and its figure, for the command line.
func Paper() paper.Paper {
	return paper.Paper{
		Name: id, Title: title,
		Scales: []paper.Scale{
			{Name: "quick", About: "12 seeds; needs no data files and takes some minutes"},
			{Name: "standard", About: "40 seeds, and two real tables"},
			{Name: "paper", About: "100 seeds, and PBMC-3k"},
		},
		Recipes: []paper.Recipe{newRecipe(id, doc, showTable), newRecipe(id+"/"+paper.Figure, figureDoc, showFigure)},
	}
}

func newRecipe(id, doc string, show func(*paper.Env, Study, *paper.Evidence[LensReading]) *paper.Output) paper.Recipe {
	return paper.StudyRecipe(paper.Recipe{ID: id, Title: title, Doc: doc}, StudyAt, measurements, show)
}

// PlantedMemory is a memory of known size: a share of the forget set is in the training, each
// record a number of times.
type PlantedMemory struct {
	Share float64 `json:"share"`
	Times int     `json:"times"`
}

// Case is a setting with a label.
type Case struct {
	Label string
	lab.Setting
}

// Study is what one scale computes.
type Study struct {
	Scale    string
	Cases    []Case
	Seeds    int
	Memories []PlantedMemory // the first is none
	// Shadows is the number of additional retrained models that an attacker has, beside the
	// reference.
	Shadows int
}

// repeatedShare is the share of the forget set that is repeated.
const repeatedShare = 0.05

// StudyAt returns the study of a scale.
func StudyAt(scale string) (Study, error) {
	simulated, err := rareTypeCase("simulated cells", "quick")
	if err != nil {
		return Study{}, err
	}
	s := Study{Scale: scale, Cases: []Case{flips(), drawings(), simulated}, Shadows: 8}
	for _, share := range []float64{0, repeatedShare, 0.1, 0.2, 0.4, 0.7, 1} {
		s.Memories = append(s.Memories, PlantedMemory{share, 1})
	}
	for _, times := range []int{4, 16} {
		s.Memories = append(s.Memories, PlantedMemory{repeatedShare, times})
	}
	switch scale {
	case "quick":
		s.Seeds = 12
	case "standard":
		s.Seeds, s.Cases = 40, slices.Insert(s.Cases, 1, realData("breast_cancer"), realData("german_credit"))
	case "paper":
		blood, err := rareTypeCase("PBMC-3k", "standard")
		if err != nil {
			return Study{}, err
		}
		s.Seeds, s.Cases = 100, append(slices.Insert(s.Cases, 1, realData("breast_cancer"), realData("german_credit")), blood)
	default:
		return s, fmt.Errorf("scale %q is not one of quick, standard, paper", scale)
	}
	return s, nil
}

// flips are random records of a table, one in five with a wrong label.
func flips() Case { return memorisingCase("table: one label in five is wrong", "linear_flips") }

// realData are random records of a real table.
func realData(name string) Case { return memorisingCase("table: "+name, name) }

func memorisingCase(label, name string) Case {
	return Case{label, lab.Setting{
		Data: lab.Table{Set: name, MaxRows: 600}, Forget: lab.Random{Fraction: 0.20}, Fit: train.Config{Epochs: 200, Optimizer: nn.Adam{LR: 5e-3}},
		Model: tabular.MLP{Hidden: 64, Dropout: new(0.0)},
	}}
}

// drawings are random glyphs that a small network for images memorises.
func drawings() Case {
	return Case{"images: drawings", lab.Setting{
		Data: lab.Images{Set: "glyphs", MaxTrain: 300, MaxTest: 400}, Forget: lab.Random{Fraction: 0.30}, Keep: []int{},
		Fit:   train.Config{Epochs: 20, Batch: 32, Optimizer: nn.SGD{LR: 0.05, Momentum: 0.9}, Schedule: train.Cosine()},
		Model: vision.SmallCNN{Width: 4, Hidden: 32, Norm: true},
	}}
}

// rareTypeCase is the rare type of the first shadow models of a scale of "Fishing for Privacy",
// in a small autoencoder.
func rareTypeCase(label, scale string) (Case, error) {
	s, err := fishing.ShadowStudyAt(scale)
	if err != nil {
		return Case{}, err
	}
	return Case{"cells: a rare type, " + label, s.Groups[0].SettingAt(0)}, nil
}

// settingAt is the case of one seed: another forget set, if that is random, and other models.
func (c Case) settingAt(k int) lab.Setting {
	s := c.Setting
	s.Seed += k
	if f, random := s.Forget.(lab.Random); random {
		f.Seed = uint32(lab.ForgetSeed + k)
		s.Forget = f
	}
	return s
}
