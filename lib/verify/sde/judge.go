package sde

import (
	"errors"

	"github.com/lethe-ml/lethe/lib/progress"
)

// Result is the result of Judge on one target set.
type Result struct {
	Target, In, Out *Distribution
	JSD             Distances
	Gate            Gate
	// Verdict is the closer reference. It means nothing if Gate.Valid is false.
	Verdict Verdict
}

// Judge tells whether a target set of activations looks like the in-training or the out-of-training
// reference (section 3.2, algorithm 2): the reference whose split-half distribution has the smaller
// Jensen-Shannon divergence from the target's.
//
// Rows are records in random order, columns activations of one layer of one model, dropout off. All
// three sets must have the same number of rows, because the statistic decreases with it. Nothing is
// changed.
//
// Differences from algorithm 2 as printed: a tie is Undecided instead of "out"; the gate is part of
// the result.
func Judge(target *Matrix, refs References, opt Options) (*Result, error) {
	defer progress.Begin("SDE", 0).Done()
	p, err := NewPool("target", target)
	if err != nil {
		return nil, err
	}
	r, err := measureReferences(refs, opt)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(checkWidth("target", target, "in-training", refs.In), checkSize("target", target.Rows, refs.In.Rows)); err != nil {
		return nil, err
	}
	t := splitHalf(p.cloud.halfKernels(r.sigma, opt.FreshSplits, 0), r.sigma, opt, opt.stream(streamTarget), 0)
	jsd := compare(t.Values, r.draws(), opt)
	return &Result{Target: t, In: r.in, Out: r.out, JSD: jsd, Gate: r.gate, Verdict: jsd.Verdict()}, nil
}
