// The training loss of a denoiser.

package diffusion

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// EDM is the training loss of a denoiser D and the noise that it is trained with (Karras et
// al. 2022, equation 8, table 1). In every epoch it draws for an image y a noise level
// sigma = exp(Mean + Spread z), with z standard normal, and the noisy image y + sigma n.
// The loss is
//
//	sum over pixels of (sigma^2 + s^2)/(sigma s)^2 (D(y + sigma n, sigma) - y)^2
//
// whose weight makes it the squared error of the network against its target; see
// Precondition. Divided by the number of pixels (a matter of the term's weight) it starts
// near 1, where the network is 0. The noise of a record follows from seed, epoch and
// number.
//
// As a train.NoiseAugmenter it turns a row of pixels between -1 and 1 into the input of a
// UNet.
type EDM struct {
	Mean      *float64     `json:"p_mean,omitempty" default:"-1.2"` // of ln sigma, as in EDM
	Spread    float64      `json:"p_std,omitempty" default:"1.2"`   // of ln sigma, as in EDM
	Condition Precondition `json:"condition"`
	Seed      engine.Root  `json:"seed"`
}

var _ loss.Loss = EDM{}

// innerLoss is the loss of the network F.
var innerLoss = loss.SquaredError{}

// Name implements loss.Loss.
func (EDM) Name() string { return "edm" }

// About implements loss.Loss.
func (EDM) About() string { return "a denoiser: EDM's weighted squared error over noise levels" }

// Inputs implements loss.Loss.
func (EDM) Inputs(outputs map[string]int) (map[string]int, error) { return innerLoss.Inputs(outputs) }

// Graph implements loss.Loss.
func (EDM) Graph(g loss.Batch) loss.Value { return innerLoss.Graph(g) }

// Check implements loss.Loss.
func (l EDM) Check(map[string]array.Matrix[float32]) error {
	l = defaults.Fill(l)
	if s := l.Spread; !(s > 0) || math.IsInf(s, 0) || math.IsNaN(*l.Mean) || math.IsInf(*l.Mean, 0) {
		return fmt.Errorf("ln sigma with mean %v and standard deviation %v", *l.Mean, s)
	}
	return l.Condition.Check()
}

// Widths implements train.NoiseAugmenter.
func (EDM) Widths(pixels int) (record int, inputs map[string]int) {
	return pixels + 1, map[string]int{loss.Target: pixels}
}

// Augment implements train.NoiseAugmenter.
func (l EDM) Augment(dst, src []float32, epoch, id int) error {
	return l.Corrupt(dst, map[string][]float32{loss.Target: make([]float32, len(src))}, src, epoch, id)
}

// Corrupt implements train.NoiseAugmenter.
func (l EDM) Corrupt(dst []float32, in map[string][]float32, y []float32, epoch, id int) error {
	l = defaults.Fill(l)
	rng, x := l.Seed.Stream(engine.StreamNoise, uint64(epoch), uint64(id)), make([]float32, len(y))
	sigma := math.Exp(*l.Mean + float64(l.Spread*rng.NormFloat64()))
	for j, v := range y {
		x[j] = float32(float64(v) + float64(sigma*rng.NormFloat64()))
	}
	s := l.Condition.ScalesAt(sigma)
	s.Fill(dst, x)
	s.Target(in[loss.Target], x, y)
	return nil
}
