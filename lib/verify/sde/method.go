package sde

import (
	"errors"
	"math/rand/v2"
)

// Method tells target sets apart by which of two references they are nearer to:
// a row of the comparison tables. The methods of this package are Methods; their
// zero values are ready for use.
type Method interface {
	// Name is short and stable: it names rows, columns and files.
	Name() string
	// About says in one sentence what is compared.
	About() string
	// Prepare computes what all subsets of a pool share.
	Prepare(pool *Pool, refs References, opt Options) (*Prepared, error)
}

// Prepared is a method that has seen the references.
type Prepared struct {
	// Compare returns the distances of the named records of the pool to both
	// references. It may be called from several goroutines; rng belongs to this
	// call, and methods without randomness ignore it. The order of the records
	// decides who is in which half.
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
