package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
)

// apart returns a runner on an engine with separate memory.
func apart(t *testing.T, arch model.Architecture) *model.Runner {
	t.Helper()
	r := openRunner(t, arch, 32)
	r.Engine = r.Engine.WithSeparateMemory()
	return r
}

// far returns the largest difference of two models' numbers, relative to the largest number of
// the tensor.
func far(a, b nn.Params) float64 {
	worst := 0.0
	for i := range a {
		size, off := 1e-6, 0.0
		for j, v := range a[i].Data {
			size = math.Max(size, math.Abs(float64(v)))
			off = math.Max(off, math.Abs(float64(v)-float64(b[i].Data[j])))
		}
		worst = math.Max(worst, off/size)
	}
	return worst
}

func lastState(t *testing.T, r *model.Runner, p nn.Params, o Objective, c Config, from *State) *State {
	t.Helper()
	var last *State
	h := Hooks{SaveEvery: 1, Resume: from, Save: func(s *State) error { last = s; return nil }}
	if _, _, err := Fit(context.Background(), r, p, o, c, h); err != nil {
		t.Fatal(err)
	}
	return last
}

// TestAStepOnDeviceIsAStepOnTheHost trains networks with dropout, with a running mean and with
// frozen weights by every optimiser, with the weights where the gradient is and with the
// weights here.
func TestAStepOnDeviceIsAStepOnTheHost(t *testing.T) {
	images := vision.SmallCNN{Side: 12, Outputs: 3, Width: 4, Hidden: 8, Norm: true}
	for _, optimizer := range []nn.Optimizer{nn.Adam{}, nn.AdamW{WeightDecay: 0.1}, nn.SGD{LR: 0.05, Momentum: 0.9, WeightDecay: 0.01}, nn.SGD{LR: 0.05}} {
		for _, arch := range []model.Architecture{small, images} {
			t.Run(fmt.Sprint(optimizer.Name(), " ", arch.Name()), func(t *testing.T) {
				x, y := toy(3, 40, arch.Inputs(), 3)
				c := Config{Epochs: 3, Batch: 8, Seed: 2, Optimizer: optimizer, Schedule: Cosine()}
				if arch.Name() == small.Name() {
					c.Groups = []nn.Group{{Prefix: "hidden1", Rate: 0}, {Prefix: "head", Rate: 0.5}}
				}
				p := arch.Init(c.Seed.Stream("init"))
				want := lastState(t, openRunner(t, arch, 32), p, labelled(x, y), c, nil)
				got := lastState(t, apart(t, arch), p, labelled(x, y), c, nil)
				if d := far(want.Params, got.Params); !(d < 1e-4) {
					t.Errorf("weights are %g off", d)
				}
				for k, slot := range want.Optimizers[0].Slots {
					if d := far(slot, got.Optimizers[0].Slots[k]); !(d < 1e-3) {
						t.Errorf("slot %s is %g off", want.Optimizers[0].Names[k], d)
					}
				}
				if got.Optimizers[0].T != want.Optimizers[0].T || far(p, want.Params) < 1e-3 {
					t.Errorf("%d steps, want %d; or nothing moved", got.Optimizers[0].T, want.Optimizers[0].T)
				}
				for e, h := range want.History {
					if d := math.Abs(h.Loss-got.History[e].Loss) / math.Abs(h.Loss); !(d < 1e-4) {
						t.Errorf("epoch %d: a loss of %v, want %v", e+1, got.History[e].Loss, h.Loss)
					}
				}
			})
		}
	}
}

// recordingSGD is SGD that counts the graphs with its step.
type recordingSGD struct {
	nn.SGD
	graphs *atomic.Int64
}

func (s recordingSGD) WithDefaults() nn.Optimizer { return s }

func (s recordingSGD) GraphStep(w, grad *graph.Node, slots, rule []*graph.Node) (*graph.Node, []*graph.Node) {
	s.graphs.Add(1)
	return s.SGD.GraphStep(w, grad, slots, rule)
}

// TestWhichTrainingsRunOnDevice checks that the optimiser's step is part of the graph if a step
// is one execution, and not if gradients are changed, if there are few steps, or if the engine
// has no separate memory.
func TestWhichTrainingsRunOnDevice(t *testing.T) {
	x, y := toy(3, 40, 5, 3)
	o := labelled(x, y)
	plain := Config{Epochs: 2, Batch: 8, Seed: 2}
	clipped, few, frozen := plain, plain, plain
	clipped.Clip, few.Batch, frozen.Groups = 1, 16, []nn.Group{{Prefix: "h", Rate: 0}}
	long := plain
	long.Batch = 33 // of chunks of 32
	two := append(labelled(x, y), labelled(x, y)...)
	for name, c := range map[string]struct {
		runner *model.Runner
		plan   Plan
		c      Config
		moved  bool
	}{
		"a plain training":          {apart(t, small), Plan{Passes: singlePass(o)}, plain, true},
		"on an engine beside us":    {openShared(t), Plan{Passes: singlePass(o)}, plain, false},
		"a clipped gradient":        {apart(t, small), Plan{Passes: singlePass(o)}, clipped, false},
		"three steps":               {apart(t, small), Plan{Passes: singlePass(o)}, few, false},
		"nothing moves":             {apart(t, small), Plan{Passes: singlePass(o)}, frozen, false},
		"two chunks":                {apart(t, small), Plan{Passes: singlePass(o)}, long, false},
		"two terms":                 {apart(t, small), Plan{Passes: singlePass(two)}, plain, false},
		"a transform":               {apart(t, small), Plan{Passes: singlePass(o), Transforms: []GradientTransform{ClipNorm{Max: 1}}}, plain, false},
		"a private training":        {apart(t, still), Plan{Passes: singlePass(o), Private: &Private{Norm: 1}}, plain, false},
		"a game of whom moves what": {apart(t, small), Plan{Game: &Game{Players: []Player{{Name: "one", Owns: []string{""}, Objective: o}}}}, plain, false},
	} {
		t.Run(name, func(t *testing.T) {
			var graphs atomic.Int64
			c.c.Optimizer = recordingSGD{nn.SGD{LR: 0.1}, &graphs}
			if _, _, err := FitPlan(context.Background(), c.runner, initial(small), c.plan, c.c, Hooks{}); err != nil {
				t.Fatal(err)
			}
			if (graphs.Load() > 0) != c.moved {
				t.Errorf("the optimiser is part of %d graphs", graphs.Load())
			}
		})
	}
}

// openShared returns a runner on an engine in host memory.
func openShared(t *testing.T) *model.Runner {
	t.Helper()
	e, err := engine.Open("lethe")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	r, err := model.NewRunner(e.WithChunkRows(32), small)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestATrainingOnDeviceResumesWithTheSameBits(t *testing.T) {
	x, y := toy(3, 40, 5, 3)
	c := Config{Epochs: 5, Batch: 8, Seed: 2}
	whole := lastState(t, apart(t, small), initial(small), labelled(x, y), c, nil)
	part := c
	part.Epochs = 2
	half := lastState(t, apart(t, small), initial(small), labelled(x, y), part, nil)
	again := lastState(t, apart(t, small), initial(small), labelled(x, y), c, half)
	if !reflect.DeepEqual(whole.Params, again.Params) || !reflect.DeepEqual(whole.Optimizers[0].Slots, again.Optimizers[0].Slots) {
		t.Error("a resumed training has other weights or another optimiser state")
	}
}

// TestAGradientOnDeviceThatIsNotFiniteIsNamed wants the error of a step on the host.
func TestAGradientOnDeviceThatIsNotFiniteIsNamed(t *testing.T) {
	x, y := toy(3, 40, 5, 3)
	for i := range x.Data {
		x.Data[i] *= 1e18
	}
	c := Config{Epochs: 5, Batch: 8, Seed: 2, Optimizer: nn.SGD{LR: 1e15}}
	var says []string
	for _, r := range []*model.Runner{openShared(t), apart(t, small)} {
		_, _, err := Fit(context.Background(), r, initial(small), labelled(x, y), c, Hooks{})
		d := (*Diverged)(nil)
		if !errors.As(err, &d) {
			t.Fatalf("%v", err)
		}
		says = append(says, err.Error())
	}
	if says[0] != says[1] || !strings.Contains(says[0], "the gradient of") {
		t.Errorf("on the device: %s\non the host: %s", says[1], says[0])
	}
}
