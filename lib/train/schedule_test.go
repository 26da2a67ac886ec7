package train

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/nn"
)

// torch 2.15.0, torch.optim.lr_scheduler.CosineAnnealingLR(T_max=6) and
// MultiStepLR, learning rate 0.1, read before each of six epochs.
func TestSchedulesArePyTorchs(t *testing.T) {
	for _, c := range []struct {
		schedule *Schedule
		want     []float64
	}{
		{nil, []float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1}},
		{Cosine(), []float64{0.1, 0.09330127018922195, 0.07500000000000001, 0.05, 0.025000000000000012, 0.006698729810778065}},
		{Steps(2, 4), []float64{0.1, 0.1, 0.01, 0.01, 0.001, 0.001}},
		{&Schedule{Kind: "steps", Milestones: []int{1, 1, 5}, Gamma: 0.5}, []float64{0.1, 0.025, 0.025, 0.025, 0.025, 0.0125}},
	} {
		for e, want := range c.want {
			if got := 0.1 * c.schedule.Factor(e, 6); math.Abs(got-want) > 1e-16 {
				t.Errorf("%+v: epoch %d has rate %v, PyTorch %v", c.schedule, e, got, want)
			}
		}
	}
}

func TestAScheduleThatMakesNoSenseIsRefused(t *testing.T) {
	r, o := openRunner(t, small, 32), mixed(20, 4, 5)
	for words, s := range map[string]*Schedule{
		`"linear" is neither`: {Kind: "linear"},
		"takes no milestones": {Kind: "cosine", Milestones: []int{1}},
		"[4 2] do not rise":   Steps(4, 2),
		"gamma is -1":         {Kind: "steps", Gamma: -1},
	} {
		_, _, err := Fit(context.Background(), r, initial(small), o, Config{Epochs: 1, Schedule: s}, Hooks{})
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// Stored results are found by this text.
func TestAConfigurationNamesItsOptimiser(t *testing.T) {
	for want, c := range map[string]Config{
		`{"epochs":50,"optimizer":{"adam":{"lr":0.001,"beta1":0.9,"beta2":0.999,"eps":1e-8}},"early_stop":{},"seed":0}`: Config{}.WithDefaults(),
		`{"optimizer":{"sgd":{"lr":0.1}},"schedule":{"kind":"cosine"},"early_stop":{},"seed":0}`:                        {Optimizer: nn.SGD{LR: 0.1}, Schedule: Cosine()},
	} {
		got, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestTheScheduleMovesBothOptimisers(t *testing.T) {
	r, o := openRunner(t, small, 32), mixed(20, 4, 5)
	for name, c := range map[string]Config{
		"adam": {Epochs: 3},
		"sgd":  {Epochs: 3, Optimizer: nn.SGD{LR: 0.1}},
	} {
		results := map[string]bool{}
		for _, s := range []*Schedule{nil, Cosine(), Steps(1)} {
			c.Schedule = s
			p, _, err := Fit(context.Background(), r, initial(small), o, c, Hooks{})
			if err != nil {
				t.Fatal(err)
			}
			results[p.Hash()] = true
		}
		if len(results) != 3 {
			t.Errorf("%s: three schedules give %d results", name, len(results))
		}
	}
}

func TestAStateOfAnotherOptimiserIsRefused(t *testing.T) {
	r, o := openRunner(t, small, 32), mixed(20, 4, 5)
	p := initial(small)
	for name, c := range map[string]struct {
		config Config
		state  *nn.OptimizerState
	}{
		"adam": {Config{Epochs: 2}, nn.NewOptimizerState(nn.SGD{}, p)},
		"sgd":  {Config{Epochs: 2, Optimizer: nn.SGD{LR: 1}}, nn.NewOptimizerState(nn.Adam{}, p)},
	} {
		_, _, err := Fit(context.Background(), r, p, o, c.config, Hooks{Resume: &State{Params: p, Optimizers: []*nn.OptimizerState{c.state}}})
		if err == nil || !strings.Contains(err.Error(), "another optimiser") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
