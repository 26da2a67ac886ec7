// Sampling images from a denoiser.

package diffusion

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Sampler draws images with Heun's second-order method on the probability flow (EDM
// algorithm 1, without its added noise). It starts from sigma_max z and follows
//
//	dx/dsigma = (x - D(x, sigma))/sigma
//
// down to sigma = 0 over the levels (EDM equation 5)
//
//	sigma_i = (max^(1/rho) + i/(N-1) (min^(1/rho) - max^(1/rho)))^rho,  sigma_N = 0.
//
// The zero value is EDM's setting for CIFAR-10: 18 levels, hence 35 evaluations, from 80 to
// 0.002, rho 7.
type Sampler struct {
	Levels   int     `json:"levels,omitempty" default:"18"`
	SigmaMin float64 `json:"sigma_min,omitempty" default:"0.002"`
	SigmaMax float64 `json:"sigma_max,omitempty" default:"80"`
	Rho      float64 `json:"rho,omitempty" default:"7"`
}

func (s Sampler) check() error {
	if s.Levels < 2 || !(s.SigmaMin > 0) || !(s.SigmaMax > s.SigmaMin) || math.IsInf(s.SigmaMax, 0) || !(s.Rho > 0) {
		return fmt.Errorf("diffusion: cannot sample over %d levels from %v to %v with rho %v", s.Levels, s.SigmaMax, s.SigmaMin, s.Rho)
	}
	return nil
}

// Schedule returns the noise levels, the last of which is 0.
func (s Sampler) Schedule() ([]float64, error) {
	s = defaults.Fill(s)
	if err := s.check(); err != nil {
		return nil, err
	}
	out := make([]float64, s.Levels+1)
	first, last := math.Pow(s.SigmaMax, 1/s.Rho), math.Pow(s.SigmaMin, 1/s.Rho)
	for i := range s.Levels {
		out[i] = math.Pow(first+float64(float64(i)/float64(s.Levels-1)*(last-first)), s.Rho)
	}
	return out, nil
}

// Sample draws n images with this many pixels; denoise is D, such as that of a Denoiser.
func (s Sampler) Sample(ctx context.Context, n, pixels int, rng *rand.Rand,
	denoise func(x array.Matrix[float32], sigma float64) (array.Matrix[float32], error)) (array.Matrix[float32], error) {
	levels, err := s.Schedule()
	if err != nil {
		return array.Matrix[float32]{}, err
	}
	x := array.New[float64](n, pixels)
	for i := range x.Data {
		x.Data[i] = levels[0] * rng.NormFloat64()
	}
	slope := func(x array.Matrix[float64], sigma float64) ([]float64, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, err := denoise(toFloat32(x), sigma)
		if err != nil {
			return nil, err
		}
		out := make([]float64, len(x.Data))
		for i, v := range x.Data {
			out[i] = (v - float64(d.Data[i])) / sigma
		}
		return out, nil
	}
	_, task := progress.Start(ctx, "sampling images", len(levels)-1)
	defer task.Done()
	for i, sigma := range levels[:len(levels)-1] {
		task.Add(1)
		if err := heun(x, sigma, levels[i+1], slope); err != nil {
			return array.Matrix[float32]{}, fmt.Errorf("diffusion: sampling, level %d: %w", i+1, err)
		}
	}
	return toFloat32(x), nil
}

// heun moves x from one noise level to the next. For level 0, where the slope is undefined,
// it takes an Euler step.
func heun(x array.Matrix[float64], from, to float64, slope func(array.Matrix[float64], float64) ([]float64, error)) error {
	d, err := slope(x, from)
	if err != nil {
		return err
	}
	end := array.New[float64](x.Rows, x.Cols)
	for i, v := range x.Data {
		end.Data[i] = v + float64((to-from)*d[i])
	}
	if to > 0 {
		d2, err := slope(end, to)
		if err != nil {
			return err
		}
		for i, v := range x.Data {
			end.Data[i] = v + float64((to-from)*(d[i]+d2[i])/2)
		}
	}
	copy(x.Data, end.Data)
	return nil
}

func toFloat32(x array.Matrix[float64]) array.Matrix[float32] {
	out := array.New[float32](x.Rows, x.Cols)
	for i, v := range x.Data {
		out.Data[i] = float32(v)
	}
	return out
}
