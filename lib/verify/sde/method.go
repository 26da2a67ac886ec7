package sde

import (
	"errors"
	"math/rand/v2"
)

// Method tells which of two references target sets are closer to: a row of the comparison tables.
// Methods lists those of this package; their zero values are ready for use.
type Method interface {
	// Name is short and stable: rows, columns and files are named by it.
	Name() string
	// About says in one sentence what is compared.
	About() string
	// Prepare computes what all subsets of a pool share.
	Prepare(pool *Pool, refs References, opt Options) (*Prepared, error)
}

// Prepared is a method after Prepare.
type Prepared struct {
	// Compare returns the distances of the given records of the pool to both references. It may be
	// called from several goroutines; rng belongs to this call, and methods without randomness
	// ignore it. The order of the records decides the halves.
	Compare func(rows []int, rng *rand.Rand) Distances
	// Gate is nil for methods without one.
	Gate *Gate
}

// Methods returns SDE, its competitors (the paper's table 3) and our controls,
// in the order of the tables.
func Methods() []Method {
	return []Method{
		SDE{}, MMD{}, SlicedWasserstein{}, CoordinateWasserstein{}, FlatWasserstein{},
		SpreadOnly{}, ClosedForm{},
	}
}

// validatePool checks everything that a method relies on and returns the bandwidth.
func validatePool(pool *Pool, refs References, opt Options) (sigma float64, err error) {
	if pool == nil {
		return 0, errors.New("sde: the pool of targets is missing")
	}
	if sigma, err = opt.validate(refs); err != nil {
		return 0, err
	}
	return sigma, checkWidth(pool.name, &pool.cloud.m, "in-training", refs.In)
}
