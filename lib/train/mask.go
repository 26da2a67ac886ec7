// L1 penalties, and masks that freeze single weights.

package train

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/nn"
)

// L1 adds f Weight ||w||_1 to the objective, summed over all weights, biases and gains but
// not over state. f is 1 or, with Falling, 1 - e/E in epoch e = 0, 1, ... of E. The
// derivative of |w| at 0 is 0.
type L1 struct {
	Weight  float64 `json:"weight"`
	Falling bool    `json:"falling,omitempty"`
}

func (l *L1) check() error {
	if l != nil && (!(l.Weight >= 0) || math.IsInf(l.Weight, 1)) {
		return fmt.Errorf("train: the weight of the L1 term is %v", l.Weight)
	}
	return nil
}

// add adds the term's gradient to grads and returns its value.
func (l *L1) add(p nn.Params, grads [][]float64, epoch, epochs int) float64 {
	if l == nil {
		return 0
	}
	weight := l.weightAt(epoch, epochs)
	var norm float64
	for i, g := range grads {
		for j := range g {
			switch w := p[i].Data[j]; {
			case w > 0:
				norm += float64(w)
				g[j] += weight
			case w < 0:
				norm -= float64(w)
				g[j] -= weight
			}
		}
	}
	return weight * norm
}

// weightAt returns f Weight in an epoch of so many.
func (l *L1) weightAt(epoch, epochs int) float64 {
	if !l.Falling {
		return l.Weight
	}
	return l.Weight * (1 - float64(epoch)/float64(epochs))
}

// Mask freezes single weights: the gradient of a weight that is not Open is 0. Open has
// one slice per tensor; that of a tensor that is state is ignored. Momentum and weight
// decay still change a closed weight, unless Restore resets every closed weight and its
// moments after each step.
type Mask struct {
	Open    [][]bool
	Restore bool
}

func (m *Mask) check(p nn.Params) error {
	if m == nil {
		return nil
	}
	if len(m.Open) != len(p) {
		return fmt.Errorf("train: a mask of %d tensors for a model of %d", len(m.Open), len(p))
	}
	for i, v := range p {
		if !v.State && len(m.Open[i]) != len(v.Data) {
			return fmt.Errorf("train: the mask of %s has %d elements, it has %d weights", v.Name, len(m.Open[i]), len(v.Data))
		}
	}
	return nil
}

// sources returns 1 for open and 0 for closed weights, of every tensor that is not state.
func (m *Mask) sources(p nn.Params) (out []source) {
	if m == nil {
		return nil
	}
	for i, w := range p {
		if w.State {
			continue
		}
		open := array.New[float32](1, len(w.Data))
		for j, is := range m.Open[i] {
			if is {
				open.Data[j] = 1
			}
		}
		out = append(out, source{m: open, rows: 1, shape: w.Shape})
	}
	return out
}

func (m *Mask) apply(grads [][]float64) {
	if m == nil {
		return
	}
	for i, g := range grads {
		for j := range g {
			if !m.Open[i][j] {
				g[j] = 0
			}
		}
	}
}

// saved holds the weights and the optimiser state that restore resets, or is nil.
type saved struct {
	p nn.Params
	s *nn.OptimizerState
}

func (m *Mask) save(p nn.Params, s *nn.OptimizerState) *saved {
	if m == nil || !m.Restore {
		return nil
	}
	return &saved{p.Clone(), s.Clone()}
}

func (m *Mask) restore(from *saved, p nn.Params, s *nn.OptimizerState) {
	if from == nil {
		return
	}
	put := func(from, to nn.Params) {
		for i, v := range to {
			if v.State {
				continue
			}
			for j := range v.Data {
				if !m.Open[i][j] {
					v.Data[j] = from[i].Data[j]
				}
			}
		}
	}
	put(from.p, p)
	for k, slot := range s.Slots {
		put(from.s.Slots[k], slot)
	}
}

// addL1 adds the gradient of an L1 term of this weight to grads and returns its value.
func addL1(w, grads []*graph.Node, weight *graph.Node) *graph.Node {
	var norm *graph.Node
	for i, g := range grads {
		if g != nil {
			norm = addNodes(norm, engine.Sum(graph.Abs(w[i])))
			grads[i] = graph.Add(g, graph.Mul(graph.Sign(w[i]), weight))
		}
	}
	return graph.Mul(weight, norm)
}
