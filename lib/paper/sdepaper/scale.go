package sdepaper

// What each scale of SDE's tables computes: data sets, networks, epochs and unlearning methods.

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Setting is one row of the paper's tables: a network on a data set.
type Setting struct {
	Label      string // "C10-R18"
	DataSet    string
	Images     int // drawn from the training part, 0: all
	Held       int // drawn from the test part, 0: all
	Net        string
	Width      int // channels, 0: the network's own
	Fit        train.Config
	Augment    bool     // crop and flip
	JudgedOnly bool     // left out of tables 4 and 8
	Layers     []string // of figure 4, nil: all; the first layers of many images do not fit into memory
	ShortAt    float64  // R in table lastbatch, at which an epoch ends on few images; 0: not in it
}

// imageNetwork is the network of the setting; its sizes are those of the set's images.
func (s Setting) imageNetwork() (model.Network, error) {
	switch s.Net {
	case vision.SmallCNN{}.Name():
		return vision.SmallCNN{Width: s.Width, Norm: true}, nil
	case vision.AllCNN{}.Name():
		return vision.AllCNN{Width: s.Width}, nil
	case vision.ResNet18{}.Name():
		return vision.ResNet18{Width: s.Width}, nil
	}
	return nil, fmt.Errorf("there is no image network %q", s.Net)
}

// Study is what one scale computes.
type Study struct {
	Scale       string
	Settings    []Setting
	Fractions   []float64 // R, the share of the training images to be forgotten
	Sizes       []int     // |S|
	Subsets     int       // m, number of either kind
	Draws       int       // of references and targets, per model
	Seeds       int       // models per setting and fraction
	Checkpoints []int     // per cent of the epochs after which models are judged
	// Of tables 4 and 8.
	UnlearnFractions []float64
	UnlearnSize      int
	// Matched is the number of images of the published setting, which defines the steps of the
	// step-matched rows; 0: there are none.
	Matched int
	// Untuned leaves out the rows with a searched rate, which take six unlearnings each.
	Untuned bool
}

// fraction is R in table 4 and figures 1 and 2: the paper's 10 %, or the
// smallest of a scale without it.
func (s Study) fraction() float64 {
	if slices.Contains(s.UnlearnFractions, 0.10) {
		return 0.10
	}
	return slices.Min(s.UnlearnFractions)
}

// JudgedAt is the per cent of the epochs after which the paper judges its
// controlled models (section 4.1).
const JudgedAt = 80

// sgd is the paper's optimiser; the paper does not state momentum and schedule.
func sgd(epochs, batch int, lr float64) train.Config {
	return train.Config{
		Epochs: epochs, Batch: batch, Schedule: train.Cosine(),
		Optimizer: nn.SGD{LR: lr, Momentum: 0.9, WeightDecay: 5e-4},
	}
}

// Scales are the scales of the recipes.
func Scales() []paper.Scale {
	return []paper.Scale{
		{Name: "quick", About: "takes minutes on two cores and no file (400 generated drawings, a small network)"},
		{Name: "hour", About: "an hour or two (2,000 images of CIFAR-10; a small network, narrow AllCNN and ResNet-18; three seeds)"},
		{Name: "large", About: "two to three hours for Tables 1 and 3 (all of CIFAR-10, lossy; ResNet-18 of width 16, sets of 400 to 2,000, three seeds)"},
		{Name: "standard", About: "nights (the networks in full width, five seeds)"},
		{Name: "paper", About: "is the published size, for a GPU"},
	}
}

// StudyAt returns the study of a scale of Scales; it is an error for another name.
func StudyAt(scale string) (Study, error) {
	checkpoints := []int{10, 20, 40, JudgedAt}
	switch scale {
	case "quick":
		return Study{
			// Few images and many epochs: the network memorises them, so that there is something
			// to detect.
			Scale: scale, Fractions: []float64{0.30}, Sizes: []int{50, 100}, Subsets: 40, Draws: 20, Seeds: 3, Checkpoints: checkpoints,
			Settings: []Setting{
				{Label: "Glyphs-CNN", DataSet: "glyphs", Images: 400, Net: "small-cnn", Width: 16, Fit: sgd(40, 32, 0.1), ShortAt: 0.27},
			},
			UnlearnFractions: []float64{0.30}, UnlearnSize: 50, Untuned: true,
		}, nil
	case "hour":
		return Study{
			Scale: scale, Fractions: []float64{0.10}, Sizes: []int{50, 100}, Subsets: 100, Draws: 20, Seeds: 3, Checkpoints: checkpoints,
			Settings: []Setting{
				{Label: "C10-CNN", DataSet: "cifar10_first4000", Images: 2000, Held: 2000, Net: "small-cnn", Width: 16, Fit: sgd(30, 64, 0.05), ShortAt: 0.10},
				{Label: "C10-AllCNN", DataSet: "cifar10_first4000", Images: 2000, Held: 2000, Net: "all-cnn", Width: 24, Fit: sgd(60, 64, 0.05),
					JudgedOnly: true, ShortAt: 0.10},
				{Label: "C10-R18", DataSet: "cifar10_first4000", Images: 2000, Held: 2000, Net: "resnet-18", Width: 8, Fit: sgd(40, 64, 0.05),
					JudgedOnly: true, ShortAt: 0.10},
			},
			UnlearnFractions: []float64{0.10, 0.20}, UnlearnSize: 100, Matched: 50000,
		}, nil
	case "large":
		// The paper's sizes on its data set, in a network that two cores can train. Without crop
		// and flip, so that the images are memorised in 20 epochs; few subsets, because the
		// 5,000 forgotten images hold two or three of 2,000.
		return Study{
			Scale: scale, Fractions: []float64{0.10}, Sizes: []int{400, 1000, 2000}, Subsets: 20, Draws: 20, Seeds: 3, Checkpoints: checkpoints,
			Settings: []Setting{{Label: "C10-R18", DataSet: "cifar10_jpeg", Net: "resnet-18", Width: 16, Fit: sgd(20, 128, 0.1), JudgedOnly: true,
				Layers: []string{"hp", "h"}, ShortAt: 0.05}},
			UnlearnFractions: []float64{0.10}, UnlearnSize: 1000,
		}, nil
	case "standard":
		return Study{
			Scale: scale, Fractions: []float64{0.05, 0.10, 0.20}, Sizes: []int{50, 100}, Subsets: 100, Draws: 20, Seeds: 5, Checkpoints: checkpoints,
			Settings: []Setting{
				{Label: "C10-AllCNN", DataSet: "cifar10_first4000", Images: 2000, Held: 2000, Net: "all-cnn", Fit: sgd(30, 128, 0.05), ShortAt: 0.10},
				{Label: "C10-R18", DataSet: "cifar10_first4000", Images: 2000, Held: 2000, Net: "resnet-18", Fit: sgd(30, 128, 0.1)},
			},
			UnlearnFractions: []float64{0.10}, UnlearnSize: 100, Matched: 50000,
		}, nil
	case "paper":
		return Study{
			Scale: scale, Fractions: []float64{0.05, 0.10, 0.20}, Sizes: []int{400, 1000, 2000}, Subsets: 100, Draws: 20, Seeds: 5, Checkpoints: checkpoints,
			Settings: []Setting{
				{Label: "SV-AllCNN", DataSet: "svhn", Net: "all-cnn", Fit: sgd(20, 256, 0.01)},
				{Label: "C10-AllCNN", DataSet: "cifar10", Net: "all-cnn", Fit: sgd(50, 256, 0.1), Augment: true},
				{Label: "SV-R18", DataSet: "svhn", Net: "resnet-18", Fit: sgd(20, 256, 0.01)},
				{Label: "C10-R18", DataSet: "cifar10", Net: "resnet-18", Fit: sgd(100, 256, 0.1), Augment: true},
				{Label: "C100-R18", DataSet: "cifar100", Net: "resnet-18", Fit: sgd(100, 128, 0.1), Augment: true, ShortAt: 0.05},
				{Label: "Tiny-R18", DataSet: "tiny_imagenet", Net: "resnet-18", Fit: sgd(100, 128, 0.1), Augment: true, ShortAt: 0.10},
			},
			UnlearnFractions: []float64{0.05, 0.10, 0.20}, UnlearnSize: 1000,
		}, nil
	}
	return Study{}, fmt.Errorf("scale %q is not one of quick, hour, large, standard, paper", scale)
}

// Variant is a row of table 4: a method or a control under its label.
type Variant = lab.Variant

// Labels of the variants; the methods' are those of the paper.
const (
	Retrain     = "Retrain"
	OtherSeed   = "Retrain, other seed"
	NoOp        = "do nothing"
	Destroyed   = "random weights"
	RandomLabel = "RandLabel"
	Unroll      = "Unroll"
	Sparsity    = "Sparsity"
	SalUn       = "SalUn"
	FineTuning  = "Fine-Tuning"
	Ascent      = "Gradient Ascent"
	ThudiUnroll = "Unroll, Thudi et al."
	// Added to a method's label.
	StepMatched = ", step-matched"
	Tuned       = ", tuned"
)

// Variants are the rows of table 4: the paper's four methods and two more in the published
// setting, two of them also with a searched rate, Unroll as its authors define it, the methods
// for as many steps as that setting takes, and the controls, including retraining.
func (s Study) Variants() []Variant {
	out := []Variant{
		{Label: RandomLabel, Method: unlearn.RandomLabel{}},
		{Label: Unroll, Method: unlearn.Unroll{}},
		{Label: Sparsity, Method: unlearn.L1Sparsity{}},
		{Label: SalUn, Method: unlearn.SalUn{}},
		{Label: FineTuning, Method: tuning},
		{Label: Ascent, Method: ascent},
		{Label: ThudiUnroll, Method: unlearn.UnrollThudi{}},
	}
	if !s.Untuned {
		out = append(out,
			Variant{Label: RandomLabel + Tuned, Method: unlearn.Tuned[unlearn.RandomLabel]{}},
			Variant{Label: SalUn + Tuned, Method: unlearn.Tuned[unlearn.SalUn]{}})
	}
	if n := s.Matched; n > 0 {
		out = append(out,
			Variant{Label: RandomLabel + StepMatched, Method: unlearn.StepMatched[unlearn.RandomLabel]{Records: n}},
			Variant{Label: Sparsity + StepMatched, Method: unlearn.StepMatched[unlearn.L1Sparsity]{Records: n}},
			Variant{Label: SalUn + StepMatched, Method: unlearn.StepMatched[unlearn.SalUn]{Records: n}},
			Variant{Label: FineTuning + StepMatched, Method: unlearn.StepMatched[unlearn.FineTuning]{Of: tuning, Records: n}},
			Variant{Label: Ascent + StepMatched, Method: unlearn.StepMatched[unlearn.GradientAscent]{Of: ascent, Records: n}})
	}
	return append(out,
		Variant{Label: Retrain, Method: unlearn.Retrain{}, Control: true},
		Variant{Label: OtherSeed, Method: unlearn.SecondOracle, Control: true},
		Variant{Label: NoOp, Method: unlearn.NoOp{}, Control: true},
		Variant{Label: Destroyed, Method: unlearn.RandomWeights{}, Control: true})
}

// variantNotes explain the rows beside the published setting.
func (s Study) variantNotes() []string {
	var out []string
	if !s.Untuned {
		out = append(out, "tuned: the best of five learning rates, 0.001 to 0.1, each tried in full, the same for both methods: of those after which the "+
			"accuracy on one half of the test images is at most one point below the original's, the one whose accuracy on the forgotten images is nearest to "+
			"that on these test images, by class. No retrained model, attack, activation or verdict is looked at.")
	}
	if s.Matched > 0 {
		out = append(out, fmt.Sprintf("step-matched: for as many steps as the published number of epochs takes on %d images in batches of 256; every "+
			"image is met more often than there.", s.Matched))
	}
	return out
}

// Fine-tuning and ascent with the published programs' optimiser.
var (
	tuning = unlearn.FineTuning{Epochs: 10, LR: 0.01, SGD: &unlearn.Descent{}}
	ascent = unlearn.GradientAscent{Epochs: 5, LR: 1e-4, SGD: &unlearn.Descent{}}
)
