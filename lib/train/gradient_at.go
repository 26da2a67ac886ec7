// Gradients of an objective at given weights, batch by batch or summed, in either mode.

package train

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Mode says whether a gradient is computed in training or inference mode. The zero value is
// inference: no dropout, normalisation by running statistics, which do not change. In
// training mode Seed draws the random inputs, and normalisations use the statistics of each
// batch.
type Mode struct {
	Training bool        `json:"training,omitempty"`
	Seed     engine.Root `json:"seed,omitempty"`
}

// Gradient returns the gradient of the objective at the weights p in float64: one slice
// per tensor, nil for a tensor that is state. Every term is cut, in the order of its
// records, into batches of at most batchSize records (0: one batch). The result is the sum
// over the batches of the gradient of the batch's mean. With batchSize 0 it is the
// gradient of the objective; otherwise a last, smaller batch has the same weight as the
// others, as in a sum over a PyTorch loader. Augmentation is that of epoch 0. A loss that
// is not finite is no error; its gradient is not finite either.
func Gradient(ctx context.Context, r *model.Runner, p nn.Params, o Objective, batchSize int, m Mode) ([][]float64, error) {
	total := newGradientSum(p)
	err := EachGradient(ctx, r, p, o, batchSize, m, func(grads [][]float64, _ int) { total.add(gradientSum{grads: grads}) })
	if err != nil {
		return nil, err
	}
	return total.grads, nil
}

// EachGradient is Gradient batch by batch. It calls each with the gradient of the batch's
// mean and the number of its records. The gradient is valid during the call only.
func EachGradient(ctx context.Context, r *model.Runner, p nn.Params, o Objective, batchSize int, m Mode, each func(grads [][]float64, records int)) error {
	if batchSize < 0 {
		return fmt.Errorf("train: batches of %d", batchSize)
	}
	ask := func(*gradients) {}
	return eachBatch(ctx, r, p, o, sequentialBatches(o, batchSize), m, ask, func(grads [][]float64, b batch) { each(grads, b.size(o)) })
}

// eachBatch computes the gradient of every batch, or what ask configures instead.
func eachBatch(ctx context.Context, r *model.Runner, p nn.Params, o Objective, batches []batch, m Mode, ask func(*gradients),
	each func(grads [][]float64, b batch)) error {
	if err := checkRunner(r); err != nil {
		return err
	}
	if err := o.check(r.Arch); err != nil {
		return err
	}
	if err := r.CheckWeights(p); err != nil {
		return fmt.Errorf("train %s: %w", r.Arch.Name(), err)
	}
	g := newGradientsIn(r, m.Training)
	defer g.close()
	g.stop = ctx.Err
	ask(g)
	weights, err := model.Upload(r.Engine, p)
	if err != nil {
		return err
	}
	defer model.Finalize(weights)
	g.weights = weights
	_, task := progress.Start(ctx, "gradients", len(batches))
	defer task.Done()
	for t, b := range batches {
		key := func(term, layer int) uint64 {
			return m.Seed.Counter(engine.StreamDropout, uint64(t), uint64(term), uint64(layer))
		}
		got, _, err := g.step(p, o, []batch{b}, key)
		if err != nil {
			return err
		}
		each(got.grads, b)
		task.Add(1)
	}
	return nil
}

// sequentialBatches cuts every term into batches of consecutive records.
func sequentialBatches(o Objective, size int) []batch {
	var out []batch
	for k, t := range o {
		n := t.X.Rows
		if size == 0 {
			out = append(out, batch{term: k})
			continue
		}
		for first := 0; first < n; first += size {
			rows := make([]int, min(size, n-first))
			for i := range rows {
				rows[i] = first + i
			}
			out = append(out, batch{k, rows})
		}
	}
	return out
}
