package train

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/privacy"
)

// GradientTransform changes the gradient of a step, one slice per tensor and nil for one
// that is state, before the optimiser sees it.
type GradientTransform interface {
	// Transform may draw random numbers for a tensor from noise, which is the same in
	// a resumed fit.
	Transform(p nn.Params, grads [][]float64, noise func(tensor int) *rand.Rand) error
}

func tensorNoise(seed engine.Root, step uint64) func(tensor int) *rand.Rand {
	return func(tensor int) *rand.Rand { return seed.Stream(engine.StreamGradientNoise, step, uint64(tensor)) }
}

// ClipNorm shortens a gradient whose Euclidean norm over all weights is above
// Max to that length, as torch.nn.utils.clip_grad_norm_ does.
type ClipNorm struct{ Max float64 }

// Transform implements Surgeon.
func (c ClipNorm) Transform(_ nn.Params, grads [][]float64, _ func(int) *rand.Rand) error {
	return clip(c.Max, grads, func(g []float64) float64 { return kernels.Dot(g, g) })
}

// singleExecutions is Operate for a gradient in float32, as one execution leaves it. What it comes to
// in the optimiser has the same bits.
func (c ClipNorm) single(grads [][]float32) error { return clip(c.Max, grads, sumOfSquares) }

// clip decides by the sum of all squares in their order. Most gradients are so short that a
// sum in another order, which fast computes for one tensor many numbers at a time, says so too.
func clip[T float32 | float64](most float64, grads [][]T, fast func(g []T) float64) error {
	if !(most > 0) {
		return fmt.Errorf("the longest gradient is %v, not a positive number", most)
	}
	const margin = 1e-5 // above what sums of a billion squares in float32 differ by
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

// sumOfSquares adds up the squares, each rounded to float32: below 1e-19 they are lost.
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

// Transform implements Surgeon.
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

// ReleaseGradients makes every step's gradient, as one vector, private by a mechanism: it
// shortens the gradient of the batch and adds noise, so that the gradient hardly tells
// of which batch it is, as a user wants who uploads it. The mechanism's epsilon is that
// of all steps where its Releases is their number. For a training in which a
// record's own gradient is shortened, see Private.
func ReleaseGradients(m privacy.Mechanism) (GradientTransform, error) {
	release, err := m.Prepare()
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	return releaseTransform(release), nil
}

type releaseTransform privacy.Releaser

// Transform implements Surgeon.
func (s releaseTransform) Transform(_ nn.Params, grads [][]float64, noise func(int) *rand.Rand) error {
	s(grads, noise)
	return nil
}

// Decay adds Rate times the weights to the gradient, the derivative of
// Rate/2 ||w||^2: what PyTorch's Adam calls weight_decay. (AdamW shrinks the
// weights beside the step instead.)
type Decay struct{ Rate float64 }

// Transform implements Surgeon.
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
