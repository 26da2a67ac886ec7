package sde

import "math/rand/v2"

// CoordinateWasserstein is a competitor: the mean over coordinates of the W1 distance of each
// coordinate. It depends on marginals only. 0 is equal marginals; units are those of the
// activations.
type CoordinateWasserstein struct{}

var _ Method = CoordinateWasserstein{}

// Name implements Method.
func (CoordinateWasserstein) Name() string { return "wasserstein-coordinates" }

// About implements Method.
func (CoordinateWasserstein) About() string {
	return "Wasserstein-1 distance, mean over the coordinates"
}

// Prepare implements Method.
func (CoordinateWasserstein) Prepare(pool *Pool, refs References, opt Options) (*Prepared, error) {
	if _, err := validatePool(pool, refs, opt); err != nil {
		return nil, err
	}
	a, b := pool.cloud.shift(refs.In), pool.cloud.shift(refs.Out)
	l := &lines{pool.cloud.m.Transpose(), a.Transpose(), b.Transpose()}
	l.sortReferences()
	return &Prepared{Compare: func(rows []int, _ *rand.Rand) Distances { return l.compare(rows) }}, nil
}
