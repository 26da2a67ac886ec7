// SalUn: random labelling of salient weights.

package unlearn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/train"
)

// SalUn is random labelling of the weights that matter to the forget set (Fan et al. 2024,
// section 4; in SDE's Table 4). The mask holds the half of all weights with the largest
// saliency
//
//	s = |sum over the batches of Df of grad CE(batch)|  at the original's weights
//
// ranked over the whole model, with dropout off and normalisation by running statistics.
// RandomLabel follows with the gradients of all other weights set to 0: Descent's settings,
// 10 epochs at 0.013.
//
// A zero gradient does not fix a weight under weight decay: the unmasked weights shrink by
// lr 5e-4 / (1 - 0.9) of their value per step, in the long run. So they did in the
// published program until a fix of February 2026, which restores them and clears their
// momentum. SDE was written before, so the zero value is without the fix; Restore is with
// it.
//
// Differences: (1) the program shuffles Df before the sum over batches; here the order is
// fixed, which matters only to the weight of a smaller last batch. (2) Its mask may see
// augmented records; here they are unchanged. (3) Restore restores the unmasked weights
// after every step, so that they never act while moved. (4) Equal saliencies, as of dead
// units, are ranked by their position in the model.
type SalUn struct {
	Epochs     int     `json:"epochs,omitempty" default:"10"`
	LR         float64 `json:"lr,omitempty" default:"0.013"`
	Ratio      float64 `json:"ratio,omitempty" default:"0.5"` // share of the weights in the mask
	Restore    bool    `json:"restore,omitempty"`
	SinglePass bool    `json:"together,omitempty"` // as in RandomLabel
	Descent
}

// Info implements Method.
func (SalUn) Info() Info {
	return Info{
		Name: "salun", Sees: Sees{Original: true, Forget: true, Retain: true},
		Does: "is random-label on the half of the weights with the largest gradient on the forget set",
		From: "Fan et al. 2024; in SDE",
	}
}

// AtRate implements Rated.
func (m SalUn) AtRate(lr float64) SalUn {
	m.LR = lr
	return m
}

// Unlearn implements Method.
func (m SalUn) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	if !(m.Ratio > 0 && m.Ratio <= 1) {
		return nil, fmt.Errorf("a mask of a share of %v of the weights; it must be above 0 and at most 1", m.Ratio)
	}
	o := train.Objective{{Name: "forget", X: r.Forget.X, Targets: []train.Target{r.labelTarget(r.Forget, 1)}}}
	grads, err := train.Gradient(ctx, r.Runner, r.Original, o, m.batch(r), train.Mode{})
	if err != nil {
		return nil, err
	}
	mask := train.Mask{Open: salientMask(grads, m.Ratio), Restore: m.Restore}
	return RandomLabel{Epochs: m.Epochs, LR: m.LR, SinglePass: m.SinglePass, Descent: m.Descent}.unlearnChanged(ctx, r, mask)
}

// salientMask marks the given share of all elements, rounded down, with the largest
// magnitudes; of equal ones the first.
func salientMask(grads [][]float64, ratio float64) [][]bool {
	var all []float64
	for _, g := range grads {
		for _, v := range g {
			all = append(all, math.Abs(v))
		}
	}
	left := int(float64(len(all)) * ratio)
	slices.Sort(all)
	least, equal := math.Inf(1), 0 // the smallest marked magnitude, and how often it is marked
	for _, s := range all[len(all)-left:] {
		least = min(least, s)
		if s == least {
			equal++
		}
	}
	open := make([][]bool, len(grads))
	for i, g := range grads {
		open[i] = make([]bool, len(g))
		for j, v := range g {
			switch s := math.Abs(v); {
			case s > least:
				open[i][j] = true
			case s == least && equal > 0:
				open[i][j] = true
				equal--
			}
		}
	}
	return open
}
