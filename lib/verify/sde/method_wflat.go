package sde

import (
	"math/rand/v2"
	"slices"
)

// FlatWasserstein is a competitor: the W1 distance of all activations of a set as one sample of
// numbers, whichever record and coordinate they come from. It is the result of a one-dimensional
// Wasserstein routine on flattened arrays. 0 is equal samples; units are those of the activations.
type FlatWasserstein struct{}

var _ Method = FlatWasserstein{}

// Name implements Method.
func (FlatWasserstein) Name() string { return "wasserstein-flat" }

// About implements Method.
func (FlatWasserstein) About() string {
	return "Wasserstein-1 distance of all values as one sample"
}

// Prepare implements Method.
func (FlatWasserstein) Prepare(pool *Pool, refs References, opt Options) (*Prepared, error) {
	if _, err := validatePool(pool, refs, opt); err != nil {
		return nil, err
	}
	a, b := slices.Sorted(slices.Values(refs.In.Data)), slices.Sorted(slices.Values(refs.Out.Data))
	return &Prepared{Compare: func(rows []int, _ *rand.Rand) Distances {
		x := pool.values(rows)
		slices.Sort(x)
		return Distances{In: wasserstein(x, a), Out: wasserstein(x, b)}
	}}, nil
}

// values returns all activations of the given records.
func (p *Pool) values(rows []int) []float64 {
	out := make([]float64, 0, len(rows)*p.cloud.m.Cols)
	for _, r := range rows {
		for k, v := range p.cloud.m.Row(r) {
			out = append(out, v+p.cloud.mean[k])
		}
	}
	return out
}
