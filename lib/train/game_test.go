package train

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// bilinear is the game f(a, b) = a b: a network of two weights that returns their
// product for every record.
type bilinear struct{}

func (bilinear) Name() string                       { return "bilinear" }
func (bilinear) Inputs() int                        { return 1 }
func (bilinear) Returns() []model.Output            { return []model.Output{{Name: nn.Output, Width: 1}} }
func (b bilinear) WithDefaults() model.Architecture { return b }
func (bilinear) Check() error                       { return nil }
func (bilinear) Build(b *nn.Builder, x *graph.Node) model.Trace {
	out := b.Block(b.Weights(wantAt(1, 1)...), func(in []*graph.Node) *graph.Node {
		return graph.Add(graph.MulScalar(x, 0), graph.BroadcastToDims(graph.Reshape(graph.Mul(in[0], in[1]), 1, 1), x.Shape().Dimensions...))
	})
	return model.Trace{Outputs: map[string]*graph.Node{nn.Output: out}, Embedding: out}
}

func wantAt(a, b float32) nn.Params {
	return nn.Params{{Name: "min.a", Shape: []int{1}, Data: []float32{a}}, {Name: "max.b", Shape: []int{1}, Data: []float32{b}}}
}

// itself is the loss that is the output.
type itself struct{}

func (itself) About() string                                 { return "the output" }
func (itself) Name() string                                  { return "itself" }
func (itself) Inputs(map[string]int) (map[string]int, error) { return map[string]int{}, nil }
func (itself) Check(map[string]array.Matrix[float32]) error  { return nil }
func (itself) Graph(g loss.Batch) loss.Value                 { return loss.Value{Losses: g.Outputs[nn.Output]} }

func duel(rule Rule, steps int) *Game {
	of := func(weight float64) Objective {
		x := array.New[float32](2, 1)
		return Objective{{Name: "both", X: x, Targets: []Target{{Loss: itself{}, Weight: weight}}}}
	}
	return &Game{Rule: rule, Players: []Player{
		{Name: "min", Owns: []string{"min."}, Objective: of(1)},
		{Name: "max", Owns: []string{"max."}, Objective: of(-1), Updates: steps},
	}}
}

func play(t *testing.T, g *Game, epochs int, h Hooks) (nn.Params, []Epoch) {
	t.Helper()
	r := openRunner(t, bilinear{}, 0)
	p, history, err := FitPlan(context.Background(), r, wantAt(1, 1), Plan{Game: g}, Config{Epochs: epochs, Optimizer: nn.SGD{LR: 0.1}}, h)
	if err != nil {
		t.Fatal(err)
	}
	return p, history
}

func radius(p nn.Params) float64 { return math.Hypot(float64(p[0].Data[0]), float64(p[1].Data[0])) }

// min_a max_b a b: at rate h simultaneous players move away from the equilibrium by the factor
// sqrt(1 + h^2) per step, alternating ones cycle around it, and extra-gradient steps approach
// it by the factor sqrt(1 - h^2 + h^4).
func TestPlayersOfABilinearGame(t *testing.T) {
	const n, h = 200, 0.1
	for name, c := range map[string]struct {
		rule Rule
		want float64
		off  float64
	}{
		"simultaneous":   {Simultaneous, math.Sqrt2 * math.Pow(1+h*h, n/2.), 1e-3},
		"alternating":    {Alternating, math.Sqrt2, 0.1},
		"extra-gradient": {ExtraGradient, math.Sqrt2 * math.Pow(1-h*h+h*h*h*h, n/2.), 1e-3},
	} {
		p, history := play(t, duel(c.rule, 0), n, Hooks{})
		if got := radius(p); math.Abs(got-c.want) > c.off*c.want {
			t.Errorf("%s: %v from the equilibrium after %d steps, want %v", name, got, n, c.want)
		}
		last := history[n-1]
		if last.Steps != 2*n || len(last.Players) != 2 || last.Players[0] != -last.Players[1] && c.rule != Alternating {
			t.Errorf("%s: the last record is %+v", name, last)
		}
	}
}

// One alternating step by hand: a = 1 - 0.1, then b twice by + 0.1 a.
func TestAPlayerTakesItsStepsOnItsOwnWeights(t *testing.T) {
	p, history := play(t, duel(Alternating, 2), 1, Hooks{})
	if a, b := p[0].Data[0], p[1].Data[0]; math.Abs(float64(a)-0.9) > 1e-6 || math.Abs(float64(b)-1.18) > 1e-6 {
		t.Errorf("after a round a is %v and b is %v, want 0.9 and 1.18", a, b)
	}
	// a paid 1, b twice its -0.9 and -0.9 * 1.09 on average.
	if e := history[0]; e.Steps != 3 || math.Abs(e.Players[0]-1) > 1e-6 || math.Abs(e.Players[1]+0.9*1.045) > 1e-6 {
		t.Errorf("the record is %+v", e)
	}
}

func TestAGameResumesWithTheSameBits(t *testing.T) {
	for _, rule := range []Rule{Alternating, Simultaneous, ExtraGradient} {
		var saved *State
		want, history := play(t, duel(rule, 0), 9, Hooks{SaveEvery: 4, Save: func(s *State) error {
			if s.Done == 4 {
				saved = reread(t, s, wantAt(0, 0))
			}
			return nil
		}})
		got, again := play(t, duel(rule, 0), 9, Hooks{Resume: saved})
		if got.Hash() != want.Hash() || !reflect.DeepEqual(again, history) {
			t.Errorf("rule %d: resumed after four epochs: another result", rule)
		}
	}
}

// A transform gets the player's gradient only: the other player's derivative does not affect
// clipping.
func TestTransformsSeeAPlayersOwnGradient(t *testing.T) {
	r := openRunner(t, bilinear{}, 0)
	plan := Plan{Game: duel(Simultaneous, 0), Transforms: Chain{ClipNorm{Max: 1}}}
	p, _, err := FitPlan(context.Background(), r, wantAt(7, 0.5), plan, Config{Epochs: 1, Optimizer: nn.SGD{LR: 1}}, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	// The derivative by a is b = 0.5, that by b is -a = -7, clipped to -1.
	if p[0].Data[0] != 6.5 || p[1].Data[0] != 1.5 {
		t.Errorf("a is %v and b is %v, want 6.5 and 1.5", p[0].Data[0], p[1].Data[0])
	}
}

// watcher is a transform that records which tensors have a gradient.
type watcher struct{ seen *[]string }

func (w watcher) Transform(s *GradientStep) error {
	var some []string
	for i, g := range s.Grads {
		if slices.ContainsFunc(g, func(v float64) bool { return v != 0 }) {
			some = append(some, s.Params[i].Name)
		}
	}
	*w.seen = append(*w.seen, strings.Join(some, " "))
	return nil
}

// A gradient is by the player's own weights, whatever another's step left in memory.
func TestAGradientIsByOwnWeightsAlone(t *testing.T) {
	var seen []string
	game := &Game{Players: []Player{
		{Name: "first", Owns: []string{"hidden1"}, Objective: mixed(12, 4, 5)}, {Name: "second", Owns: []string{"hidden2", "head"}, Objective: pair(0, 0.5)},
	}}
	plan := Plan{Game: game, Transforms: Chain{watcher{&seen}}}
	if _, _, err := FitPlan(context.Background(), openRunner(t, small, 0), initial(small), plan, Config{Epochs: 2, Seed: 1}, Hooks{}); err != nil {
		t.Fatal(err)
	}
	one, two := "hidden1.weight hidden1.bias", "hidden2.weight hidden2.bias head.weight head.bias"
	if !slices.Equal(seen, []string{one, two, one, two}) {
		t.Errorf("there are gradients by %q", seen)
	}
}

// LoadState with the model's weights only: the weights of another player follow the model's,
// in any order of the file.
func TestPlayersOutsideAModelResume(t *testing.T) {
	var saved *State
	want, _ := play(t, duel(ExtraGradient, 0), 9, Hooks{SaveEvery: 4, Save: func(s *State) error {
		if s.Done == 4 {
			f, rest := s.File()
			slices.SortFunc(f.Tensors, func(a, b safetensors.Tensor) int { return strings.Compare(b.Name, a.Name) })
			text, err := json.Marshal(rest)
			if err != nil {
				t.Fatal(err)
			}
			if saved, err = LoadState(f, text, wantAt(0, 0)[1:]); err != nil {
				t.Fatal(err)
			}
			if saved.Params[0].Name != "max.b" || len(saved.Params) != 2 {
				t.Fatalf("%d tensors, first %s", len(saved.Params), saved.Params[0].Name)
			}
		}
		return nil
	}})
	if got, _ := play(t, duel(ExtraGradient, 0), 9, Hooks{Resume: saved}); got.Hash() != want.Hash() {
		t.Error("resumed: another result")
	}
	saved.Params[1].Name = "other"
	_, _, err := FitPlan(context.Background(), openRunner(t, bilinear{}, 0), wantAt(1, 1), Plan{Game: duel(ExtraGradient, 0)}, Config{Epochs: 9, Optimizer: nn.SGD{LR: 0.1}}, Hooks{Resume: saved})
	wantWords(t, err, "another model")
}

// Two players with one objective meet its records in different orders, with draws
// of their own; the first as a plain fit does.
func TestEveryPlayerHasItsOwnDraws(t *testing.T) {
	x, y := toy(1, 40, 5, 3)
	o := Objective{{X: x, Targets: []Target{CrossEntropy(y, 3, 1)}}}
	c := Config{Batch: 40, Seed: 3}
	r := (&Game{Players: []Player{{Objective: o}, {Objective: o}, {Objective: o}}}).steps(c, 2)[0]
	orders, seeds := map[string]bool{}, map[engine.Root]bool{}
	for _, turn := range r.updates {
		orders[fmt.Sprint(turn.batches[0].rows)], seeds[turn.seed] = true, true
	}
	if len(orders) != 3 || len(seeds) != 3 {
		t.Errorf("three players meet the records in %d orders with %d seeds", len(orders), len(seeds))
	}
	if plain := c.epochBatches(o, 2)[0]; !reflect.DeepEqual(r.updates[0].batches, plain) || r.updates[0].seed != c.Seed {
		t.Error("the first player does not draw as a plain fit does")
	}
}

func TestBadGamesAreRefusedByName(t *testing.T) {
	r := openRunner(t, bilinear{}, 0)
	refused := func(g *Game, words ...string) {
		t.Helper()
		_, _, err := FitPlan(context.Background(), r, wantAt(1, 1), Plan{Game: g}, Config{Epochs: 1}, Hooks{})
		wantWords(t, err, words...)
	}
	refused(&Game{}, "has no players")
	refused(duel(7, 0), "rule 7")
	refused(duel(ExtraGradient, 2), `"max"`, "2 updates")
	g := duel(Alternating, 0)
	g.Players[1].Owns = []string{"m"}
	refused(g, "min.a belongs to two players", `"min"`, `"max"`)
	g = duel(Alternating, 0)
	g.Players[0].Owns = []string{"critic"}
	refused(g, "no weight belongs to player", `"min"`)
	g = duel(Alternating, 0)
	g.Players[0].Optimizer = nn.SGD{}
	refused(g, `"min"`, "learning rate 0")
	g = duel(Alternating, 0)
	g.Players[1].Objective = nil
	refused(g, `"max"`, "no terms")
	both := Plan{Game: duel(Alternating, 0), Passes: func(int) ([]Objective, error) { return nil, nil }}
	_, _, err := FitPlan(context.Background(), r, wantAt(1, 1), both, Config{Epochs: 1}, Hooks{})
	wantWords(t, err, "either passes or a game")
}

// A weight that nobody owns stays, and so does a frozen group's.
func TestFrozenWeightsStay(t *testing.T) {
	r, o := openRunner(t, small, 32), mixed(40, 6, 5)
	start := initial(small)
	c := Config{Epochs: 3, Seed: 1, Groups: []nn.Group{{Prefix: "hidden1", Rate: 0}, {Prefix: "head", Rate: 0.5}}}
	p, _, err := Fit(context.Background(), r, start, o, c, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range p {
		same := reflect.DeepEqual(v.Data, start[i].Data)
		if frozen := i < 2; same != frozen {
			t.Errorf("%s: it moved: %t", v.Name, !same)
		}
	}
	c.Groups = []nn.Group{{Prefix: "hidden9", Rate: 0}}
	_, _, err = Fit(context.Background(), r, start, o, c, Hooks{})
	wantWords(t, err, `the prefix "hidden9" of a group`)
}

// Alternating players may share all weights: with gradient descent, which has no state, they
// equal the passes of a plan. An epoch has Game.Steps steps.
func TestPlayersMayShareTheirWeights(t *testing.T) {
	still := small
	still.Dropout = new(0.0)
	r, start := openRunner(t, still, 0), initial(still)
	first, second := pair(0, 0.5), mixed(12, 4, 5)
	c := Config{Epochs: 3, Optimizer: nn.SGD{LR: 0.2}, Seed: 4}
	shared := &Game{Players: []Player{{Name: "first", Objective: first}, {Name: "second", Objective: second}}}
	want, _, err := FitPlan(context.Background(), r, start, Plan{Passes: func(int) ([]Objective, error) { return []Objective{first, second}, nil }}, c, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	got, history, err := FitPlan(context.Background(), r, start, Plan{Game: shared}, c, Hooks{})
	if err != nil || got.Hash() != want.Hash() || history[2].Steps != 6 {
		t.Errorf("players who share their weights are not passes one after another (%v)", err)
	}
	shared.Steps, c.Batch = 2, 4
	if _, history, err = FitPlan(context.Background(), r, start, Plan{Game: shared}, c, Hooks{}); err != nil || history[2].Steps != 12 {
		t.Errorf("three epochs of two steps of two players are %d updates (%v)", history[2].Steps, err)
	}
	shared.Steps = -1
	_, _, err = FitPlan(context.Background(), r, start, Plan{Game: shared}, c, Hooks{})
	wantWords(t, err, "-1 steps")
	shared.Steps, shared.Rule = 0, Simultaneous
	_, _, err = FitPlan(context.Background(), r, start, Plan{Game: shared}, c, Hooks{})
	wantWords(t, err, "belongs to two players", `"first"`, `"second"`)
}
