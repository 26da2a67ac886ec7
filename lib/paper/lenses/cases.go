package lenses

// The cases of the table of lenses.

import (
	"fmt"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper/blindu"
	"github.com/lethe-ml/lethe/lib/paper/fishing"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// NamedCase is a setting with the label that a table shows.
type NamedCase struct {
	Name string
	lab.Setting
	// Methods are compared on it; nil: those for its kind of network.
	Methods []lab.Variant
}

// Cases are the cases of the table of lenses. At quick scale they need no file; at standard and
// paper scale images, RULER's ten tables and cells of PBMC-3k are added.
func Cases(scale string) ([]NamedCase, error) {
	long := train.Config{Epochs: 150, Optimizer: nn.Adam{LR: 5e-3}}
	cases := []NamedCase{
		{"an island that contradicts the moons", lab.Setting{Data: lab.Table{Set: "moons_island"}, Forget: lab.Planted("island"), Fit: long}, nil},
		{"a tip that the moons explain", lab.Setting{Data: lab.Table{Set: "moons_island"}, Forget: lab.Planted("tip"), Fit: long}, nil},
		{"outliers that contradict the rule", lab.Setting{Data: lab.Table{Set: "tabular_outliers"}, Forget: lab.Planted("outliers")}, nil},
		{"records whose copies stay", lab.Setting{Data: lab.Table{Set: "blobs_duplicates"}, Forget: lab.Planted("originals")}, nil},
		{"random records", lab.Setting{Data: lab.Table{Set: "tabular_outliers"}, Forget: lab.Random{Fraction: 0.10}}, nil},
		{"random records, real data", lab.Setting{Data: lab.Table{Set: "breast_cancer"}, Forget: lab.Random{Fraction: 0.10}}, nil},
	}
	memorise := train.Config{Epochs: 40, Batch: 32, Optimizer: nn.SGD{LR: 0.1, Momentum: 0.9, WeightDecay: 5e-4}, Schedule: train.Cosine()}
	memorised := func(images int, forget lab.ForgetSet) lab.Setting {
		return lab.Setting{Data: lab.Images{Set: "glyphs", MaxTrain: images}, Forget: forget, Fit: memorise, Model: smallNet}
	}
	cases = append(cases,
		NamedCase{"random drawings, memorised", memorised(400, lab.Random{Fraction: 0.30}), nil},
		NamedCase{"drawings with a wrong label", memorised(1000, lab.Planted("mislabelled")), nil},
		NamedCase{"drawings of two classes that were confused", lab.Setting{Data: lab.Images{Set: "glyphs", MaxTrain: 1000, MaxTest: 1000},
			Forget: lab.Backdoor{Confuse: true, Fraction: 0.10}, Fit: memorise, Model: smallNet}, nil})
	simulated, err := cellCase("quick")
	if err != nil {
		return nil, err
	}
	drawn, err := bottleneckCase("quick")
	if err != nil {
		return nil, err
	}
	cases = append(cases, simulated, drawn)
	switch scale {
	case "quick":
		return cases, nil
	case "standard", "paper":
	default:
		return nil, fmt.Errorf("scale %q is not one of quick, standard, paper", scale)
	}
	photographs := memorise
	photographs.Epochs, photographs.Batch, photographs.Optimizer = 30, 64, nn.SGD{LR: 0.05, Momentum: 0.9, WeightDecay: 5e-4}
	cases = append(cases, NamedCase{"random photographs", lab.Setting{Data: lab.Images{Set: "cifar10_first4000", MaxTrain: 2000, MaxTest: 2000},
		Forget: lab.Random{Fraction: 0.10}, Fit: photographs, Model: smallNet}, nil})
	for _, name := range datasets.RULER() {
		data := lab.Table{Set: name}
		if scale == "standard" {
			data.MaxRows = 6000
		}
		cases = append(cases, NamedCase{"random records, RULER", lab.Setting{Data: data}, nil})
	}
	blood, err := cellCase("standard")
	if err != nil {
		return nil, err
	}
	digits, err := bottleneckCase("standard")
	return append(cases, blood, digits), err
}

// bottleneckCase is the first case of BlindU at one of its scales, with seed 0: a backdoor in
// generated glyphs, or in MNIST.
func bottleneckCase(scale string) (NamedCase, error) {
	s, err := blindu.StudyAt(scale)
	if err != nil {
		return NamedCase{}, err
	}
	c := s.Cases[0]
	return NamedCase{"a backdoor in a bottleneck", c.SettingAt(0), c.Methods()}, nil
}

// cellCase is the last case of "Fishing for Privacy" at one of its scales, with seed 0: a rare
// type of simulated cells, or PBMC-3k's dendritic cells.
func cellCase(scale string) (NamedCase, error) {
	s, err := fishing.StudyAt(scale)
	if err != nil {
		return NamedCase{}, err
	}
	c := s.Cases[len(s.Cases)-1]
	return NamedCase{"a rare type of cells", c.SettingAt(0), c.Methods()}, nil
}

// smallNet is a small, narrow network for images.
var smallNet = vision.SmallCNN{Width: 16, Norm: true}

// variants are the rows of a case: the controls, and the methods that it compares.
func (n NamedCase) variants() []lab.Variant {
	out := audit.ControlVariants()
	switch {
	case n.Methods != nil:
		return append(out, n.Methods...)
	case n.HasImages():
		return append(out, methodVariants(imageMethods())...)
	}
	out = append(out, methodVariants(tableMethods())...)
	// The one setting that reaches the forget set: four times the paper's rate.
	fast := unlearn.NegGrad{LR: 2e-3}
	return append(out, lab.Variant{Label: fast.Info().Name + ", rate x 4", Method: fast})
}

func methodVariants(methods []unlearn.Method) []lab.Variant {
	var out []lab.Variant
	for _, m := range methods {
		out = append(out, lab.Variant{Label: m.Info().Name, Method: m, Control: lab.IsControl(m)})
	}
	return out
}

// imageMethods are the methods for images: those of SDE's Table 4, and fine-tuning with the same
// optimiser, which ignores the forget set.
func imageMethods() []unlearn.Method {
	return []unlearn.Method{
		unlearn.RandomLabel{}, unlearn.SalUn{}, unlearn.L1Sparsity{}, unlearn.Unroll{},
		unlearn.FineTuning{Epochs: 10, LR: 0.01, SGD: &unlearn.Descent{}},
	}
}

// tableMethods are the methods for tables.
func tableMethods() []unlearn.Method {
	return []unlearn.Method{
		unlearn.GradientAscent{}, unlearn.NegGrad{}, unlearn.FineTuning{}, unlearn.SCRUB{}, unlearn.BadTeacher{},
	}
}
