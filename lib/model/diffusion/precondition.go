package diffusion

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/defaults"
)

// Precondition turns a network F into a denoiser D of images y + sigma n:
//
//	D(x, sigma) = c_skip x + c_out F(c_in x, c_noise)
//
// With the standard deviation s of the data (EDM equations 7 and 8, table 1)
//
//	c_skip = s^2/(sigma^2 + s^2)      c_out   = sigma s/sqrt(sigma^2 + s^2)
//	c_in   = 1/sqrt(sigma^2 + s^2)    c_noise = ln(sigma)/4
//
// the network's input and its target (y - c_skip x)/c_out have variance 1 at every noise
// level, for data of variance s^2, and D returns x unchanged where there is no noise. The
// loss weight (sigma^2 + s^2)/(sigma s)^2 is 1/c_out^2: the weighted error of D is the
// unweighted error of F against its target.
type Precondition struct {
	SigmaData float64 `json:"sigma_data,omitempty" default:"0.5"` // s, as in EDM
}

// Scales are the four factors and the loss weight at one noise level.
type Scales struct{ Skip, Out, In, Noise, Weight float64 }

// ScalesAt returns the factors at the noise level sigma, a positive number.
func (p Precondition) ScalesAt(sigma float64) Scales {
	s := p.sigmaData()
	sum := float64(sigma*sigma) + float64(s*s)
	return Scales{
		Skip: s * s / sum, Out: sigma * s / math.Sqrt(sum), In: 1 / math.Sqrt(sum),
		Noise: math.Log(sigma) / 4, Weight: sum / (sigma * s * sigma * s),
	}
}

func (p Precondition) sigmaData() float64 { return defaults.Fill(p).SigmaData }

// Check returns an error for a standard deviation that is not positive.
func (p Precondition) Check() error {
	if s := p.sigmaData(); !(s > 0) || math.IsInf(s, 0) {
		return fmt.Errorf("diffusion: the data's standard deviation is %v, want a positive number", p.SigmaData)
	}
	return nil
}

// Fill writes the network's input for the noisy image x: c_in x, then c_noise.
func (s Scales) Fill(dst, x []float32) {
	for j, v := range x {
		dst[j] = float32(s.In * float64(v))
	}
	dst[len(x)] = float32(s.Noise)
}

// Target writes the target of F for the noisy image x of y.
func (s Scales) Target(dst, x, y []float32) {
	for j, v := range x {
		dst[j] = float32((float64(y[j]) - float64(s.Skip*float64(v))) / s.Out)
	}
}

// Combine writes D for the noisy image x and the network's output f.
func (s Scales) Combine(dst, x, f []float32) {
	for j, v := range x {
		dst[j] = float32(float64(s.Skip*float64(v)) + float64(s.Out*float64(f[j])))
	}
}
