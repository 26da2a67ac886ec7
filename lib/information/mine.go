package information

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/stats"
)

// MINE is mutual information neural estimation (Belghazi et al., ICML 2018): a critic T
// of pairs goes up Donsker and Varadhan's bound,
//
//	I(X; Y) >= E[T(x, y)] - log E'[exp T(x, y')]
//
// with the gradient of the logarithm by a moving average (their section 3.2), and the
// value is the bound on held-out pairs, each with ten strangers. The zero value is the
// setting of [Learning]: two layers of 64 units, at most 200 epochs of Adam at 0.001 in
// batches of 256, patience 20.
//
// In nats; null 0; lower says that less can be found. The interval is over held-out
// records with the critic given, so it is about the bound that this critic reaches and
// not about the mutual information above it: for many dimensions and few records the
// critic learns by heart (Training says how much) and the value is near 0 or below it.
// The logarithm of a mean over few records is too small on average, which raises the
// value: by about the variance of exp(T - log m) over twice their number.
//
// Differs from the paper: 1. The value is on pairs that the critic was not trained on;
// the paper reports the bound on training batches. 2. The epoch is chosen by further
// pairs.
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
	out, err := m.learn(ctx, e, p, bound{loss.DonskerVaradhan{}, 1, 10, donskerVaradhan}, seed)
	if err != nil {
		return nil, fmt.Errorf("information: %s: %w", m.Name(), err)
	}
	return out, nil
}

// donskerVaradhan is the bound, with an interval over records by its linear part: what
// record k adds as itself, as an x among strangers and as a stranger,
//
//	T_k - log m - (mean over its strangers of exp T)/m - (mean over those it is a stranger to)/m + 2
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

// logMeanExp is the logarithm of the mean of exp.
func logMeanExp(values []float64) float64 {
	top := slices.Max(values)
	var sum float64
	for _, v := range values {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum/float64(len(values)))
}
