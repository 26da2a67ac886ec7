package train

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
)

// counted counts the graphs that are built of it, by several goroutines.
type counted struct {
	tabular.MLP
	graphs *atomic.Int64
}

func (c counted) Build(b *nn.Builder, x *graph.Node) model.Trace {
	c.graphs.Add(1)
	return c.MLP.Build(b, x)
}

func TestTrainingsOfANetworkShareWhatIsCompiled(t *testing.T) {
	var graphs atomic.Int64
	r := openRunner(t, counted{small, &graphs}, 32)
	fit := func(seed int, o Objective) int64 {
		t.Helper()
		before := graphs.Load()
		c := Config{Epochs: 2, Batch: 16, Seed: 1}
		if _, _, err := Fit(context.Background(), r, model.InitialWeights(small, c.Seed.Stream("init", uint64(seed))), o, c, Hooks{}); err != nil {
			t.Fatal(err)
		}
		return graphs.Load() - before
	}
	if n := fit(1, pair(0, 1)); n == 0 {
		t.Fatal("no graph was built: this test tests nothing")
	}
	if n := fit(2, pair(0, 1)); n != 0 {
		t.Errorf("the second training built %d graphs again", n)
	}
	if n := fit(1, pair(0, 0.5)); n != 0 {
		t.Errorf("with other weights of its losses, which are inputs, a training built %d graphs", n)
	}
	if n := fit(1, mixed(12, 4, 5)); n == 0 {
		t.Error("other losses are taken for the same program")
	}
}

// questions returns everything that is compiled for a training. Each needs a program of its
// own.
func questions() map[string]func(r *model.Runner, p nn.Params) (any, error) {
	ctx, c := context.Background(), Config{Epochs: 2, Seed: 1, Optimizer: nn.SGD{LR: 0.1}}
	o := pair(0, 0.6)
	game := func(first, second string) *Game {
		return &Game{Players: []Player{
			{Name: "first", Owns: []string{first}, Objective: o}, {Name: "second", Owns: []string{second, "head"}, Objective: o},
		}}
	}
	play := func(plan Plan) func(*model.Runner, nn.Params) (any, error) {
		return func(r *model.Runner, p nn.Params) (any, error) {
			out, _, err := FitPlan(ctx, r, p, plan, c, Hooks{})
			return out, err
		}
	}
	onDevice := func(o nn.Optimizer, frozen ...nn.Group) func(*model.Runner, nn.Params) (any, error) {
		return func(r *model.Runner, p nn.Params) (any, error) {
			c := Config{Epochs: 1, Batch: 4, Seed: 1, Optimizer: o, Groups: frozen}
			out, _, err := Fit(ctx, r, p, pair(0, 0.6), c, Hooks{})
			return out, err
		}
	}
	changed := func(chain ...GradientTransform) func(*model.Runner, nn.Params) (any, error) {
		return func(r *model.Runner, p nn.Params) (any, error) {
			out, _, err := FitPlan(ctx, r, p, Plan{Passes: singlePass(pair(0, 0.6)), Transforms: chain}, Config{Epochs: 1, Batch: 4, Seed: 1}, Hooks{})
			return out, err
		}
	}
	open := checkered(initial(small))
	x, y := toy(1, 21, 5, 3)
	return map[string]func(r *model.Runner, p nn.Params) (any, error){
		"a training":                      play(Plan{Passes: singlePass(o)}),
		"a private training":              play(Plan{Passes: singlePass(labelled(x, y)), Private: &Private{Norm: 0.1}}),
		"a game":                          play(Plan{Game: game("hidden1", "hidden2")}),
		"another game":                    play(Plan{Game: game("hidden2", "hidden1")}),
		"on the device by Adam":           onDevice(nn.Adam{}),
		"on the device by descent":        onDevice(nn.SGD{LR: 0.1}),
		"on the device by momentum":       onDevice(nn.SGD{LR: 0.1, Momentum: 0.9}),
		"on the device, the first frozen": onDevice(nn.SGD{LR: 0.1}, nn.Group{Prefix: "hidden1"}),
		"on the device, the last frozen":  onDevice(nn.SGD{LR: 0.1}, nn.Group{Prefix: "head"}),
		"decay, then clipping":            changed(Decay{Rate: 0.5}, ClipNorm{Max: 0.1}),
		"more decay, then clipping":       changed(Decay{Rate: 0.9}, ClipNorm{Max: 0.1}),
		"decay, then less clipping":       changed(Decay{Rate: 0.5}, ClipNorm{Max: 0.2}),
		"clipping, then decay":            changed(ClipNorm{Max: 0.1}, Decay{Rate: 0.5}),
		"a mask":                          changed(Decay{Rate: 0.5}, Mask{Open: open}, Decay{Rate: 0.5}),
		"a mask that restores":            changed(Decay{Rate: 0.5}, Mask{Open: open, Restore: true}, Decay{Rate: 0.5}),
		"a gradient": func(r *model.Runner, p nn.Params) (any, error) {
			return Gradient(ctx, r, p, o, 0, Mode{})
		},
		"a gradient in training": func(r *model.Runner, p nn.Params) (any, error) {
			return Gradient(ctx, r, p, o, 0, Mode{Training: true, Seed: 3})
		},
		"squares": func(r *model.Runner, p nn.Params) (any, error) { return SquaredGradients(ctx, r, p, o, Mode{}) },
		"lengths": func(r *model.Runner, p nn.Params) (any, error) { return GradientNorms(ctx, r, p, o, Mode{}) },
		"a value": func(r *model.Runner, p nn.Params) (any, error) { return Evaluate(ctx, r, p, o) },
	}
}

// TestTheFirstTrainingDoesNotMatter compares one runner for everything, in random order, with
// a new runner for each, on a device and on an engine in our memory.
func TestTheFirstTrainingDoesNotMatter(t *testing.T) {
	open := map[string]func() *model.Runner{
		"on a device":   func() *model.Runner { return onDevice(t, small) },
		"in our memory": func() *model.Runner { return openRunner(t, small, 32) },
	}
	for where, open := range open {
		p, all := initial(small), questions()
		alone := map[string]any{}
		for name, ask := range all {
			got, err := ask(open(), p)
			if err != nil {
				t.Fatal(name, err)
			}
			alone[name] = got
		}
		for round := range 3 { // the order of a map differs each time
			r, order := open(), ""
			for name, ask := range all {
				order += fmt.Sprintf("%s; ", name)
				got, err := ask(r, p)
				if err != nil {
					t.Fatal(name, err)
				}
				if !reflect.DeepEqual(got, alone[name]) {
					t.Errorf("%s, round %d, %sthe last differs from itself on a runner of its own", where, round, order)
				}
			}
		}
	}
}
