// The InfoNCE lower bound.

package information

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/stats"
)

// InfoNCE is a lower bound from how well a critic tells a pair from K negatives (van den
// Oord et al. 2018),
//
//	I(X; Y) >= E[log exp T(x, y) / mean over k = 0 ... K of exp T(x, y_k)],  y_0 = y
//
// on held-out pairs, with K = 15. It varies less between critics than MINE and is at most
// log(K + 1) = 2.77 nats. The training is that of [Learning].
//
// In nats; null 0; lower means that less was found. The interval is over held-out records,
// for the given critic.
//
// Differences from the paper: 1. Negatives are drawn from all pairs, not from the batch. 2.
// Critic, held-out pairs and the choice of the epoch are those of MINE.
type InfoNCE struct {
	Learning
	Negatives int `json:"strangers,omitempty"` // 0: 15
}

var _ Estimator = InfoNCE{}

// Name implements Estimator.
func (InfoNCE) Name() string { return "infonce" }

// About implements Estimator.
func (InfoNCE) About() string { return "how well a critic tells held-out pairs from negatives" }

// Estimate implements Estimator. It needs at least ten times Negatives + 1 pairs.
func (m InfoNCE) Estimate(ctx context.Context, e *engine.Engine, p Pairs, seed engine.Root) (*Reading, error) {
	k := cmp.Or(m.Negatives, 15)
	if k < 1 {
		return nil, fmt.Errorf("information: %s: %d negatives", m.Name(), k)
	}
	if err := p.check(m, minPairs(k)); err != nil {
		return nil, err
	}
	ctx, task := progress.Start(ctx, m.Name(), 0)
	defer task.Done()
	out, err := m.learn(ctx, e, p, bound{loss.InfoNCE{}, k, k, infoNCEBound}, seed)
	if err != nil {
		return nil, fmt.Errorf("information: %s: %w", m.Name(), err)
	}
	return out, nil
}

// infoNCEBound returns the bound as a mean over records.
func infoNCEBound(scores array.Matrix[float32], _ [][]int) stats.Estimate {
	each := make([]float64, scores.Rows)
	for i := range each {
		row := array.Convert[float64](array.Matrix[float32]{Rows: 1, Cols: scores.Cols, Data: scores.Row(i)}).Data
		each[i] = row[0] - logMeanExp(row)
	}
	return stats.MeanInterval(each, 0.95, "records")
}
