package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// onDevice returns a runner on an engine whose epochs are one execution.
func onDevice(t *testing.T, arch model.Architecture) *model.Runner {
	t.Helper()
	return modeltest.NewRunner(t, arch, enginetest.OpenDevice)
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
	return lastOfPlan(t, r, p, fixedPlan(o), c, from)
}

// lastOfPlan returns the last state of a fit, as it is saved.
func lastOfPlan(t *testing.T, r *model.Runner, p nn.Params, plan Plan, c Config, from *State) *State {
	t.Helper()
	var last *State
	h := Hooks{SaveEvery: 1, Resume: from, Save: func(s *State) error { last = s; return nil }}
	if _, _, err := FitPlan(t.Context(), r, p, plan, c, h); err != nil {
		t.Fatal(err)
	}
	return last
}

// sameState reports how two states differ by more than rounding.
func sameState(t *testing.T, want, got *State, within float64) {
	t.Helper()
	if d := far(want.Params, got.Params); !(d < within) {
		t.Errorf("weights are %g off", d)
	}
	for k, o := range want.Optimizers {
		for j, slot := range o.Slots {
			if d := far(slot, got.Optimizers[k].Slots[j]); !(d < 10*within) {
				t.Errorf("player %d: slot %s is %g off", k, o.Names[j], d)
			}
		}
		if got.Optimizers[k].T != o.T {
			t.Errorf("player %d: %d updates, want %d", k, got.Optimizers[k].T, o.T)
		}
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < within*math.Max(1, math.Abs(a)) }
	for e, h := range want.History {
		g := got.History[e]
		same := near(h.Loss, g.Loss) && len(h.Players) == len(g.Players) && (h.Valid == nil) == (g.Valid == nil) &&
			reflect.DeepEqual(h.Privacy, g.Privacy) && h.Steps == g.Steps
		for k := range h.Players {
			same = same && near(h.Players[k], g.Players[k])
		}
		if h.Valid != nil {
			same = same && near(*h.Valid, *g.Valid)
		}
		if !same {
			t.Errorf("epoch %d: %+v, want %+v", e+1, g, h)
		}
	}
	if want.Best != nil && (want.Best.Epoch != got.Best.Epoch || !(far(want.Best.Params, got.Best.Params) < within)) {
		t.Errorf("the best epoch is %d, want %d; or its weights differ", got.Best.Epoch, want.Best.Epoch)
	}
}

// TestAStepOnDeviceIsAStepOnTheHost trains networks with dropout, with a running mean and with
// frozen weights by every optimiser, with the weights where the gradient is and with the
// weights here.
func TestAStepOnDeviceIsAStepOnTheHost(t *testing.T) {
	images := vision.SmallCNN{Side: 12, Outputs: 3, Width: 4, Hidden: 8, Norm: true}
	for _, optimizer := range []nn.Optimizer{nn.Adam{}, nn.AdamW{WeightDecay: 0.1}, nn.SGD{LR: 0.05, Momentum: 0.9, WeightDecay: 0.01}, nn.SGD{LR: 0.05}} {
		for _, arch := range []model.Architecture{small, images} {
			t.Run(fmt.Sprint(optimizer.Name(), " ", arch.Name()), func(t *testing.T) {
				skipOnXLA(t, "every optimiser")
				x, y := toy(3, 40, arch.Inputs(), 3)
				c := Config{Epochs: 3, Batch: 8, Seed: 2, Optimizer: optimizer, Schedule: Cosine()}
				if arch.Name() == small.Name() {
					c.Groups = []nn.Group{{Prefix: "hidden1", Rate: 0}, {Prefix: "head", Rate: 0.5}}
				}
				p := model.InitialWeights(arch, c.Seed.Stream("init"))
				want := lastState(t, openRunner(t, arch, 32), p, labelled(x, y), c, nil)
				got := lastState(t, onDevice(t, arch), p, labelled(x, y), c, nil)
				sameState(t, want, got, 1e-4)
				if far(p, want.Params) < 1e-3 {
					t.Error("nothing moved")
				}
			})
		}
	}
}

// doubler is an Augmenter: it multiplies a record by a number that depends on the epoch and the
// record.
func doubler(dst, src []float32, epoch, id int) error {
	for j, v := range src {
		dst[j] = v * (1 + float32((3*epoch+id)%5)/10)
	}
	return nil
}

// doublerInGraph is doubler with a graph.
type doublerInGraph struct{}

func (doublerInGraph) Augment(dst, src []float32, epoch, id int) error {
	return doubler(dst, src, epoch, id)
}

func (doublerInGraph) Moves(epoch, id int) ([]int32, error) {
	return []int32{int32((3*epoch + id) % 5)}, nil
}

func (doublerInGraph) GraphKey() string { return "doubler" }

func (doublerInGraph) GraphAugment(x, moves *graph.Node) *graph.Node {
	factor := graph.AddScalar(graph.DivScalar(graph.ConvertDType(moves, x.DType()), 10), 1)
	return graph.Mul(x, graph.BroadcastToDims(factor, x.Shape().Dimensions...))
}

// firstRecords returns a term with the first records of another, in the same memory.
func firstRecords(t Term, n int) Term {
	first := func(m array.Matrix[float32]) array.Matrix[float32] {
		return array.Matrix[float32]{Rows: n, Cols: m.Cols, Data: m.Data[:n*m.Cols]}
	}
	t = t.Scaled(1)
	t.X = first(t.X)
	for k, g := range t.Targets {
		t.Targets[k].Inputs = map[string]array.Matrix[float32]{loss.Probabilities: first(g.Inputs[loss.Probabilities])}
	}
	if t.IDs != nil {
		t.IDs = t.IDs[:n]
	}
	return t
}

// devicePlans are trainings of the network small with everything that a plan can have.
func devicePlans() map[string]struct {
	plan Plan
	c    Config
} {
	x, y := toy(3, 41, 5, 3)
	more, labels := toy(8, 13, 5, 3)
	o, two := labelled(x, y), append(labelled(x, y), labelled(more, labels)...)
	two[1] = two[1].Scaled(-0.3)
	whole := slices.Clone(two)
	whole[1].Whole = true
	augmented, inGraph := labelled(x, y), labelled(x, y)
	augmented[0].Augment, inGraph[0].Augment = AugmentFunc(doubler), doublerInGraph{}
	for i := range y {
		inGraph[0].IDs = append(inGraph[0].IDs, 7*i)
	}
	warm := labelled(x, y)
	warm[0].Targets[0].WarmUp = 3
	c := Config{Epochs: 3, Batch: 8, Seed: 2}
	full, paired, fixed, dropped, clipped, groups, best, falling := c, c, c, c, c, c, c, c
	full.Batch, paired.Order, fixed.Order, dropped.DropLast, clipped.Clip, best.EarlyStop.Best = 0, Paired, Fixed, true, 0.5, true
	groups.Groups = []nn.Group{{Prefix: "hidden1", Rate: 0}, {Prefix: "head", Rate: 0.5}}
	falling.Schedule = Cosine()
	p := initial(small)
	mask := Mask{Open: make([][]bool, len(p))}
	for i, w := range p {
		for j := range w.Data {
			mask.Open[i] = append(mask.Open[i], (i+j)%3 > 0)
		}
	}
	kept := Mask{Open: mask.Open, Restore: true}
	decaying := c
	decaying.Optimizer = nn.SGD{LR: 0.05, Momentum: 0.9, WeightDecay: 0.1}
	passes := func(epoch int) ([]Objective, error) {
		if epoch == 1 {
			return []Objective{o}, nil
		}
		return []Objective{two[1:], o}, nil
	}
	duel := func(rule Rule, updates int) *Game {
		return &Game{Rule: rule, Players: []Player{
			{Name: "first", Owns: []string{"hidden1"}, Objective: o, Updates: updates, Optimizer: nn.SGD{LR: 0.1}},
			{Name: "second", Owns: []string{"hidden2", "head"}, Objective: two},
		}}
	}
	single := c
	single.Batch = 1
	one := Objective{firstRecords(o[0], 1)}
	first := firstRecords(o[0], 9)
	first.Whole = true
	parts := [][]Objective{{{o[0], first}, {firstRecords(o[0], 30)}}, {{first}, two[:1], two}}
	shared := &Game{Players: []Player{
		{Name: "first", Objective: o, Updates: 2, Optimizer: nn.SGD{LR: 0.1, Momentum: 0.9}}, {Name: "second", Objective: whole},
	}}
	return map[string]struct {
		plan Plan
		c    Config
	}{
		"one record":                        {Plan{Passes: singlePass(one)}, c},
		"parts of one array":                {Plan{Passes: func(epoch int) ([]Objective, error) { return parts[epoch%2], nil }}, c},
		"players that share all weights":    {Plan{Game: shared}, c},
		"private, augmented, empty batches": {Plan{Passes: singlePass(Objective{firstRecords(inGraph[0], 7)}), Private: &Private{Norm: 0.4, Noise: 0.8}}, single},
		"mini-batches, the last short":      {Plan{Passes: singlePass(o)}, c},
		"full batches":                      {Plan{Passes: singlePass(o)}, full},
		"paired":                            {Plan{Passes: singlePass(o)}, paired},
		"fixed batches":                     {Plan{Passes: singlePass(o)}, fixed},
		"without the last":                  {Plan{Passes: singlePass(o)}, dropped},
		"clipped":                           {Plan{Passes: singlePass(o)}, clipped},
		"groups of rates":                   {Plan{Passes: singlePass(o)}, groups},
		"a falling rate":                    {Plan{Passes: singlePass(o)}, falling},
		"the best epoch":                    {Plan{Passes: singlePass(o)}, best},
		"two terms":                         {Plan{Passes: singlePass(two)}, c},
		"two terms, full batches":           {Plan{Passes: singlePass(two)}, full},
		"two terms, one whole":              {Plan{Passes: singlePass(whole)}, c},
		"passes that change":                {Plan{Passes: passes}, c},
		"augmented":                         {Plan{Passes: singlePass(augmented)}, c},
		"augmented, full batches":           {Plan{Passes: singlePass(augmented)}, full},
		"augmented in the graph":            {Plan{Passes: singlePass(inGraph)}, c},
		"augmented in it, full batches":     {Plan{Passes: singlePass(inGraph)}, full},
		"a warm-up":                         {Plan{Passes: singlePass(warm)}, c},
		"L1":                                {Plan{Passes: singlePass(o), Transforms: Chain{L1{Weight: 0.01, Falling: true}}}, c},
		"a mask":                            {Plan{Passes: singlePass(o), Transforms: Chain{mask}}, decaying},
		"a mask that restores":              {Plan{Passes: singlePass(o), Transforms: Chain{kept}}, decaying},
		"transforms":                        {Plan{Passes: singlePass(o), Transforms: Chain{Decay{0.1}, ClipNorm{0.7}}}, c},
		"MGDA":                              {Plan{Passes: singlePass(two), Combiner: MGDA{}}, c},
		"MGDA as printed":                   {Plan{Passes: singlePass(two), Combiner: PrintedMGDA{}}, c},
		"PCGrad":                            {Plan{Passes: singlePass(two), Combiner: PCGrad{}}, c},
		"ratios":                            {Plan{Passes: singlePass(Objective{two[0], two[0].Scaled(0.5)}), Combiner: RatioWeights{}}, c},
		"a game, one after another":         {Plan{Game: duel(Alternating, 2)}, c},
		"a game at once":                    {Plan{Game: duel(Simultaneous, 1)}, c},
		"a game with extra steps":           {Plan{Game: duel(ExtraGradient, 1)}, c},
		"a game with a mask":                {Plan{Game: duel(Alternating, 1), Transforms: Chain{kept}}, c},
		"a validation":                      {Plan{Passes: singlePass(o), Validation: &Validation{Objective: two[1:], Patience: 2}}, c},
		"private, without noise":            {Plan{Passes: singlePass(o), Private: &Private{Norm: 0.4}}, c},
		"private":                           {Plan{Passes: singlePass(o), Private: &Private{Norm: 0.4, Noise: 0.8}}, c},
		"private, full batches":             {Plan{Passes: singlePass(o), Private: &Private{Norm: 0.4, Noise: 0.8}}, full},
		"private with a weight decay":       {Plan{Passes: singlePass(o), Private: &Private{Norm: 0.4}, Transforms: Chain{Decay{0.1}}}, c},
		"everything that changes a weight":  {Plan{Passes: passes, Transforms: Chain{L1{Weight: 0.01}, kept, Decay{0.1}}}, clipped},
	}
}

// TestAnEpochOnDeviceIsAnEpochOnTheHost trains by every kind of plan, an epoch as one execution
// and step by step. Both have the same trajectory to rounding, and every step is on the device.
func TestAnEpochOnDeviceIsAnEpochOnTheHost(t *testing.T) {
	for name, of := range devicePlans() {
		t.Run(name, func(t *testing.T) {
			skipOnXLA(t, name)
			p := initial(small)
			host, device := openRunner(t, small, 32), onDevice(t, small)
			want := lastOfPlan(t, host, p, of.plan, of.c, nil)
			var graphs atomic.Int64
			of.c.Optimizer = inGraphs(of.c.WithDefaults().Optimizer, &graphs)
			if g := of.plan.Game; g != nil {
				own := *g
				own.Players = slices.Clone(g.Players)
				for k, p := range own.Players {
					if p.Optimizer != nil {
						own.Players[k].Optimizer = inGraphs(p.Optimizer, &graphs)
					}
				}
				of.plan.Game = &own
			}
			got := lastOfPlan(t, device, p, of.plan, of.c, nil)
			sameState(t, want, got, 1e-4)
			if far(p, want.Params) < 1e-3 {
				t.Error("nothing moved")
			}
			if graphs.Load() == 0 {
				t.Error("the optimiser is part of no graph")
			}
		})
	}
}

// TestNumbersThatPassesChangeInPlaceAreSeen trains by passes that write new records into the memory
// of the epoch before.
func TestNumbersThatPassesChangeInPlaceAreSeen(t *testing.T) {
	for _, batch := range []int{0, 8} {
		var ends []nn.Params
		for _, r := range []*model.Runner{openRunner(t, small, 32), onDevice(t, small)} {
			x, y := toy(3, 41, 5, 3)
			o := labelled(x, y)
			passes := func(epoch int) ([]Objective, error) {
				fresh, _ := toy(engine.Root(3+epoch), 41, 5, 3)
				copy(x.Data, fresh.Data)
				return []Objective{o}, nil
			}
			p, _, err := FitPlan(t.Context(), r, initial(small), Plan{Passes: passes}, Config{Epochs: 4, Batch: batch, Seed: 2}, Hooks{})
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, p)
		}
		if d := far(ends[0], ends[1]); !(d < 1e-4) {
			t.Errorf("batches of %d: weights are %g off: old records were used", batch, d)
		}
	}
}

// graphOptimizer counts the graphs with its step, and fails if it steps on the host.
type graphOptimizer struct {
	nn.GraphOptimizer
	graphs *atomic.Int64
}

func inGraphs(o nn.Optimizer, graphs *atomic.Int64) nn.Optimizer {
	return graphOptimizer{o.WithDefaults().(nn.GraphOptimizer), graphs}
}

func (c graphOptimizer) WithDefaults() nn.Optimizer { return c }

func (c graphOptimizer) GraphStep(w, grad *graph.Node, slots, rule []*graph.Node) (*graph.Node, []*graph.Node) {
	c.graphs.Add(1)
	return c.GraphOptimizer.GraphStep(w, grad, slots, rule)
}

func (graphOptimizer) Step(nn.Params, [][]float64, *nn.OptimizerState, []float64) error {
	return errors.New("a step on the host")
}

// TestTheseTrainingsStayOnTheHost lists what a graph cannot do.
func TestTheseTrainingsStayOnTheHost(t *testing.T) {
	x, y := toy(3, 40, 5, 3)
	o := labelled(x, y)
	three := Objective{o[0], o[0], o[0]}
	plain := Config{Epochs: 2, Batch: 8, Seed: 2}
	frozen := plain
	frozen.Groups = []nn.Group{{Prefix: "h", Rate: 0}}
	watch := func(StepInfo) (bool, error) { return false, nil }
	for name, of := range map[string]struct {
		runner *model.Runner
		plan   Plan
		c      Config
	}{
		"an engine in our memory": {openShared(t), Plan{Passes: singlePass(o)}, plain},
		"nothing moves":           {onDevice(t, small), Plan{Passes: singlePass(o)}, frozen},
		"a watch":                 {onDevice(t, small), Plan{Passes: singlePass(o), Watch: watch}, plain},
		"noise":                   {onDevice(t, small), Plan{Passes: singlePass(o), Transforms: Chain{AddNoise{1e-3}}}, plain},
		"MGDA of three":           {onDevice(t, small), Plan{Passes: singlePass(three), Combiner: MGDA{}}, plain},
	} {
		t.Run(name, func(t *testing.T) {
			var graphs atomic.Int64
			of.c.Optimizer = graphOptimizer{nn.SGD{LR: 0.1}, &graphs}
			_, _, err := FitPlan(t.Context(), of.runner, initial(small), of.plan, of.c, Hooks{})
			if graphs.Load() > 0 || err == nil || !strings.Contains(err.Error(), "a step on the host") {
				t.Errorf("the optimiser is part of %d graphs: %v", graphs.Load(), err)
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
	whole := lastState(t, onDevice(t, small), initial(small), labelled(x, y), c, nil)
	part := c
	part.Epochs = 2
	half := lastState(t, onDevice(t, small), initial(small), labelled(x, y), part, nil)
	again := lastState(t, onDevice(t, small), initial(small), labelled(x, y), c, half)
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
	for _, r := range []*model.Runner{openShared(t), onDevice(t, small)} {
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

// TestAWeightThatOverflowsOnDeviceIsNamed overflows weights in the last step, after which no loss says
// so: all weights, or those of one matrix.
func TestAWeightThatOverflowsOnDeviceIsNamed(t *testing.T) {
	x, y := toy(3, 40, 5, 3)
	for i := range x.Data {
		x.Data[i] *= 1e4
	}
	c := Config{Epochs: 1, Seed: 2, Optimizer: nn.SGD{LR: 3e38}}
	o := labelled(x, y)
	for _, only := range []int{-1, 0, 2, 4} {
		open := make([][]bool, len(initial(small)))
		for i, w := range initial(small) {
			open[i] = slices.Repeat([]bool{i == only || only < 0}, len(w.Data))
		}
		plan := Plan{Passes: func(int) ([]Objective, error) { return []Objective{o}, nil }, Transforms: Chain{Mask{Open: open}}}
		var says []string
		for _, r := range []*model.Runner{openShared(t), onDevice(t, small)} {
			_, _, err := FitPlan(t.Context(), r, initial(small), plan, c, Hooks{})
			if d := (*Diverged)(nil); !errors.As(err, &d) {
				t.Fatalf("tensor %d: %v", only, err)
			}
			says = append(says, err.Error())
		}
		if says[0] != says[1] {
			t.Errorf("tensor %d, on the device: %s\non the host: %s", only, says[1], says[0])
		}
	}
}
