// Mutual information neural estimation (MINE).

package information

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/stats"
)

// MINE is mutual information neural estimation (Belghazi et al., ICML 2018). A critic T of
// pairs maximises the bound of Donsker and Varadhan,
//
//	I(X; Y) >= E[T(x, y)] - log E'[exp T(x, y')]
//
// with the gradient of the logarithm from a moving average (their section 3.2). The value
// is the bound on held-out pairs with ten negatives each. The zero value has the settings
// of [Learning]: two layers of 64 units, at most 200 epochs of Adam at 0.001 in batches of
// 256, patience 20.
//
// In nats; null 0; lower means that less was found. The interval is over held-out records
// for the given critic: it covers the bound that this critic reaches, not the mutual
// information above it. With many dimensions and few records the critic overfits (see
// Training) and the value is near 0 or below. The logarithm of a mean over few records is
// too small on average, which raises the value by about the variance of exp(T - log m) over
// twice their number.
//
// Differences from the paper: 1. The value is on held-out pairs; the paper reports the
// bound on training batches. 2. The epoch is chosen on a validation set.
type MINE struct{ Learning }

var _ Estimator = MINE{}

// Name implements Estimator.
func (MINE) Name() string { return "mine" }

// About implements Estimator.
func (MINE) About() string { return "a critic's Donsker-Varadhan bound on held-out pairs" }

// Estimate implements Estimator. It needs 50 pairs.
func (m MINE) Estimate(ctx context.Context, e *engine.Engine, p Pairs, seed engine.Root) (*Reading, error) {
	if err := p.check(m, minPairs(1)); err != nil {
		return nil, err
	}
	ctx, task := progress.Start(ctx, m.Name(), 0)
	defer task.Done()
	out, err := m.learn(ctx, e, p, bound{loss.DonskerVaradhan{}, 1, 10, donskerVaradhan}, seed)
	if err != nil {
		return nil, fmt.Errorf("information: %s: %w", m.Name(), err)
	}
	return out, nil
}

// donskerVaradhan returns the bound with an interval over records from its linearisation.
// Of record k it adds
//
//	T_k - log m - (mean over its negatives of exp T)/m - (mean over those it is a negative of)/m + 2
//
// whose mean over records is the bound.
func donskerVaradhan(scores array.Matrix[float32], negatives [][]int) stats.Estimate {
	n, count := scores.Rows, float64(len(negatives))
	var all []float64
	for i := range n {
		for _, v := range scores.Row(i)[1:] {
			all = append(all, float64(v))
		}
	}
	m, each := logMeanExp(all), make([]float64, n)
	for i := range n {
		row := scores.Row(i)
		each[i] += float64(row[0]) - m + 2
		for k, of := range negatives {
			ratio := math.Exp(float64(row[1+k])-m) / count
			each[i] -= ratio
			each[of[i]] -= ratio
		}
	}
	return stats.MeanInterval(each, 0.95, "records")
}

// logMeanExp returns the logarithm of the mean of exp.
func logMeanExp(values []float64) float64 {
	top := slices.Max(values)
	var sum float64
	for _, v := range values {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum/float64(len(values)))
}
