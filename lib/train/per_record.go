// Squared gradients and norms per record: the diagonal and trace of the Fisher information.

package train

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// SquaredGradients returns the mean over an objective's records of the elementwise square
// of each record's gradient, in the form of Gradient. This is the diagonal of the empirical
// Fisher information. No gradient of a single record is formed in memory. The objective
// must have one term. For a network that mixes records the error names a weight.
func SquaredGradients(ctx context.Context, r *model.Runner, p nn.Params, o Objective, m Mode) ([][]float64, error) {
	if err := oneTerm(o); err != nil {
		return nil, err
	}
	total := newGradientSum(p)
	err := eachBatch(ctx, r, p, o, sequentialBatches(o, 0), m, wantSquares, func(squares [][]float64, _ batch) { total.add(gradientSum{grads: squares}) })
	if err != nil {
		return nil, err
	}
	scale(total.grads, 1/float64(o[0].X.Rows))
	return total.grads, nil
}

// EachSquaredGradients is SquaredGradients for several groups of an objective's records,
// which may overlap. It calls each with the mean over group k. The values are valid during
// the call only.
func EachSquaredGradients(ctx context.Context, r *model.Runner, p nn.Params, o Objective, groups [][]int, m Mode, each func(k int, squares [][]float64)) error {
	if err := oneTerm(o); err != nil {
		return err
	}
	var batches []batch
	for k, rows := range groups {
		if err := checkGroup(k, rows, o[0].X.Rows); err != nil {
			return err
		}
		batches = append(batches, batch{rows: rows})
	}
	k := 0
	return eachBatch(ctx, r, p, o, batches, m, wantSquares, func(squares [][]float64, b batch) {
		scale(squares, 1/float64(len(b.rows)))
		each(k, squares)
		k++
	})
}

func checkGroup(k int, rows []int, records int) error {
	if len(rows) == 0 {
		return fmt.Errorf("train: group %d of the records is empty", k)
	}
	for _, i := range rows {
		if i < 0 || i >= records {
			return fmt.Errorf("train: group %d of the records has record %d of %d", k, i, records)
		}
	}
	return nil
}

// BatchSquaredGradients returns
//
//	1/n sum over batches b of (sum over the records i of b of g_i)^2
//
// for an objective's n records in order, in batches of at most batchSize (0: one batch), in
// the form of Gradient. It is what the code of "Fishing for Privacy" calls Fisher
// information. For independent gradients with mean m and variance v it is about v + B m^2
// with B records per batch; the Fisher information (SquaredGradients) is v + m^2.
func BatchSquaredGradients(ctx context.Context, r *model.Runner, p nn.Params, o Objective, batchSize int, m Mode) ([][]float64, error) {
	if err := oneTerm(o); err != nil {
		return nil, err
	}
	total, n := newGradientSum(p), float64(o[0].X.Rows)
	err := EachGradient(ctx, r, p, o, batchSize, m, func(grads [][]float64, records int) {
		for i, g := range grads {
			for j, v := range g {
				s := v * float64(records)
				total.grads[i][j] += s * s / n
			}
		}
	})
	return total.grads, err
}

// GradientNorms returns the Euclidean norm of each record's gradient, in the order of the
// objective's records. The mean of their squares is the trace of the Fisher information.
// The objective must have one term.
func GradientNorms(ctx context.Context, r *model.Runner, p nn.Params, o Objective, m Mode) ([]float64, error) {
	if err := oneTerm(o); err != nil {
		return nil, err
	}
	out := make([]float64, o[0].X.Rows)
	err := eachBatch(ctx, r, p, o, sequentialBatches(o, 0), m, func(g *gradients) { g.norms = out }, func([][]float64, batch) {})
	return out, err
}

func wantSquares(g *gradients) { g.squares = true }

func oneTerm(o Objective) error {
	if len(o) != 1 {
		return fmt.Errorf("train: gradients per record need an objective of one term, this one has %d", len(o))
	}
	return nil
}
