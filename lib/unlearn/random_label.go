package unlearn

import (
	"cmp"
	"context"
	"slices"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/train"
)

// RandomLabel teaches the model labels at random for the forget records
// (Golatkar et al. 2020; in SDE's Table 4 as Rand. Label, with the setting of
// the program of Fan et al. 2024). Every epoch
//
//	first goes down CE(Df, u), u_i uniform over all classes, the true one too, drawn anew
//	then goes down CE(Dr)
//
// one pass after the other with one optimiser: Descent's, 10 epochs at 0.013.
// The random labels are a function of the seed, the epoch and the record's
// number, so they do not depend on batches. A true label is drawn with
// probability 1/K: with two classes half of the lesson is the truth.
//
// With Together the two sets are shuffled into one pass per epoch, as that
// program does for CIFAR-100 and Tiny-ImageNet.
//
// Differences: (1) neither SDE nor the program names a learning rate for this
// method; 0.013 is the one that the program's manual gives for SalUn, which is
// this method behind a mask. (2) The program draws a label for every batch as it
// comes; a record comes once per epoch, so the law is the same.
type RandomLabel struct {
	Epochs     int     `json:"epochs,omitempty"` // 0: 10
	LR         float64 `json:"lr,omitempty"`     // 0: 0.013
	SinglePass bool    `json:"together,omitempty"`
	Descent
}

var _ Described = RandomLabel{}

// Name implements Method.
func (RandomLabel) Name() string { return "random-label" }

// About implements Described.
func (RandomLabel) About() About {
	return About{
		"teaches labels at random for the forget set, and the retain set's own",
		"Golatkar et al. 2020, in the setting of Fan et al. 2024; in SDE",
	}
}

// Sees implements Method.
func (RandomLabel) Sees() Sees { return Sees{Original: true, Forget: true, Retain: true} }

// AtRate implements Rated.
func (m RandomLabel) AtRate(lr float64) RandomLabel {
	m.LR = lr
	return m
}

// WithDefaults implements Method.
func (m RandomLabel) WithDefaults() Method { return m.withDefaults() }

func (m RandomLabel) withDefaults() RandomLabel {
	m.Epochs, m.LR, m.Descent = cmp.Or(m.Epochs, 10), cmp.Or(m.LR, 0.013), *m.Descent.withDefaults()
	return m
}

// Unlearn implements Method.
func (m RandomLabel) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	return m.withDefaults().unlearnMasked(ctx, r, nil)
}

// mask is the resolved method behind a mask.
func (m RandomLabel) unlearnMasked(ctx context.Context, r Request, mask *train.Mask) (*Outcome, error) {
	passes := r.twoPasses
	if m.SinglePass {
		passes = r.onePass()
	}
	return r.descend(ctx, m.Descent, m.Epochs, m.LR, passes, train.Plan{Mask: mask})
}

// randomLabels are the labels that the forget records have in an epoch. The
// remainder's bias is below the number of classes over 2^64.
func (r Request) randomLabels(epoch int) []int {
	classes := uint64(r.classes())
	y := make([]int, len(r.Forget.IDs))
	for i, id := range r.Forget.IDs {
		y[i] = int(r.Seed.Counter(engine.StreamRandomLabel, uint64(epoch), uint64(id)) % classes)
	}
	return y
}

// twoPasses is the epoch of two passes.
func (r Request) twoPasses(epoch int) ([]train.Objective, error) {
	random := r.Forget
	random.Y = r.randomLabels(epoch)
	return []train.Objective{
		{r.term("forget", random, false, r.labelTarget(random, 1))},
		{r.term("retain", r.Retain, false, r.labelTarget(r.Retain, 1))},
	}, nil
}

// onePass is the epoch of one pass over both sets; the records are joined
// once, for all epochs.
func (r Request) onePass() func(epoch int) ([]train.Objective, error) {
	all := concatData(r.Forget, r.Retain)
	return func(epoch int) ([]train.Objective, error) {
		d := all
		d.Y = slices.Concat(r.randomLabels(epoch), r.Retain.Y)
		return []train.Objective{{r.term("forget and retain", d, false, r.labelTarget(d, 1))}}, nil
	}
}
