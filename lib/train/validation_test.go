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
		p, history, err := FitPlan(context.Background(), r, initial(small), Plan{Passes: singlePass(o), Validation: v}, c, h)
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

// The first value that is no higher than enough ends the fit, with the last weights.
func TestStopBelowEndsAFit(t *testing.T) {
	r := openRunner(t, small, 0)
	values, enough := []float64{3, 1.5, 1, 0.5}, 1.0
	fit := func(enough *float64) (nn.Params, []Epoch) {
		v := &Validation{StopBelow: enough, KeepLast: true, Score: func(_ context.Context, _ nn.Params, epoch int) (float64, error) { return values[epoch-1], nil }}
		plan := Plan{Passes: singlePass(mixed(12, 4, 5)), Validation: v}
		p, history, err := FitPlan(context.Background(), r, initial(small), plan, Config{Epochs: len(values), Seed: 1}, Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		return p, history
	}
	if _, history := fit(nil); len(history) != 4 {
		t.Errorf("without it the fit ends after %d epochs", len(history))
	}
	if _, history := fit(&enough); len(history) != 3 {
		t.Errorf("the fit ends after %d epochs, the third value is enough", len(history))
	}
	nothing := math.NaN()
	v := &Validation{StopBelow: &nothing, Score: func(context.Context, nn.Params, int) (float64, error) { return 0, nil }}
	if _, _, err := FitPlan(context.Background(), r, initial(small), Plan{Passes: singlePass(mixed(12, 4, 5)), Validation: v}, Config{Epochs: 1}, Hooks{}); err == nil {
		t.Error("a fit that ends at NaN was accepted")
	}
}

// The fit ends when the last three values rise strictly, and only then. It returns the last
// weights, and a resumed fit uses the earlier values.
func TestRisingValuesEndAFit(t *testing.T) {
	r := openRunner(t, small, 0)
	values := []float64{3, 4, 4, 5, 4, 4.5, 4.6, 9, 10}
	fit := func(rising int, h Hooks) (nn.Params, []Epoch, error) {
		v := &Validation{Rising: rising, KeepLast: true, Score: func(_ context.Context, p nn.Params, epoch int) (float64, error) {
			return values[epoch-1], nil
		}}
		c := Config{Epochs: len(values), Seed: 1}
		return FitPlan(context.Background(), r, initial(small), Plan{Passes: singlePass(mixed(12, 4, 5)), Validation: v}, c, h)
	}
	var saved *State
	want, history, err := fit(3, Hooks{SaveEvery: 1, Save: func(s *State) error {
		if s.Done == 6 { // in the middle of a rise
			saved = reread(t, s, initial(small))
		}
		return nil
	}})
	if err != nil || len(history) != 7 || *history[6].Valid != 4.6 {
		t.Fatalf("%d epochs, %v", len(history), err)
	}
	again, twice, err := fit(3, Hooks{Resume: saved})
	if err != nil || again.Hash() != want.Hash() || len(twice) != 7 {
		t.Errorf("resumed: %d epochs, %v", len(twice), err)
	}
	if _, all, err := fit(0, Hooks{}); err != nil || len(all) != len(values) {
		t.Errorf("nothing ends it: %d epochs, %v", len(all), err)
	}
	_, _, err = fit(1, Hooks{})
	wantWords(t, err, "ends after 1 rising")
	both := &Validation{Objective: mixed(12, 4, 5), Score: func(context.Context, nn.Params, int) (float64, error) { return 0, nil }}
	_, _, err = FitPlan(context.Background(), r, initial(small), Plan{Passes: singlePass(mixed(12, 4, 5)), Validation: both}, Config{}, Hooks{})
	wantWords(t, err, "both an objective and a score")
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
		_, _, err := FitPlan(context.Background(), r, initial(small), Plan{Passes: singlePass(mixed(20, 4, 5)), Validation: v}, Config{Epochs: 1}, Hooks{})
		return err
	}
	wantWords(t, fit(&Validation{}), "validation", "no terms")
	wantWords(t, fit(&Validation{Objective: mixed(20, 4, 5), Patience: -1}), "patience -1")
}
