package fishing

// The methods and controls, with their labels.

import (
	"slices"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Labels of the controls. The paper has the original and the retrained model as coded. Added
// here: an oracle that differs from the original in the forgotten cells only, a second one, the
// fine-tuning on the retained cells that ends most methods (alone, and for as many epochs), and
// the private training without noise.
const (
	Original       = "original"
	Retrained      = "retrained"
	OtherSeed      = "retrained, other seed"
	RetrainedCoded = "retrained, as coded"
	Ten            = "fine-tuning, 10 epochs"
	Thirty         = "fine-tuning, 30 epochs"
	Unnoised       = "DP-SGD, no noise"
	UnnoisedExact  = "DP-SGD, no noise, exact"
)

// Labels of the paper's methods, as coded and corrected.
const (
	RetainTuned = "retain fine-tuning"
	Ascended    = "gradient ascent"
	Dampened    = "SSD"
	Foster      = "SSD, Foster et al."
	Scrubbed    = "SCRUB"
	ScrubbedOne = "SCRUB, one optimiser"
	Contrasted  = "contrastive latent"
	Fisher      = "Fisher scrubbing"
	FisherSum   = "Fisher scrubbing, sum loss"

	Private      = "DP-SGD, epsilon 10"
	PrivateExact = "DP-SGD, epsilon 10, exact"
	Frozen       = "frozen critics"
	FrozenSum    = "frozen critics, strangers, sum loss"
	Extra        = "extra-gradient"
	ExtraTrue    = "extra-gradient, true"
)

// variants are the rows of Table 2.
func (c Case) variants() []lab.Variant {
	again := unlearn.RetrainShare{Epochs: c.Fit.Epochs, LR: c.LR, Batch: c.Fit.Batch}
	all := []lab.Variant{
		{Label: Original, Method: unlearn.NoOp{}, Control: true},
		{Label: Retrained, Method: unlearn.Retrain{}, Control: true},
		{Label: OtherSeed, Method: unlearn.SecondOracle, Control: true},
		{Label: RetrainedCoded, Method: again, Control: true},
		{Label: Ten, Method: unlearn.RetainTuning{Epochs: 10}, Control: true},
		{Label: Thirty, Method: unlearn.RetainTuning{Epochs: 30}, Control: true},
		{Label: Unnoised, Method: unlearn.DPRetrain{Noise: new(0.0)}, Control: true},
		{Label: UnnoisedExact, Method: unlearn.DPRetrain{Exact: true, Noise: new(0.0)}, Control: true},
		{Label: RetainTuned, Method: unlearn.RetainTuning{}},
		{Label: Ascended, Method: unlearn.AscentTuning{}},
		{Label: Dampened, Method: unlearn.SSD{}},
		{Label: Foster, Method: unlearn.SSDFoster{}},
		{Label: Scrubbed, Method: unlearn.SCRUBLatent{}},
		{Label: ScrubbedOne, Method: unlearn.SCRUBLatent{Joint: true}},
		{Label: Contrasted, Method: unlearn.LatentContrast{}},
		{Label: Fisher, Method: unlearn.FisherScrub{}},
		{Label: FisherSum, Method: unlearn.FisherScrub{Sum: true}},
		{Label: Private, Method: unlearn.DPRetrain{}},
		{Label: PrivateExact, Method: unlearn.DPRetrain{Exact: true}},
		{Label: Frozen, Method: unlearn.FrozenCritics{}},
		{Label: FrozenSum, Method: unlearn.FrozenCritics{NonMembers: true, Sum: true}},
		{Label: Extra, Method: unlearn.ExtraGradient{}},
		{Label: ExtraTrue, Method: unlearn.ExtraGradientTrue{Epochs: c.GameEpochs}},
	}
	if c.Only != nil {
		all = slices.DeleteFunc(all, func(a lab.Variant) bool { return !slices.Contains(c.Only, a.Label) })
	}
	return append(all, c.Also...)
}

// Methods are the variants that are not controls.
func (c Case) Methods() []lab.Variant {
	return slices.DeleteFunc(c.variants(), func(a lab.Variant) bool { return a.Control })
}

func (c Case) methods() []unlearn.Method {
	var out []unlearn.Method
	for _, a := range c.variants() {
		out = append(out, a.Method)
	}
	return out
}
