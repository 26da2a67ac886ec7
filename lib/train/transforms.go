// Transforms that clip a gradient, add noise or weight decay to it, or release it privately.

package train

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/privacy"
)

var (
	_ GraphTransform = ClipNorm{}
	_ GraphTransform = Decay{}
)

// ClipNorm scales a gradient whose Euclidean norm over all weights is above Max to the
// norm Max, as torch.nn.utils.clip_grad_norm_ does.
type ClipNorm struct{ Max float64 }

// Check returns an error unless Max is positive.
func (c ClipNorm) Check(nn.Params) error {
	if !(c.Max > 0) {
		return fmt.Errorf("the maximal gradient norm is %v, not a positive number", c.Max)
	}
	return nil
}

// Transform implements GradientTransform.
func (c ClipNorm) Transform(s *GradientStep) error {
	clip(c.Max, s.Grads, func(g []float64) float64 { return kernels.Dot(g, g) })
	return nil
}

func (c ClipNorm) inFloat32(grads [][]float32) { clip(c.Max, grads, sumOfSquares) }

// Graph implements GraphTransform.
func (c ClipNorm) Graph(nn.Params) GraphForm {
	return GraphForm{Key: fmt.Sprint(c.Max), Transform: func(s *GraphStep) {
		var squares *graph.Node
		for _, g := range s.Grads {
			if g != nil {
				squares = addNodes(squares, engine.Sum(graph.Square(g)))
			}
		}
		// A zero gradient has the factor 1: Max / 0 is infinite.
		factor := graph.MinScalar(graph.Div(graph.Scalar(squares.Graph(), squares.DType(), c.Max), graph.Sqrt(squares)), 1)
		s.Change(func(_ int, g *graph.Node) *graph.Node { return graph.Mul(g, factor) })
	}}
}

// clip scales the gradient to the norm most if its norm, from the sum of all squares in
// order, is larger. fast computes the sum of squares of a tensor in another order; it
// decides if the gradient is clearly short enough.
func clip[T float32 | float64](most float64, grads [][]T, fast func(g []T) float64) {
	const margin = 1e-5 // larger than the rounding error of a sum of a billion squares
	var sum float64
	for _, g := range grads {
		sum += fast(g)
	}
	if small := 1e-10; most > small && sum < most*most*(1-margin) {
		return
	}
	sum = 0
	for _, g := range grads {
		for _, v := range g {
			sum += float64(float64(v) * float64(v))
		}
	}
	if norm := math.Sqrt(sum); norm > most {
		scale(grads, most/norm)
	}
}

// sumOfSquares adds up the squares, each rounded to float32; those of numbers below 1e-19
// are lost.
func sumOfSquares(g []float32) (sum float64) {
	var tile [1024]float32
	for len(g) > 0 {
		n := min(len(g), len(tile))
		kernels.Mul(tile[:n], g[:n], g[:n])
		sum += kernels.Sum(tile[:n])
		g = g[n:]
	}
	return sum
}

// AddNoise adds normal noise of standard deviation Std to every element.
type AddNoise struct{ Std float64 }

// Check returns an error unless Std is 0 or a positive number.
func (a AddNoise) Check(nn.Params) error {
	return checkSize("the standard deviation of the noise", a.Std)
}

// Transform implements GradientTransform.
func (a AddNoise) Transform(s *GradientStep) error {
	for i, g := range s.Grads {
		rng := s.Rand(i)
		for j := range g {
			g[j] += float64(a.Std * rng.NormFloat64())
		}
	}
	return nil
}

// ReleaseGradients returns a transform that makes the gradient of every step, as one
// vector, private by a mechanism: it clips the gradient of the batch and adds noise. A user
// of a federation can then upload it. The mechanism's epsilon covers all steps if its
// Releases is their number. For clipping per record see Private.
func ReleaseGradients(m privacy.Mechanism) (GradientTransform, error) {
	release, err := m.Prepare()
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	return releaseTransform(release), nil
}

type releaseTransform privacy.Releaser

// Transform implements GradientTransform.
func (r releaseTransform) Transform(s *GradientStep) error {
	r(s.Grads, s.Rand)
	return nil
}

// Decay adds Rate times the weights to the gradient, the derivative of Rate/2 ||w||^2. It
// is weight_decay of PyTorch's Adam. (AdamW shrinks the weights directly instead.)
type Decay struct{ Rate float64 }

// Check returns an error unless Rate is 0 or a positive number.
func (d Decay) Check(nn.Params) error { return checkSize("the weight decay", d.Rate) }

// Transform implements GradientTransform.
func (d Decay) Transform(s *GradientStep) error {
	for i, g := range s.Grads {
		for j := range g {
			g[j] += float64(d.Rate * float64(s.Params[i].Data[j]))
		}
	}
	return nil
}

// Graph implements GraphTransform.
func (d Decay) Graph(nn.Params) GraphForm {
	return GraphForm{Key: fmt.Sprint(d.Rate), Transform: func(s *GraphStep) {
		s.Change(func(i int, g *graph.Node) *graph.Node { return graph.Add(g, graph.MulScalar(s.Weights[i], d.Rate)) })
	}}
}

func scale[T float32 | float64](grads [][]T, factor float64) {
	for _, g := range grads {
		array.Split(len(g), func(from, to int) {
			for j := from; j < to; j++ {
				g[j] = T(float64(g[j]) * factor)
			}
		})
	}
}

// checkSize returns an error unless a setting is 0 or a positive number.
func checkSize(what string, v float64) error {
	if !(v >= 0) || math.IsInf(v, 1) {
		return fmt.Errorf("%s is %v, not 0 or a positive number", what, v)
	}
	return nil
}
