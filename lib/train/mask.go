// L1 penalties, and masks that freeze single weights.

package train

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/nn"
)

var (
	_ GraphTransform = L1{}
	_ GraphTransform = Mask{}
	_ StepTransform  = Mask{}
)

// L1 adds f Weight ||w||_1 to the objective, summed over all weights, biases and gains but
// not over state. f is 1 or, with Falling, 1 - e/E in epoch e = 0, 1, ... of E. The
// derivative of |w| at 0 is 0.
type L1 struct {
	Weight  float64 `json:"weight"`
	Falling bool    `json:"falling,omitempty"`
}

// Check returns an error unless Weight is 0 or a positive number.
func (l L1) Check(nn.Params) error { return checkSize("the weight of the L1 term", l.Weight) }

// Transform implements GradientTransform. A falling term needs the number of epochs.
func (l L1) Transform(s *GradientStep) error {
	weight := l.weightIn(s)
	var norm float64
	for i, g := range s.Grads {
		for j := range g {
			switch w := s.Params[i].Data[j]; {
			case w > 0:
				norm += float64(w)
				g[j] += weight
			case w < 0:
				norm -= float64(w)
				g[j] -= weight
			}
		}
	}
	s.Loss += float64(weight * norm)
	return nil
}

// weightIn returns f Weight in a step.
func (l L1) weightIn(s *GradientStep) float64 {
	if !l.Falling {
		return l.Weight
	}
	return l.Weight * (1 - float64(s.Epoch)/float64(s.Epochs))
}

// Graph implements GraphTransform. The weight is an array, because it may fall.
func (l L1) Graph(nn.Params) GraphForm {
	return GraphForm{
		Arrays: map[string][]int{"weight": nil},
		Fill:   func(s *GradientStep, arrays map[string][]float32) { arrays["weight"][0] = float32(l.weightIn(s)) },
		Transform: func(s *GraphStep) {
			var norm *graph.Node
			weight := s.Arrays["weight"]
			s.Change(func(i int, g *graph.Node) *graph.Node {
				norm = addNodes(norm, engine.Sum(graph.Abs(s.Weights[i])))
				return graph.Add(g, graph.Mul(graph.Sign(s.Weights[i]), weight))
			})
			s.Loss = graph.Add(s.Loss, graph.Mul(weight, norm))
		},
	}
}

// Mask freezes single weights: the gradient of a weight that is not Open is 0. Open has
// one slice per tensor; that of a tensor that is state is ignored. Momentum and weight
// decay still change a closed weight, and so do transforms after the mask, unless Restore
// resets every closed weight and its moments after each step.
type Mask struct {
	Open    [][]bool
	Restore bool
}

// Check returns an error if Open has not the form of the weights.
func (m Mask) Check(p nn.Params) error {
	if len(m.Open) != len(p) {
		return fmt.Errorf("a mask of %d tensors for a model of %d", len(m.Open), len(p))
	}
	for i, v := range p {
		if !v.State && len(m.Open[i]) != len(v.Data) {
			return fmt.Errorf("the mask of %s has %d elements, it has %d weights", v.Name, len(m.Open[i]), len(v.Data))
		}
	}
	return nil
}

// Transform implements GradientTransform.
func (m Mask) Transform(s *GradientStep) error {
	if err := m.Check(s.Params); err != nil {
		return err
	}
	for i, g := range s.Grads {
		for j := range g {
			if !m.Open[i][j] {
				g[j] = 0
			}
		}
	}
	return nil
}

// BeforeStep implements StepTransform.
func (m Mask) BeforeStep(p nn.Params, s *nn.OptimizerState) (after func()) {
	if !m.Restore {
		return func() {}
	}
	weights, slots := p.Clone(), s.Clone().Slots
	return func() {
		m.restore(weights, p)
		for k, slot := range s.Slots {
			m.restore(slots[k], slot)
		}
	}
}

func (m Mask) restore(from, to nn.Params) {
	for i, v := range to {
		for j := range v.Data {
			if !v.State && !m.Open[i][j] {
				v.Data[j] = from[i].Data[j]
			}
		}
	}
}

// Graph implements GraphTransform. The mask is an array of 1 for open and 0 for closed weights.
func (m Mask) Graph(like nn.Params) GraphForm {
	out := GraphForm{Key: fmt.Sprint(m.Restore), Fixed: make([][]float32, len(like))}
	for i, w := range like {
		out.Fixed[i] = make([]float32, len(w.Data))
		for j := range w.Data {
			if w.State || m.Open[i][j] {
				out.Fixed[i][j] = 1
			}
		}
	}
	out.Transform = func(s *GraphStep) {
		s.Change(func(i int, g *graph.Node) *graph.Node { return keepClosed(s.Fixed[i], graph.ZerosLike(g), g) })
	}
	if m.Restore {
		out.AfterStep = func(s *GraphStep, tensor int, before, after *graph.Node) *graph.Node {
			return keepClosed(s.Fixed[tensor], before, after)
		}
	}
	return out
}

// keepClosed returns after where open is 1 and before elsewhere.
func keepClosed(open, before, after *graph.Node) *graph.Node {
	return graph.Where(graph.GreaterThan(open, graph.ZerosLike(open)), after, before)
}
