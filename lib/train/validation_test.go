package train

import (
	"context"
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/nn"
)

// Few records with random labels are learned by heart: the loss on others rises
// again, and the fit returns the epoch at which it was lowest.
func TestValidationKeepsTheBestEpochAndStops(t *testing.T) {
	r := openRunner(t, small, 0)
	x, y := toy(1, 12, 5, 3)
	vx, vy := toy(2, 60, 5, 3)
	held := Objective{{X: vx, Targets: []Target{CrossEntropy(vy, 3, 1)}}}
	o := Objective{{X: x, Targets: []Target{CrossEntropy(y, 3, 1)}}}
	c := Config{Epochs: 300, Optimizer: nn.Adam{LR: 0.03}, Seed: 1}
	fit := func(v *Validation, h Hooks) (nn.Params, []Epoch) {
		p, history, err := FitPlan(context.Background(), r, initial(small), Plan{Passes: once(o), Validation: v}, c, h)
		if err != nil {
			t.Fatal(err)
		}
		return p, history
	}
	var saved *State
	p, history := fit(&Validation{Objective: held, Patience: 20}, Hooks{SaveEvery: 1, Save: func(s *State) error {
		if s.Done == s.Best.Epoch+15 { // the best weights are no longer the state's own
			saved = reread(t, s, initial(small))
		}
		return nil
	}})
	best := 0
	for i, e := range history {
		if *e.Valid < *history[best].Valid {
			best = i
		}
	}
	if n := len(history); n == 300 || n != best+1+20 {
		t.Errorf("%d epochs, the best is the %d.", n, best+1)
	}
	got, err := Evaluate(context.Background(), r, p, held)
	if err != nil {
		t.Fatal(err)
	}
	if got != *history[best].Valid {
		t.Errorf("the weights have the value %v, the best epoch had %v", got, *history[best].Valid)
	}
	last, all := fit(&Validation{Objective: held, Patience: 20, KeepLast: true}, Hooks{})
	if last.Hash() == p.Hash() || len(all) != len(history) {
		t.Error("the last weights are the best ones")
	}
	again, _ := fit(&Validation{Objective: held, Patience: 20}, Hooks{Resume: saved})
	if again.Hash() != p.Hash() {
		t.Error("the resumed fit returns other weights")
	}
}

// Evaluate is the objective's mean in inference, whatever the chunks.
func TestEvaluateIsTheMeanLoss(t *testing.T) {
	p := initial(small)
	x, y := toy(1, 70, 5, 3)
	o := Objective{{X: x, Targets: []Target{CrossEntropy(y, 3, 2)}}}
	for _, chunk := range []int{0, 32} {
		r := openRunner(t, small, chunk)
		got, err := Evaluate(context.Background(), r, p, o)
		if err != nil {
			t.Fatal(err)
		}
		pred, err := r.Predict(p, x)
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for _, l := range Losses(pred.Logits(), y) {
			want += 2 * l / 70
		}
		if math.Abs(got-want) > 1e-5*want {
			t.Errorf("chunks of %d: %v, want %v", chunk, got, want)
		}
	}
}

func TestBadValidationsAreRefused(t *testing.T) {
	r := openRunner(t, small, 0)
	fit := func(v *Validation) error {
		_, _, err := FitPlan(context.Background(), r, initial(small), Plan{Passes: once(mixed(20, 4, 5)), Validation: v}, Config{Epochs: 1}, Hooks{})
		return err
	}
	wantWords(t, fit(&Validation{}), "validation", "no terms")
	wantWords(t, fit(&Validation{Objective: mixed(20, 4, 5), Patience: -1}), "patience -1")
}
