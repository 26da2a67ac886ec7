package sde

import (
	"math"
	"math/rand/v2"
)

// SpreadOnly is a control of ours: no halves, no pairs, no permutations. The spread of a set of n
// activations is the variance in the kernel's feature space,
//
//	tr(Kc)/(n-1) = sum over i != j of (1 - k(x_i, x_j)) / (n(n-1)),
//
// which lies between 0 and 1. The distance to a reference is the absolute difference of the
// spreads. It does not depend on any dependence between records. If its verdicts are SDE's, SDE has
// measured spread.
type SpreadOnly struct{}

var _ Method = SpreadOnly{}

// Name implements Method.
func (SpreadOnly) Name() string { return "spread-only" }

// About implements Method.
func (SpreadOnly) About() string {
	return "difference of the sets' variances in the kernel's feature space"
}

// Prepare implements Method.
func (SpreadOnly) Prepare(pool *Pool, refs References, opt Options) (*Prepared, error) {
	sigma, err := validatePool(pool, refs, opt)
	if err != nil {
		return nil, err
	}
	spreadIn, spreadOut := spread(newCloud(refs.In).kernel(sigma, 0)), spread(newCloud(refs.Out).kernel(sigma, 0))
	return &Prepared{Compare: func(rows []int, _ *rand.Rand) Distances {
		s := spread(pool.kernel(rows, sigma, 1))
		return Distances{In: math.Abs(s - spreadIn), Out: math.Abs(s - spreadOut)}
	}}, nil
}

// spread returns the spread of a kernel matrix minus one.
func spread(k Matrix) float64 { return -sum(rowMeans(&k)) / float64(k.Rows-1) }

// Spread returns tr(Kc)/(n-1) of a set of activations: see SpreadOnly. It
// refuses fewer than 2 rows and values that are not finite.
func Spread(m *Matrix, b Bandwidth) (float64, error) {
	if err := check("given", m, 2); err != nil {
		return 0, err
	}
	sigma, err := b.Resolve(m)
	if err != nil {
		return 0, err
	}
	return spread(newCloud(m).kernel(sigma, 0)), nil
}
