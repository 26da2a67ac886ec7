// DP-SGD (Abadi et al. 2016): Poisson sampling, gradients clipped per record, noise, accounting.

package train

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/privacy"
)

// Private makes a training differentially private: DP-SGD (Abadi et al. 2016). An epoch
// has the number k of steps that n records in batches of Config.Batch need. Every record
// enters the batch B of every step independently with probability q = 1/k (Poisson
// sampling), so batch sizes vary. The optimiser gets the gradient
//
//	1/(q n) ( sum over i in B of g_i min(1, Norm / ||g_i||) + Noise Norm z ),  z standard normal
//
// where g_i is the gradient of record i over all weights. Each is clipped, and noise is
// added once, to the sum. An empty batch gives a step of noise alone. The divisor is the
// expected batch size, because the actual size depends on the records. Without batches q
// is 1 and B has all records. No gradient of a single record is formed in memory.
//
// The accumulated privacy loss is in Epoch.Privacy and in every saved state; epsilon at
// any delta follows from it. Steps that are repeated after a resume have the same bits and
// add no loss.
//
// A record is a row of the objective. A person with two rows has weaker protection. The
// number of records counts as public. The accounting does not cover other uses of the
// records: a Validation on them, a Mask or a setting chosen by them, and the losses of the
// epochs, which have no noise.
//
// The noise is meant for research. It is ChaCha8 with a hash of the training's seed:
// anyone who knows the seed can subtract the noise. Norms are float32, so a clipped
// gradient may exceed Norm by a few millionths, and the low bits of floating-point noise
// can leak (Mironov 2012).
type Private struct {
	Norm  float64 // maximal norm of a record's gradient
	Noise float64 // standard deviation in units of Norm; 0: clipping only, without privacy
}

// check returns an error for a plan whose training would not be private.
func (p *Private) check(a model.Architecture, plan Plan, c Config) error {
	switch {
	case p == nil:
		return nil
	case !(p.Norm > 0) || math.IsInf(p.Norm, 1) || !(p.Noise >= 0) || math.IsInf(p.Noise, 1):
		return fmt.Errorf("train: private training with norm %v and noise %v; the norm must be positive, the noise not negative", p.Norm, p.Noise)
	case model.HasBatchStats(a):
		return fmt.Errorf("train %s: private training needs the gradient of every record, and this network mixes the records of a batch", a.Name())
	case plan.Game != nil || plan.Combiner != nil:
		return fmt.Errorf("train: private training supports one player and one objective; this plan has a game or a gradient combiner")
	case c.DropLast:
		return fmt.Errorf("train: private training draws its own batches; drop_last does not apply")
	case c.Order != Shuffled:
		return fmt.Errorf("train: private training draws its own batches; order %d does not apply", c.Order)
	case c.EarlyStop != EarlyStop{}:
		return fmt.Errorf("train: early stopping and the best epoch depend on the training records, which the privacy accounting does not cover")
	}
	return nil
}

// sample draws the batches of an epoch's steps.
func (p *Private) sample(c Config, o Objective, epoch int) ([][]batch, error) {
	if len(o) != 1 || o[0].Whole {
		return nil, fmt.Errorf("train: private training needs an objective of one term that is not Whole; this one has %d terms or a Whole one", len(o))
	}
	steps := make([][]batch, c.StepsPerEpoch(o))
	if c.Batch == 0 {
		steps[0] = []batch{{}}
		return steps, nil
	}
	rate := 1 / float64(len(steps))
	for s := range steps {
		rng := c.Seed.Stream(engine.StreamPoisson, uint64(epoch), uint64(s))
		rows := []int{} // nil would be all
		for i := range o[0].X.Rows {
			if rng.Float64() < rate {
				rows = append(rows, i)
			}
		}
		steps[s] = []batch{{rows: rows}}
	}
	return steps, nil
}

// privateStep turns the sum of the records' clipped gradients into the gradient for the
// optimiser: what of private training is a transform.
type privateStep struct{ Private }

var _ GraphTransform = privateStep{}

// Transform implements GradientTransform.
func (p privateStep) Transform(s *GradientStep) error {
	if p.Noise > 0 {
		p.noise(s.Grads, s.Seed, uint64(s.Step))
	}
	scale(s.Grads, 1/s.records)
	s.Loss /= s.records
	return nil
}

// Graph implements GraphTransform. The noise comes from the host, from a stream that a graph
// cannot draw.
func (p privateStep) Graph(like nn.Params) GraphForm {
	out := GraphForm{Key: fmt.Sprint(p.Noise > 0), Arrays: map[string][]int{"scale": nil}}
	name := func(tensor int) string { return fmt.Sprint("noise", tensor) }
	for i, w := range like {
		if p.Noise > 0 && !w.State {
			out.Arrays[name(i)] = w.Shape
		}
	}
	out.Fill = func(s *GradientStep, arrays map[string][]float32) {
		arrays["scale"][0] = float32(1 / s.records)
		if p.Noise == 0 {
			return
		}
		noise := newGradientSum(like).grads
		p.noise(noise, s.Seed, uint64(s.Step))
		for i, v := range noise {
			kernels.Narrow(arrays[name(i)], v)
		}
	}
	out.Transform = func(s *GraphStep) {
		s.Change(func(i int, g *graph.Node) *graph.Node {
			if p.Noise > 0 {
				g = graph.Add(g, s.Arrays[name(i)])
			}
			return graph.Mul(g, s.Arrays["scale"])
		})
		s.Loss = graph.Mul(s.Loss, s.Arrays["scale"])
	}
	return out
}

// noiseBlock is the number of elements that share a stream of noise.
const noiseBlock = 1 << 14

// noise adds the noise of a step. The noise of a block depends on its position only, not on
// the number of cores.
func (p *Private) noise(grads [][]float64, seed engine.Root, step uint64) {
	std := p.Noise * p.Norm
	for i, g := range grads {
		array.Split(len(g), func(from, to int) {
			// The blocks that begin in the range, whole.
			for b := (from + noiseBlock - 1) / noiseBlock; b*noiseBlock < to; b++ {
				rng := seed.Stream(engine.StreamPrivacy, step, uint64(i), uint64(b))
				block := g[b*noiseBlock : min(len(g), (b+1)*noiseBlock)]
				for j := range block {
					block[j] += float64(std * rng.NormFloat64())
				}
			}
		})
	}
}

// recordStep adds the privacy loss of an update to the history.
func (p *Private) recordStep(h privacy.History, t update) privacy.History {
	if p == nil || p.Noise == 0 {
		return h
	}
	return h.Add(privacy.Step{Rate: t.rate, Noise: p.Noise, Times: 1})
}

// checkAccounting returns an error if the privacy history of a saved state does not fit the
// plan.
func (p *Private) checkAccounting(s *State) error {
	if p == nil || p.Noise == 0 {
		if n := s.Privacy().Steps(); n > 0 {
			return fmt.Errorf("%d of its steps are private; continuing without noise would end the guarantee", n)
		}
		return nil
	}
	if n := s.Privacy().Steps(); n != s.steps() {
		return fmt.Errorf("%d of its %d steps are private", n, s.steps())
	}
	return nil
}
