// Changes to a gradient before the optimiser sees it: clipping, noise, release, decay.

package train

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/privacy"
)

// GradientTransform changes the gradient of a step before the optimiser sees it. The
// gradient has one slice per tensor, nil for a tensor that is state.
type GradientTransform interface {
	// Transform changes grads in place. It may draw random numbers for a tensor from
	// noise, which is the same in a resumed fit.
	Transform(p nn.Params, grads [][]float64, noise func(tensor int) *rand.Rand) error
}

func tensorNoise(seed engine.Root, step uint64) func(tensor int) *rand.Rand {
	return func(tensor int) *rand.Rand { return seed.Stream(engine.StreamGradientNoise, step, uint64(tensor)) }
}

// ClipNorm scales a gradient whose Euclidean norm over all weights is above Max to the
// norm Max, as torch.nn.utils.clip_grad_norm_ does.
type ClipNorm struct{ Max float64 }

// Transform implements GradientTransform.
func (c ClipNorm) Transform(_ nn.Params, grads [][]float64, _ func(int) *rand.Rand) error {
	return clip(c.Max, grads, func(g []float64) float64 { return kernels.Dot(g, g) })
}

// single is Transform for the float32 gradient of a single execution. The optimiser's result
// has the same bits.
func (c ClipNorm) single(grads [][]float32) error { return clip(c.Max, grads, sumOfSquares) }

// clip scales the gradient to the norm most if its norm, from the sum of all squares in
// order, is larger. fast computes the sum of squares of a tensor in another order; it
// decides if the gradient is clearly short enough.
func clip[T float32 | float64](most float64, grads [][]T, fast func(g []T) float64) error {
	if !(most > 0) {
		return fmt.Errorf("the maximal gradient norm is %v, not a positive number", most)
	}
	const margin = 1e-5 // larger than the rounding error of a sum of a billion squares
	var sum float64
	for _, g := range grads {
		sum += fast(g)
	}
	if small := 1e-10; most > small && sum < most*most*(1-margin) {
		return nil
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
	return nil
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

// Transform implements GradientTransform.
func (a AddNoise) Transform(_ nn.Params, grads [][]float64, noise func(int) *rand.Rand) error {
	if !(a.Std >= 0) || math.IsInf(a.Std, 1) {
		return fmt.Errorf("the noise has the standard deviation %v", a.Std)
	}
	for i, g := range grads {
		rng := noise(i)
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
func (s releaseTransform) Transform(_ nn.Params, grads [][]float64, noise func(int) *rand.Rand) error {
	s(grads, noise)
	return nil
}

// Decay adds Rate times the weights to the gradient, the derivative of Rate/2 ||w||^2. It
// is weight_decay of PyTorch's Adam. (AdamW shrinks the weights directly instead.)
type Decay struct{ Rate float64 }

// Transform implements GradientTransform.
func (d Decay) Transform(p nn.Params, grads [][]float64, _ func(int) *rand.Rand) error {
	if !(d.Rate >= 0) || math.IsInf(d.Rate, 1) {
		return fmt.Errorf("the weight decay is %v", d.Rate)
	}
	for i, g := range grads {
		for j := range g {
			g[j] += float64(d.Rate * float64(p[i].Data[j]))
		}
	}
	return nil
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

// GraphTransform is a GradientTransform that can be part of a step's graph on a device. Others
// make the training run step by step on the host.
type GraphTransform interface {
	GradientTransform
	// GraphTransform changes grads in place, as Transform does. w are the weights; the
	// gradient is nil for a tensor that is state.
	GraphTransform(w, grads []*graph.Node)
}

var (
	_ GraphTransform = ClipNorm{}
	_ GraphTransform = Decay{}
)

// GraphTransform implements GraphTransform.
func (c ClipNorm) GraphTransform(_, grads []*graph.Node) {
	var squares *graph.Node
	for _, g := range grads {
		if g != nil {
			squares = addNodes(squares, engine.Sum(graph.Square(g)))
		}
	}
	// A zero gradient has the factor 1: Max / 0 is infinite.
	factor := graph.MinScalar(graph.Div(graph.Scalar(squares.Graph(), squares.DType(), c.Max), graph.Sqrt(squares)), 1)
	for i, g := range grads {
		if g != nil {
			grads[i] = graph.Mul(g, factor)
		}
	}
}

// GraphTransform implements GraphTransform.
func (d Decay) GraphTransform(w, grads []*graph.Node) {
	for i, g := range grads {
		if g != nil {
			grads[i] = graph.Add(g, graph.MulScalar(w[i], d.Rate))
		}
	}
}
