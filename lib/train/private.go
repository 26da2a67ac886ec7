package train

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/privacy"
)

// Private makes a training differentially private: DP-SGD (Abadi et al. 2016). An
// epoch has as many steps, k, as sweeping the n records in batches of Config.Batch
// takes. Every record enters every step's batch B on its own with probability q = 1/k
// (Poisson sampling), so that batches are of any size, and the gradient that the
// optimiser sees is
//
//	1/(q n) ( sum over i in B of g_i min(1, Norm / ||g_i||) + Noise Norm z ),  z standard normal
//
// with g_i the record's own gradient over all weights: clipped first, and noise added
// once, to the sum. An empty batch is a step of noise alone. What is divided by is the
// size to be expected; the batch's own would tell who is in it. Without batches q is 1
// and B is everything. No record's gradient is formed.
//
// What an epoch's steps have said of any record, with those before them, is in
// Epoch.Privacy, and so in every saved state: epsilon at any delta follows from that.
// Work that a stop has lost is done again with the same bits and says nothing new.
//
// A record is a row of the objective: whoever has two rows is protected half as well.
// The number of records is taken to be known. Everything else that looks at the
// records lies outside the accounting: a Validation on them, a Mask or a setting that
// was chosen by them, and the losses of the epochs, which are not noised.
//
// The noise is as good as a test of methods needs, no better. It is ChaCha8 under a
// hash of the training's seed: who knows the seed can take the noise off again. Norms
// are float32, so that a clipped gradient may be longer than Norm by a few millionths,
// and the low bits of floating-point noise are known to leak (Mironov 2012).
type Private struct {
	Norm  float64 // the longest gradient of a record
	Noise float64 // standard deviation in units of Norm; 0: none, records are clipped and nothing is private
}

// check reports a plan that cannot be private, or would not be although it looks so.
func (p *Private) check(a model.Architecture, plan Plan, c Config) error {
	switch {
	case p == nil:
		return nil
	case !(p.Norm > 0) || math.IsInf(p.Norm, 1) || !(p.Noise >= 0) || math.IsInf(p.Noise, 1):
		return fmt.Errorf("train: records' gradients are clipped to %v with noise %v", p.Norm, p.Noise)
	case model.HasBatchStats(a):
		return fmt.Errorf("train %s: private training needs every record's own gradient, and this network mixes the records of a batch", a.Name())
	case plan.Game != nil || plan.Combiner != nil:
		return fmt.Errorf("train: private training is accounted for one player and one objective; this plan has a game or a mixer")
	case c.DropLast:
		return fmt.Errorf("train: private training draws its own batches, of which none is the last to be left out")
	case c.Order != Shuffled:
		return fmt.Errorf("train: private training draws its own batches; the order %d is asked for", c.Order)
	case c.EarlyStop != EarlyStop{}:
		return fmt.Errorf("train: stopping early or keeping the best epoch looks at the training records, which private training does not account for")
	}
	return nil
}

// sample draws the batches of an epoch's steps.
func (p *Private) sample(c Config, o Objective, epoch int) ([][]batch, error) {
	if len(o) != 1 || o[0].Whole {
		return nil, fmt.Errorf("train: private training needs an objective of one term that is swept, this one has %d terms or a whole one", len(o))
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

// scaleAndAddNoise turns a turn's sum over clipped records into what the optimiser sees.
func (p *Private) scaleAndAddNoise(s *gradientSum, t update, step uint64) {
	if p == nil {
		return
	}
	if p.Noise > 0 {
		p.noise(s.grads, t.seed, step)
	}
	expected := t.rate * float64(t.objective[0].X.Rows)
	scale(s.grads, 1/expected)
	s.loss /= expected
}

// noiseBlock is the number of elements that share a stream of noise.
const noiseBlock = 1 << 14

// noise adds the noise of a step. A block's noise follows from its place, so that
// cores do not matter.
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

// recordStep writes down what a turn has said.
func (p *Private) recordStep(h privacy.History, t update) privacy.History {
	if p == nil || p.Noise == 0 {
		return h
	}
	return h.Add(privacy.Step{Rate: t.rate, Noise: p.Noise, Times: 1})
}

// checkAccounting reports a saved state whose accounts are not those of the plan.
func (p *Private) checkAccounting(s *State) error {
	if p == nil || p.Noise == 0 {
		if n := s.Privacy().Steps(); n > 0 {
			return fmt.Errorf("%d of its steps are accounted for as private; going on without noise would void them", n)
		}
		return nil
	}
	if n := s.Privacy().Steps(); n != s.steps() {
		return fmt.Errorf("%d of its %d steps are accounted for as private", n, s.steps())
	}
	return nil
}
