package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/nn"
)

// two is an epoch of two passes whose labels change with the epoch.
func two(epoch int) ([]Objective, error) {
	xf, _ := toy(2, 21, 5, 3)
	xr, yr := toy(1, 50, 5, 3)
	random := make([]int, 21)
	for i := range random {
		random[i] = (i*7 + epoch*5 + i*epoch) % 3
	}
	return []Objective{
		{{Name: "forget", X: xf, Targets: []Target{CrossEntropy(random, 3, 1)}}},
		{{Name: "retain", X: xr, Targets: []Target{CrossEntropy(yr, 3, 1)}}},
	}, nil
}

// checkered opens every third weight of a model.
func checkered(p nn.Params) [][]bool {
	open := make([][]bool, len(p))
	for i, v := range p {
		for j := range v.Data {
			open[i] = append(open[i], (i+j)%3 == 0)
		}
	}
	return open
}

func plans(p nn.Params) map[string]Plan {
	return map[string]Plan{
		"two passes":         {Passes: two},
		"L1":                 {Passes: two, Transforms: Chain{L1{Weight: 0.01}}},
		"falling L1":         {Passes: two, Transforms: Chain{L1{Weight: 0.01, Falling: true}}},
		"mask":               {Passes: two, Transforms: Chain{Mask{Open: checkered(p)}}},
		"mask that restores": {Passes: two, Transforms: Chain{Mask{Open: checkered(p), Restore: true}}},
		"everything":         {Passes: two, Transforms: Chain{L1{Weight: 0.01, Falling: true}, Mask{Open: checkered(p), Restore: true}}},
	}
}

// plan is FitPlan in the twin's way: the lists of batches, the dropout keys and
// the passes' seeds are the library's, the arithmetic is the twin's.
func (w twin) plan(start nn.Params, plan Plan, c Config) (p [][]float64, losses []float64) {
	p = float64s(start)
	m := zeros(p)
	step := uint64(0)
	for epoch := range c.Epochs {
		var total float64
		steps := 0
		passes, _ := plan.Passes(epoch)
		for k, o := range passes {
			draw := c
			if k > 0 {
				draw.Seed = engine.Root(c.Seed.Counter(engine.StreamPass, uint64(k)))
			}
			for _, batches := range draw.epochBatches(o, epoch) {
				loss, g := w.evaluate(p, o, batches, func(term, layer int) uint64 {
					return c.Seed.Counter(engine.StreamDropout, step, uint64(term), uint64(layer))
				})
				total += loss + w.descend(p, m, g, plan, c, epoch)
				step++
				steps++
			}
		}
		losses = append(losses, total/float64(steps))
	}
	return p, losses
}

// descend takes one step of SGD, element by element, and returns the L1 term.
func (w twin) descend(p, m, g [][]float64, plan Plan, c Config, epoch int) float64 {
	var penalty float64
	l1, mask := (*L1)(nil), (*Mask)(nil)
	for _, t := range plan.Transforms {
		switch t := t.(type) {
		case L1:
			l1 = &t
		case Mask:
			mask = &t
		}
	}
	for i := range p {
		for j, v := range p[i] {
			grad, open := g[i][j], mask == nil || mask.Open[i][j]
			if l1 != nil {
				gamma := l1.Weight
				if l1.Falling {
					gamma *= 1 - float64(epoch)/float64(c.Epochs)
				}
				penalty += gamma * math.Abs(v)
				if v != 0 {
					grad += math.Copysign(gamma, v)
				}
			}
			if !open {
				if mask.Restore {
					continue
				}
				grad = 0
			}
			m[i][j] = descent.Momentum*m[i][j] + grad + descent.WeightDecay*v
			p[i][j] -= descent.LR * m[i][j]
		}
	}
	return penalty
}

var descent = nn.SGD{LR: 0.02, Momentum: 0.9, WeightDecay: 5e-3}

func TestAPlanAgreesWithTheFloat64Twin(t *testing.T) {
	r := openRunner(t, small, 32)
	for name, plan := range plans(initial(small)) {
		for _, size := range []int{0, 16} {
			t.Run(fmt.Sprint(name, " in batches of ", size), func(t *testing.T) {
				c := Config{Epochs: 3, Batch: size, Seed: 3, Optimizer: descent}
				p, history, err := FitPlan(context.Background(), r, initial(small), plan, c, Hooks{})
				if err != nil {
					t.Fatal(err)
				}
				want, losses := twin{small}.plan(initial(small), plan, c)
				for i, h := range history {
					if math.Abs(h.Loss-losses[i]) > 1e-5 {
						t.Errorf("epoch %d: loss %v, twin %v", i+1, h.Loss, losses[i])
					}
				}
				if d := worst(float64s(p), want); !(d < 1e-5) {
					t.Errorf("weights are %g off the twin's", d)
				}
			})
		}
	}
}

func TestAPlanOfOneObjectiveIsAFitToTheLastBit(t *testing.T) {
	r, o := openRunner(t, small, 32), mixed(70, 6, 5)
	for _, c := range []Config{{Epochs: 3, Seed: 3}, {Epochs: 3, Batch: 16, Seed: 3}, {Epochs: 2, Batch: 16, Seed: 3, Optimizer: descent, Schedule: Cosine()}} {
		want, history, err := Fit(context.Background(), r, initial(small), o, c, Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		plan := Plan{Passes: func(int) ([]Objective, error) { return []Objective{o}, nil }}
		open := checkered(want)
		for i := range open {
			for j := range open[i] {
				open[i][j] = true
			}
		}
		for _, plan := range []Plan{plan, {Passes: plan.Passes, Transforms: Chain{L1{}, Mask{Open: open, Restore: true}}}} {
			got, h, err := FitPlan(context.Background(), r, initial(small), plan, c, Hooks{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Hash() != want.Hash() || fmt.Sprint(h) != fmt.Sprint(history) {
				t.Errorf("%+v: another result than Fit's", c)
			}
		}
	}
}

func TestAPlanResumedAtAnyEpochHasTheSameBits(t *testing.T) {
	r := openRunner(t, small, 32)
	for name, plan := range plans(initial(small)) {
		for _, sgd := range []nn.Optimizer{nil, descent} {
			t.Run(fmt.Sprint(name, sgd != nil), func(t *testing.T) {
				c := Config{Epochs: 4, Batch: 16, Seed: 3, Optimizer: sgd}
				var saved []*State
				keep := Hooks{SaveEvery: 1, Save: func(s *State) error { saved = append(saved, s); return nil }}
				want, history, err := FitPlan(context.Background(), r, initial(small), plan, c, keep)
				if err != nil {
					t.Fatal(err)
				}
				if len(saved) != 4 {
					t.Fatalf("%d states", len(saved))
				}
				for _, s := range saved {
					p, h, err := FitPlan(context.Background(), r, initial(small), plan, c, Hooks{Resume: throughFile(t, s)})
					if err != nil {
						t.Fatal(err)
					}
					if p.Hash() != want.Hash() || fmt.Sprint(h) != fmt.Sprint(history) {
						t.Errorf("resumed after epoch %d: another result", s.Done)
					}
				}
			})
		}
	}
}

// A closed weight keeps its bits and has no momentum where the mask restores,
// with either optimiser; without, decay alone moves it, by a known factor.
func TestAMaskHoldsWhatItCloses(t *testing.T) {
	r, start := openRunner(t, small, 0), initial(small)
	open := checkered(start)
	last := func(m Mask, sgd nn.Optimizer) *State {
		var state *State
		h := Hooks{SaveEvery: 1, Save: func(s *State) error { state = s; return nil }}
		c := Config{Epochs: 3, Batch: 16, Seed: 3, Optimizer: sgd}
		if _, _, err := FitPlan(context.Background(), r, start, Plan{Passes: two, Transforms: Chain{m}}, c, h); err != nil {
			t.Fatal(err)
		}
		return state
	}
	for _, sgd := range []nn.Optimizer{nil, descent} {
		s := last(Mask{Open: open, Restore: true}, sgd)
		moved := 0
		for i, v := range start {
			for j, w := range v.Data {
				if open[i][j] {
					if s.Params[i].Data[j] != w {
						moved++
					}
					continue
				}
				if s.Params[i].Data[j] != w || s.Optimizers[0].Slots[0][i].Data[j] != 0 {
					t.Fatalf("%s element %d is closed: %v became %v, momentum %v", v.Name, j, w, s.Params[i].Data[j], s.Optimizers[0].Slots[0][i].Data[j])
				}
			}
		}
		if moved < 40 {
			t.Errorf("only %d open weights moved", moved)
		}
	}
	s := last(Mask{Open: open}, descent)
	shrunk, momentum := 1.0, 0.0 // of a weight of 1 in 18 steps of decay alone
	for range s.Optimizers[0].T {
		momentum = 0.9*momentum + 5e-3*shrunk
		shrunk -= 0.02 * momentum
	}
	for i, v := range start {
		for j, w := range v.Data {
			if want := shrunk * float64(w); !open[i][j] && math.Abs(float64(s.Params[i].Data[j])-want) > 1e-6 {
				t.Fatalf("%s element %d is closed: %v became %v, decay alone makes it %v", v.Name, j, w, s.Params[i].Data[j], want)
			}
		}
	}
}

func TestPassesOfOneEpochAreShuffledApart(t *testing.T) {
	x, y := toy(1, 40, 5, 3)
	o := Objective{{X: x, Targets: []Target{CrossEntropy(y, 3, 1)}}}
	plan := Plan{Passes: func(int) ([]Objective, error) { return []Objective{o, o, o}, nil }}
	rounds, err := plan.steps(Config{Batch: 40, Seed: 3}, 2)
	if err != nil {
		t.Fatal(err)
	}
	orders := map[string]bool{}
	for _, r := range rounds {
		orders[fmt.Sprint(r.updates[0].batches[0].rows)] = true
	}
	if len(rounds) != 3 || len(orders) != 3 {
		t.Errorf("%d steps in %d orders", len(rounds), len(orders))
	}
}

func TestBadPlansAreRefusedByName(t *testing.T) {
	r := openRunner(t, small, 0)
	fit := func(plan Plan) error {
		_, _, err := FitPlan(context.Background(), r, initial(small), plan, Config{Epochs: 3}, Hooks{})
		return err
	}
	from := func(bad int, corrupt func(o []Objective) ([]Objective, error)) Plan {
		return Plan{Passes: func(epoch int) ([]Objective, error) {
			o, _ := two(epoch)
			if epoch == bad {
				return corrupt(o)
			}
			return o, nil
		}}
	}
	wantWords(t, fit(Plan{}), "either passes or a game")
	wantWords(t, fit(from(1, func([]Objective) ([]Objective, error) { return nil, nil })), "epoch 2 has no passes")
	wantWords(t, fit(from(1, func([]Objective) ([]Objective, error) { return nil, errors.New("out of labels") })), "epoch 2", "out of labels")
	wantWords(t, fit(from(2, func(o []Objective) ([]Objective, error) {
		o[1][0].X.Data[8] = float32(math.NaN())
		return o, nil
	})), "epoch 3", "pass 2", `"retain"`, "row 1, column 3 is NaN")
	for _, w := range []float64{-1, math.NaN(), math.Inf(1)} {
		wantWords(t, fit(Plan{Passes: two, Transforms: Chain{L1{Weight: w}}}), "L1 term", fmt.Sprint(w))
	}
	wantWords(t, fit(Plan{Passes: two, Transforms: Chain{Mask{}}}), "a mask of 0 tensors for a model of 6")
	short := checkered(initial(small))
	short[3] = short[3][1:]
	wantWords(t, fit(Plan{Passes: two, Transforms: Chain{Mask{Open: short}}}), "hidden2.bias", "8 elements", "9 weights")
}
