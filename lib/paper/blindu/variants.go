package blindu

// The methods and controls, with their labels.

import (
	"slices"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Labels of the controls. The paper has the original only.
const (
	Original  = "original"
	Retrained = "retrained"
	OtherSeed = "retrained, other seed"
	Auxiliary = "auxiliary records alone"
)

// Labels of the methods: corrected, as printed and as coded.
const (
	VBU                = "VBU"
	VBUCoded           = "VBU, as coded"
	HBFU               = "HBFU-ascent"
	Divided            = "HBFU-ascent, a third each"
	HBFUCoded          = "HBFU-ascent, the program's setting"
	BFU                = "BFU"
	Rapid              = "rapid retraining, Liu et al."
	Together           = "retrained, federated"
	WithReplacement    = "BlindU_w"
	WithoutReplacement = "BlindU_w/o"
	Compressed         = "BlindU, compressed only"
	Printed            = "BlindU_w/o, printed weight"
	Weights            = "BlindU_w/o, the program's weights"
	Coded              = "BlindU_w/o, as coded"
	Bounded            = "BlindU_w/o, bounded"
	Summed             = "BlindU_w/o, plain sum"
	Unaware            = "BlindU_w/o, labels only"
	OnTheRetains       = "BlindU_w/o, on the retain set"
	// Features drawn by the program's weights.
	WithWeighted    = "BlindU_w, exponential weights"
	WithoutWeighted = "BlindU_w/o, exponential weights"
)

// Labels of the methods that keep the rounds of a federation.
const (
	WithRounds       = "BlindU_w, equal rounds"
	WithoutRounds    = "BlindU_w/o, equal rounds"
	CompressedRounds = "BlindU, compressed only, equal rounds"
)

// Labels of the private methods, with epsilon 2 for everything that a user releases, or for each
// step.
const (
	PrivateVBU  = "VBU, private"
	PrivateHBFU = "HBFU-ascent, private"
	EachHBFU    = "HBFU-ascent, private in each step"
	PrivateBFU  = "BFU, private"
	EachBFU     = "BFU, private in each step"
)

// variants are the rows of Table III, or those that the case selects.
func (c Case) variants() []lab.Variant {
	without, with := c.masking(false), c.masking(true)
	divided := c.Users
	divided.Divided = true
	all := []lab.Variant{
		{Label: Original, Method: unlearn.NoOp{}, Control: true},
		{Label: Retrained, Method: unlearn.Retrain{}, Control: true},
		{Label: OtherSeed, Method: unlearn.SecondOracle, Control: true},
		{Label: Together, Method: unlearn.RapidRetraining{Users: c.Users, Plain: true}, Control: true},
		{Label: Auxiliary, Method: unlearn.AuxiliaryTuning{Epochs: 3, LR: c.LR}, Control: true},
		{Label: VBU, Method: unlearn.VBU{LR: c.LR}},
		{Label: VBUCoded, Method: c.codedVBU()},
		{Label: HBFU, Method: unlearn.HBFU{Users: c.Users, LR: c.LR, Eta: c.Eta}},
		{Label: Divided, Method: unlearn.HBFU{Users: divided, LR: c.LR, Eta: c.Eta}},
		{Label: HBFUCoded, Method: c.codedHBFU()},
		{Label: BFU, Method: unlearn.BFU{Users: c.Users, LR: c.LR}},
		{Label: Rapid, Method: unlearn.RapidRetraining{Users: c.Users}},
		{Label: WithReplacement, Method: unlearn.BlindU{LR: c.LR, Masking: with}},
		{Label: WithoutReplacement, Method: unlearn.BlindU{LR: c.LR, Masking: without}},
		{Label: Compressed, Method: unlearn.BlindU{LR: c.LR, Unmasked: true}},
		{Label: Printed, Method: unlearn.BlindU{LR: c.LR, Masking: without, Weighting: unlearn.AsPrinted}},
		{Label: Weights, Method: unlearn.BlindU{LR: c.LR, Masking: without, Weighting: unlearn.ByRatio, Rate: new(4.0)}},
		{Label: Coded, Method: c.codedBlindU()},
		{Label: Bounded, Method: unlearn.BlindU{LR: c.LR, Masking: without, Bounded: true}},
		{Label: Summed, Method: unlearn.BlindU{LR: c.LR, Masking: without, Weighting: unlearn.Added}},
		{Label: Unaware, Method: unlearn.BlindU{LR: c.LR, Masking: without, Rate: new(0.0)}},
		{Label: OnTheRetains, Method: unlearn.BlindU{LR: c.LR, Masking: without, Auxiliary: unlearn.Retained}},
	}
	all = append(all, c.weightedVariants()...)
	if c.Only == nil {
		return all
	}
	return slices.DeleteFunc(slices.Concat(all, c.federatedVariants(), c.privateVariants(), c.auxiliaryVariants()),
		func(a lab.Variant) bool { return !slices.Contains(c.Only, a.Label) })
}

// federatedVariants are the rows that keep the users' rounds.
func (c Case) federatedVariants() []lab.Variant {
	without, with := c.masking(false), c.masking(true)
	return []lab.Variant{
		{Label: WithRounds, Method: unlearn.BlindU{LR: c.LR, Masking: with, Beside: &c.Users}},
		{Label: WithoutRounds, Method: unlearn.BlindU{LR: c.LR, Masking: without, Beside: &c.Users}},
		{Label: CompressedRounds, Method: unlearn.BlindU{LR: c.LR, Unmasked: true, Beside: &c.Users}},
	}
}

// privateVariants are the additional rows of Table IV.
func (c Case) privateVariants() []lab.Variant {
	all, each := &unlearn.PrivateRelease{}, &unlearn.PrivateRelease{Each: true}
	return []lab.Variant{
		{Label: PrivateVBU, Method: unlearn.VBU{LR: c.LR, Private: all}},
		{Label: PrivateHBFU, Method: unlearn.HBFU{Users: c.Users, LR: c.LR, Eta: c.Eta, Private: all}},
		{Label: EachHBFU, Method: unlearn.HBFU{Users: c.Users, LR: c.LR, Eta: c.Eta, Private: each}},
		{Label: PrivateBFU, Method: unlearn.BFU{Users: c.Users, LR: c.LR, Private: all}},
		{Label: EachBFU, Method: unlearn.BFU{Users: c.Users, LR: c.LR, Private: each}},
	}
}

// Variants are the variants with these labels, in the order of the tables.
func (c Case) Variants(labels ...string) []lab.Variant {
	c.Only = labels
	return c.variants()
}

// Methods are the variants without controls and without second readings of the same method.
func (c Case) Methods() []lab.Variant {
	return c.Variants(VBU, VBUCoded, WithReplacement, WithoutReplacement, Compressed)
}

func (c Case) methods() []unlearn.Method {
	var out []unlearn.Method
	for _, a := range c.variants() {
		out = append(out, a.Method)
	}
	return out
}
