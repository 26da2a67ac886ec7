package sde

import (
	"math"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
)

// Projections is the number of directions of SlicedWasserstein.
const Projections = 128

// SlicedWasserstein is a competitor from the paper's table 3, which says only "Wasserstein
// distance". For hundreds of dimensions we take the sliced W1: the mean over 128 random unit
// directions, always the same ones, of the W1 distance between the projections. 0 is equal sets;
// units are those of the activations.
type SlicedWasserstein struct{}

var _ Method = SlicedWasserstein{}

// Name implements Method.
func (SlicedWasserstein) Name() string { return "wasserstein-sliced" }

// About implements Method.
func (SlicedWasserstein) About() string {
	return "Wasserstein-1 distance, mean over 128 fixed projections"
}

// Prepare implements Method.
func (SlicedWasserstein) Prepare(pool *Pool, refs References, opt Options) (*Prepared, error) {
	if _, err := validatePool(pool, refs, opt); err != nil {
		return nil, err
	}
	along := directions(refs.In.Cols)
	a, b := pool.cloud.shift(refs.In), pool.cloud.shift(refs.Out)
	l := &lines{products(&along, &pool.cloud.m, 0), products(&along, &a, 0), products(&along, &b, 0)}
	l.sortReferences()
	return &Prepared{Compare: func(rows []int, _ *rand.Rand) Distances { return l.compare(rows) }}, nil
}

// directions returns independent unit vectors, uniform on the sphere.
func directions(dim int) Matrix {
	rng, out := rand.New(rand.NewPCG(0x51ed, uint64(dim))), array.New[float64](Projections, dim)
	for i := range Projections {
		row, squared := out.Row(i), 0.0
		for k := range row {
			row[k] = rng.NormFloat64()
			squared += float64(row[k] * row[k])
		}
		for k := range row {
			row[k] /= math.Sqrt(squared)
		}
	}
	return out
}
