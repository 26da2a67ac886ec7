// Logistic regression with a ridge penalty as an attacker, by default with scikit-learn's C = 1.

package learned

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Logistic is logistic regression with a ridge penalty on the weights, not on the intercept, as in
// stats.Logistic; the score is w.x + b. The zero value is scikit-learn's (C = 1). It draws no
// random numbers and needs standardised features.
type Logistic struct {
	Ridge float64 `json:"ridge,omitempty"` // 0: 1
}

var _ Attacker = Logistic{}

// Name implements Attacker.
func (Logistic) Name() string { return "logistic" }

// About implements Attacker.
func (Logistic) About() string { return "logistic regression on features" }

// Fit implements Attacker.
func (a Logistic) Fit(ctx context.Context, _ *engine.Engine, known Records, _ engine.Root) (Scorer, error) {
	if err := known.Check(); err != nil {
		return nil, err
	}
	all := known.stacked()
	x, members := make([][]float64, all.Rows), make([]bool, all.Rows)
	for i := range x {
		x[i], members[i] = all.Row(i), i < known.Members.Rows
	}
	w, err := stats.Logistic(ctx, x, members, cmp.Or(a.Ridge, 1))
	if err != nil {
		return nil, fmt.Errorf("learned: %w", err)
	}
	return linear(w), nil
}

func linear(w stats.Linear) Scorer {
	return func(x array.Matrix[float64]) ([]float64, error) {
		if x.Cols != len(w)-1 {
			return nil, fmt.Errorf("learned: %d features, the attacker has learned on %d", x.Cols, len(w)-1)
		}
		out := make([]float64, x.Rows)
		for i := range out {
			out[i] = w.At(x.Row(i))
		}
		return out, nil
	}
}
