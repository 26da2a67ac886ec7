// MINE as in BlindU's program.

package information

import (
	"context"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
)

// CodedMINE is what BlindU's program computes as mutual information. Its negatives are
// noise from N(0, I) instead of the y of other pairs, so that it estimates
//
//	KL(p(x, y) || p(x) N(0, I)) = I(X; Y) + KL(p(y) || N(0, I))
//
// For rows that do not belong together only the second term is left; this is the program's
// case, which shuffles both sides independently. The critic has LeakyReLU on its output
// too. The value is, on the last training batch,
//
//	mean T(x, y) - (et/m) log et,  et = mean exp T(x, y')
//
// with m the moving average; it is the bound only where et = m. It is of one batch of 20,
// in nats, without an interval: repeat it with other seeds. The zero value is the setting
// for MNIST: 300 steps of Adam at 0.0002, a moving average with rate 0.001. y is not
// standardised: its scale matters.
//
// Differences from the program: 1. The average starts at 1 instead of at the first batch's
// value; FromFirst starts it there. 2. A value below 0 is kept; the program trains again.
// 3. Every step draws a new batch; the program sweeps over the data. 4. See [Critic].
type CodedMINE struct {
	Hidden []int   `json:"hidden,omitempty"` // units of the critic's layers; nil: 128, 128
	Steps  int     `json:"steps,omitempty" default:"300"`
	Batch  int     `json:"batch,omitempty" default:"20"`
	LR     float64 `json:"lr,omitempty" default:"2e-4"`
	// FromFirst starts the average at the critic's value for the first negatives of all
	// pairs, which is the first batch's value where a batch is all pairs.
	FromFirst bool `json:"from_first,omitempty"`
}

var _ Estimator = CodedMINE{}

// Name implements Estimator.
func (CodedMINE) Name() string { return "mine-as-coded" }

// About implements Estimator.
func (CodedMINE) About() string {
	return "BlindU's program: noise as negatives, the value of the last training batch"
}

// Estimate implements Estimator. It needs at least a batch of pairs.
func (m CodedMINE) Estimate(ctx context.Context, e *engine.Engine, p Pairs, seed engine.Root) (*Reading, error) {
	m = defaults.Fill(m)
	if m.Steps < 2 {
		return nil, fmt.Errorf("information: %s: %d updates, at least 2 are needed", m.Name(), m.Steps)
	}
	if err := p.check(m, m.Batch); err != nil {
		return nil, err
	}
	ctx, task := progress.Start(ctx, m.Name(), 0)
	defer task.Done()
	value, err := m.value(ctx, e, p, seed)
	if err != nil {
		return nil, fmt.Errorf("information: %s: %w", m.Name(), err)
	}
	out := newReading(stats.MeanInterval([]float64{value}, 0.95, "batches"))
	out.Epochs = m.Steps
	return out, nil
}

// value returns the value of the last step, before the weights move.
func (m CodedMINE) value(ctx context.Context, e *engine.Engine, p Pairs, seed engine.Root) (float64, error) {
	r, w, err := m.train(ctx, e, p, seed)
	if err != nil {
		return math.NaN(), err
	}
	rng := seed.Stream(engine.StreamNegatives, 2)
	rows := rng.Perm(p.X.Rows)[:m.Batch]
	return codedValue(r, w, p.gather(rows), array.Normal(rng, m.Batch, p.Y.Cols, 1))
}

// train takes all steps but the last.
func (m CodedMINE) train(ctx context.Context, e *engine.Engine, p Pairs, seed engine.Root) (*model.Runner, nn.Params, error) {
	critic := Critic{X: p.X.Cols, Y: p.Y.Cols, Hidden: m.Hidden, Coded: true}
	arch := network{defaults.Fill(Normalised{critic, 1e-3}), 1}
	r, err := model.NewRunner(e, arch)
	if err != nil {
		return nil, nil, err
	}
	// An epoch of one step uses a new batch.
	plan := train.Plan{Game: &train.Game{Steps: 1, Players: []train.Player{{Name: "critic", Objective: noiseObjective(p, seed)}}}}
	c := train.Config{Epochs: m.Steps - 1, Batch: m.Batch, Optimizer: nn.Adam{LR: m.LR}, Seed: seed}
	begin := model.InitialWeights(arch, seed.Stream(engine.StreamInit))
	if m.FromFirst {
		if begin[len(begin)-1].Data[0], err = firstLogMean(r, begin, noiseObjective(p, seed)[0]); err != nil {
			return nil, nil, err
		}
	}
	w, _, err := train.FitPlan(ctx, r, begin, plan, c, train.Hooks{})
	return r, w, err
}

// firstLogMean returns the logarithm of the mean of exp T over the negatives of the first
// epoch.
func firstLogMean(r *model.Runner, w nn.Params, pairs train.Term) (float32, error) {
	x := array.New[float32](pairs.X.Rows, pairs.X.Cols)
	for i := range x.Rows {
		if err := pairs.Augment.Augment(x.Row(i), pairs.X.Row(i), 0, i); err != nil {
			return 0, err
		}
	}
	found, err := r.Predict(w, x)
	if err != nil {
		return 0, err
	}
	mean, scores := 0.0, found.Outputs[loss.PairScores]
	for i := range scores.Rows {
		mean += math.Exp(float64(scores.Row(i)[1])) / float64(scores.Rows)
	}
	return float32(math.Log(mean)), nil
}

// noiseObjective returns the bound with noise as negatives.
func noiseObjective(p Pairs, seed engine.Root) train.Objective {
	return train.Objective{{
		Name: "pairs", X: codedRecords(p, array.New[float64](p.X.Rows, p.Y.Cols)), Targets: []train.Target{{Loss: loss.DonskerVaradhan{}, Weight: 1}},
		Augment: train.AugmentFunc(func(dst, src []float32, epoch, id int) error {
			own := copy(dst, src) - p.Y.Cols
			rng := seed.Stream(engine.StreamNegatives, 0, uint64(epoch), uint64(id))
			for j := range p.Y.Cols {
				dst[own+j] = float32(rng.NormFloat64())
			}
			return nil
		}),
	}}
}

// codedRecords returns records of x, y and one negative.
func codedRecords(p Pairs, negatives array.Matrix[float64]) array.Matrix[float32] {
	out := array.New[float32](p.X.Rows, p.X.Cols+2*p.Y.Cols)
	for i := range out.Rows {
		appendValues(appendValues(appendValues(out.Row(i), p.X.Row(i)), p.Y.Row(i)), negatives.Row(i))
	}
	return out
}

// codedValue returns the program's value on a batch; its negatives move the average first.
func codedValue(r *model.Runner, w nn.Params, p Pairs, negatives array.Matrix[float64]) (float64, error) {
	found, err := r.Predict(w, codedRecords(p, negatives))
	if err != nil {
		return math.NaN(), err
	}
	scores, logMean := found.Outputs[loss.PairScores], float64(w[len(w)-1].Data[0])
	var mean, et float64
	for i := range scores.Rows {
		s := scores.Row(i) // relative to the average
		mean += (float64(s[0]) + logMean) / float64(scores.Rows)
		et += math.Exp(float64(s[1])+logMean) / float64(scores.Rows)
	}
	m := math.Exp(logMean)
	m += float64(r.Arch.(network).Rate * (et - m))
	return mean - math.Log(et)*et/m, nil
}
