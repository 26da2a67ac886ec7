// Tests of random_label.go.

package unlearn_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/unlearn/unlearntest"
)

// 8 records in 400 epochs: the true label comes as often as any other, and no
// epoch repeats another. Counts have a standard deviation of 27.
func TestRandomLabelsAreUniformAndFresh(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	var counts [3]int
	truth, epochs := 0, map[string]bool{}
	const n = 400
	for epoch := range n {
		y := randomLabels(r, epoch)
		epochs[fmt.Sprint(y)] = true
		for i, v := range y {
			counts[v]++
			if v == r.Forget.Y[i] {
				truth++
			}
		}
	}
	for _, k := range append(counts[:], truth) {
		if math.Abs(float64(k)-8*n/3.) > 4*27 {
			t.Errorf("classes %v times, the truth %d times, of %d", counts, truth, 8*n)
		}
	}
	if len(epochs) < n*9/10 {
		t.Errorf("%d different epochs of %d", len(epochs), n)
	}
}

// randomLabels returns the random labels by the documented rule, written anew for three
// classes.
func randomLabels(r unlearn.Request, epoch int) []int {
	var y []int
	for _, id := range r.Forget.IDs {
		y = append(y, int(r.Seed.Counter("random-label", uint64(epoch), uint64(id))%3))
	}
	return y
}

// An original that overfits the forget set: random labels undo what was fitted there, and
// descent on the retain set alone at the same rate hardly does.
func TestRandomLabelsDriveTheAccuracyOnTheForgetSetDown(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	term := func(d unlearn.Data) train.Term {
		return train.Term{X: d.X, IDs: d.IDs, Targets: []train.Target{train.CrossEntropy(d.Y, 3, 1)}, Whole: true}
	}
	long := train.Config{Epochs: 400, Optimizer: nn.Adam{LR: 0.02}, Seed: 3}
	var err error
	// The forget set counts as much as the retain set, so that it is fitted.
	r.Original, _, err = train.Fit(context.Background(), r.Runner, r.Original, train.Objective{term(r.Forget), term(r.Retain)}, long, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	r.Batch = 8
	accuracy := func(p nn.Params) float64 {
		out, err := r.Runner.Predict(p, r.Forget.X)
		if err != nil {
			t.Fatal(err)
		}
		return train.Accuracy(out.Logits(), r.Forget.Y)
	}
	before := accuracy(r.Original)
	var after, tuned float64
	for seed := range engine.Root(8) {
		r.Seed = seed
		p, _ := apply(t, unlearn.RandomLabel{}, r)
		q, _ := apply(t, unlearn.FineTuning{LR: 0.013, SGD: &unlearn.Descent{}}, r)
		after, tuned = after+accuracy(p)/8, tuned+accuracy(q)/8
	}
	t.Logf("accuracy on the forget set: original %.3f, mean over 8 seeds of random labels %.3f, of fine-tuning %.3f", before, after, tuned)
	if !(after < before-0.2) || !(after < tuned-0.1) {
		t.Errorf("accuracy %v before and %v after random labels, %v after fine-tuning", before, after, tuned)
	}
}
