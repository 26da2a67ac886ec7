package train

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/nn"
)

// pair returns an objective of two losses in one term, the second with a warm-up.
func pair(warm int, weight float64) Objective {
	x, y := toy(1, 20, 5, 3)
	_, other := toy(2, 20, 5, 3)
	rising := CrossEntropy(other, 3, weight)
	rising.WarmUp = warm
	return Objective{{Name: "two", X: x, Targets: []Target{CrossEntropy(y, 3, 1), rising}}}
}

// A warm-up equals other objectives in other epochs, in full batches (whose inputs are kept)
// and in small ones, and after a resume.
func TestARisingWeightIsThatOfItsEpoch(t *testing.T) {
	r := openRunner(t, small, 0)
	for _, batch := range []int{0, 8} {
		c := Config{Epochs: 7, Batch: batch, Optimizer: nn.Adam{LR: 0.05}, Seed: 2}
		by := Plan{Passes: func(epoch int) ([]Objective, error) {
			return []Objective{pair(0, 0.6*math.Min(1, float64(epoch)/4))}, nil
		}}
		want, epochs, err := FitPlan(context.Background(), r, initial(small), by, c, Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		var saved *State
		got, history, err := Fit(context.Background(), r, initial(small), pair(4, 0.6), c, Hooks{SaveEvery: 2, Save: func(s *State) error {
			if s.Done == 2 {
				saved = throughFile(t, s)
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if got.Hash() != want.Hash() || fmt.Sprint(history) != fmt.Sprint(epochs) {
			t.Errorf("batches of %d: the weight does not rise as it should", batch)
		}
		if again, _, err := Fit(context.Background(), r, initial(small), pair(4, 0.6), c, Hooks{Resume: saved}); err != nil || again.Hash() != want.Hash() {
			t.Errorf("batches of %d: resumed, it is another fit (%v)", batch, err)
		}
		if still, _, err := Fit(context.Background(), r, initial(small), pair(0, 0.6), c, Hooks{}); err != nil || still.Hash() == want.Hash() {
			t.Errorf("batches of %d: the weight has not risen at all (%v)", batch, err)
		}
	}
	at := func(warm int) float64 {
		v, err := Evaluate(context.Background(), r, initial(small), pair(warm, 0.6))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if at(4) != at(0) {
		t.Error("outside a training the weight is not the full one")
	}
	_, _, err := Fit(context.Background(), r, initial(small), pair(-1, 1), Config{}, Hooks{})
	wantWords(t, err, "two", "target 1", "warm-up has -1 epochs")
}

// With Best the weights are those after the epoch with the lowest loss.
func TestTheBestEpochByTheTrainingsOwnLossIsReturned(t *testing.T) {
	r := openRunner(t, small, 0)
	o := mixed(20, 4, 5)
	c := Config{Epochs: 12, Batch: 8, Optimizer: nn.SGD{LR: 0.3}, Seed: 3} // the loss goes up and down
	states := map[int]string{}
	var saved *State
	keep := Hooks{SaveEvery: 1, Save: func(s *State) error {
		states[s.Done] = s.Params.Hash()
		if s.Done == 11 {
			saved = throughFile(t, s)
		}
		return nil
	}}
	c.EarlyStop.Best = true
	p, history, err := Fit(context.Background(), r, initial(small), o, c, keep)
	if err != nil {
		t.Fatal(err)
	}
	best := history[0]
	for _, e := range history {
		if e.Loss < best.Loss {
			best = e
		}
	}
	if best.Epoch == len(history) || best.Epoch == 1 {
		t.Fatalf("the best epoch is %d of %d: this test looks at nothing", best.Epoch, len(history))
	}
	if p.Hash() != states[best.Epoch] {
		t.Errorf("the weights are not those after epoch %d", best.Epoch)
	}
	if again, _, err := Fit(context.Background(), r, initial(small), o, c, Hooks{Resume: saved}); err != nil || again.Hash() != p.Hash() {
		t.Errorf("resumed, it returns other weights (%v)", err)
	}
	plan := Plan{Passes: singlePass(o), Validation: &Validation{Objective: o}}
	_, _, err = FitPlan(context.Background(), r, initial(small), plan, c, Hooks{})
	wantWords(t, err, "best epoch", "Validation")
}
