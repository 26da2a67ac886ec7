package sde

import "math/rand/v2"

// ClosedForm is SDE without permutations, a control of ours: the distributions of the split-half
// statistic are taken to be normal with their exact mean and standard deviation over all
// permutations, and compared by the Jensen-Shannon divergence of these normal distributions.
//
// It is deterministic and costs O(n^2) after the kernel matrices. It ignores the shape of the
// distribution, which is skewed to the right, and the noise of the draws. If its verdicts are
// SDE's, the permutations add nothing.
type ClosedForm struct{}

var _ Method = ClosedForm{}

// Name implements Method.
func (ClosedForm) Name() string { return "closed-form" }

// About implements Method.
func (ClosedForm) About() string {
	return "SDE with the exact mean and standard deviation over all permutations instead of draws"
}

// Prepare implements Method.
func (ClosedForm) Prepare(pool *Pool, refs References, opt Options) (*Prepared, error) {
	sigma, err := validatePool(pool, refs, opt)
	if err != nil {
		return nil, err
	}
	normalIn, normalOut := exactNormal(newCloud(refs.In).halfKernels(sigma, false, 0)), exactNormal(newCloud(refs.Out).halfKernels(sigma, false, 0))
	return &Prepared{Compare: func(rows []int, _ *rand.Rand) Distances {
		t := exactNormal(pool.halfKernels(rows, sigma, false, 1))
		return Distances{In: normalDivergence(t, normalIn), Out: normalDivergence(t, normalOut)}
	}}, nil
}

// exactNormal returns the normal distribution with the moments of the split-half statistic; it
// overwrites the kernel matrices.
func exactNormal(k halfKernels) normal {
	centre(&k.first)
	centre(&k.second)
	mean, sd := moments(&k.first, &k.second)
	return normal{mean, sd}
}
