// A denoising network with its weights.

package diffusion

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Denoiser is a network with its weights. It is safe for concurrent use.
type Denoiser struct {
	Runner    *model.Runner // of a UNet
	Weights   nn.Params
	Condition Precondition
}

// Denoise returns the denoised images D(x, sigma) for noisy images, one per row of x, and
// the encoder's output. All rows have the noise level sigma, which must be positive.
func (d Denoiser) Denoise(x array.Matrix[float32], sigma float64) (images, encoded array.Matrix[float32], err error) {
	if err := d.Condition.Check(); err != nil {
		return images, encoded, err
	}
	if !(sigma > 0) || math.IsInf(sigma, 0) {
		return images, encoded, fmt.Errorf("diffusion: the noise level is %v, want a positive number", sigma)
	}
	if x.Cols+1 != d.Runner.Arch.Inputs() {
		return images, encoded, fmt.Errorf("diffusion: images of %d values, the network takes %d", x.Cols, d.Runner.Arch.Inputs()-1)
	}
	s := d.Condition.ScalesAt(sigma)
	in := array.New[float32](x.Rows, x.Cols+1)
	for i := range x.Rows {
		s.Fill(in.Row(i), x.Row(i))
	}
	pred, err := d.Runner.Predict(d.Weights, in)
	if err != nil {
		return images, encoded, err
	}
	images = pred.Outputs[nn.Output]
	for i := range x.Rows {
		s.Combine(images.Row(i), x.Row(i), images.Row(i))
	}
	return images, pred.Embedding, nil
}

// AddNoise returns the images with normal noise of standard deviation sigma on every pixel;
// stream gives each row its generator.
func AddNoise(images array.Matrix[float32], sigma float64, stream func(row int) *rand.Rand) array.Matrix[float32] {
	out := array.New[float32](images.Rows, images.Cols)
	for i := range images.Rows {
		rng, dst := stream(i), out.Row(i)
		for j, v := range images.Row(i) {
			dst[j] = float32(float64(v) + float64(sigma*rng.NormFloat64()))
		}
	}
	return out
}
