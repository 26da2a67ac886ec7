package sde

import "math/rand/v2"

// SDE is the paper's method: Jensen-Shannon divergences between the split-half distributions of
// target and references (section 3.2). See SplitHalf and Compare for its definition, null and
// differences from the paper.
type SDE struct{}

var _ Method = SDE{}

// Name implements Method.
func (SDE) Name() string { return "sde" }

// About implements Method.
func (SDE) About() string {
	return "divergence of the distributions of HSIC between two halves, under random orders of one half"
}

// Prepare implements Method.
func (SDE) Prepare(pool *Pool, refs References, opt Options) (*Prepared, error) {
	if _, err := validatePool(pool, refs, opt); err != nil {
		return nil, err
	}
	r, err := measureReferences(refs, opt)
	if err != nil {
		return nil, err
	}
	compareTarget := func(rows []int, rng *rand.Rand) Distances {
		t := splitHalf(pool.halfKernels(rows, r.sigma, opt.FreshSplits, 1), r.sigma, opt, rng, 1)
		return compare(t.Values, r.draws(), opt)
	}
	return &Prepared{Compare: compareTarget, Gate: &r.gate}, nil
}
