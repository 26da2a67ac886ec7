// Random labelling.

package unlearn

import (
	"context"
	"slices"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/train"
)

// RandomLabel trains on random labels for the forget records (Golatkar et al. 2020; in
// SDE's Table 4 as Rand. Label, with the settings of the program of Fan et al. 2024). Every
// epoch
//
//	first descends CE(Df, u), u_i uniform over all classes, including the true one, drawn anew
//	then descends CE(Dr)
//
// one pass after the other with one optimiser: Descent's settings, 10 epochs at 0.013. A
// random label is a function of the seed, the epoch and the record's number, so it does not
// depend on batches. The true label has probability 1/K: with two classes half of the
// labels are true.
//
// With SinglePass the two sets are shuffled into one pass per epoch, as that program does
// for CIFAR-100 and Tiny-ImageNet.
//
// Differences: (1) neither SDE nor the program names a learning rate for this method; 0.013
// is the one that the program's manual gives for SalUn, which is this method with a mask.
// (2) The program draws a label for every batch; since a record comes once per epoch the
// distribution is the same.
type RandomLabel struct {
	Epochs     int     `json:"epochs,omitempty" default:"10"`
	LR         float64 `json:"lr,omitempty" default:"0.013"`
	SinglePass bool    `json:"together,omitempty"`
	Descent
}

// Info implements Method.
func (RandomLabel) Info() Info {
	return Info{
		Name: "random-label", Sees: Sees{Original: true, Forget: true, Retain: true},
		Does: "trains on random labels for the forget set and on the retain set's own",
		From: "Golatkar et al. 2020, in the setting of Fan et al. 2024; in SDE",
	}
}

// AtRate implements Rated.
func (m RandomLabel) AtRate(lr float64) RandomLabel {
	m.LR = lr
	return m
}

// Unlearn implements Method.
func (m RandomLabel) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	return m.unlearnChanged(ctx, r)
}

// unlearnChanged runs the method, with defaults, with changes to its gradients.
func (m RandomLabel) unlearnChanged(ctx context.Context, r Request, transforms ...train.GradientTransform) (*Outcome, error) {
	passes := r.twoPasses
	if m.SinglePass {
		passes = r.onePass()
	}
	return r.descend(ctx, m.Descent, m.Epochs, m.LR, passes, train.Plan{Transforms: transforms})
}

// randomLabels returns the labels of the forget records in an epoch. The bias of the
// remainder is below the number of classes over 2^64.
func (r Request) randomLabels(epoch int) []int {
	classes := uint64(r.classes())
	y := make([]int, len(r.Forget.IDs))
	for i, id := range r.Forget.IDs {
		y[i] = int(r.Seed.Counter(engine.StreamRandomLabel, uint64(epoch), uint64(id)) % classes)
	}
	return y
}

// twoPasses returns the objectives of an epoch of two passes.
func (r Request) twoPasses(epoch int) ([]train.Objective, error) {
	random := r.Forget
	random.Y = r.randomLabels(epoch)
	return []train.Objective{
		{r.term("forget", random, false, r.labelTarget(random, 1))},
		{r.term("retain", r.Retain, false, r.labelTarget(r.Retain, 1))},
	}, nil
}

// onePass returns the objectives of epochs of one pass over both sets; the records are
// joined once.
func (r Request) onePass() func(epoch int) ([]train.Objective, error) {
	all := concatData(r.Forget, r.Retain)
	return func(epoch int) ([]train.Objective, error) {
		d := all
		d.Y = slices.Concat(r.randomLabels(epoch), r.Retain.Y)
		return []train.Objective{{r.term("forget and retain", d, false, r.labelTarget(d, 1))}}, nil
	}
}
