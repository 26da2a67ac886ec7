package sde

import (
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/stats"
)

// Gate is the one-sided Mann-Whitney test that the draws of the in-training reference are larger
// than those of the out-of-training reference. The paper shows no result for references that fail
// it (section 3.1, figure 4).
//
// P is not a probability of error about models or records: the draws are random orders of one fixed
// pair of sets, so that it falls to 0 with their number whenever the spreads differ at all. Valid
// means no more than: these references can be told apart, in the right direction.
type Gate struct {
	U     float64 `json:"u"` // pairs of draws in which in-training is larger, ties one half
	P     float64 `json:"p"` // one-sided
	Alpha float64 `json:"alpha"`
	Valid bool    `json:"valid"` // P < Alpha
}

// NewGate tests the draws of the references. U is between 0 and n_in n_out; its null value is half
// of that, and larger means in-training above. It refuses empty samples, NaN and an alpha outside
// (0, 1).
func NewGate(d Draws, alpha float64) (Gate, error) {
	if !inUnitInterval(alpha) {
		return Gate{}, fmt.Errorf("sde: alpha %v is not inside (0, 1)", alpha)
	}
	r, err := stats.MannWhitneyGreater(d.In, d.Out)
	if err != nil {
		return Gate{}, fmt.Errorf("sde: in-training against out-of-training: %w", err)
	}
	return Gate{U: r.U, P: r.P, Alpha: alpha, Valid: r.P < alpha}, nil
}

// measuredReferences holds the distributions of both references under one bandwidth.
type measuredReferences struct {
	in, out *Distribution
	sigma   float64
	gate    Gate
}

func (m *measuredReferences) draws() Draws { return Draws{In: m.in.Values, Out: m.out.Values} }

func measureReferences(refs References, opt Options) (*measuredReferences, error) {
	sigma, err := opt.validate(refs)
	if err != nil {
		return nil, err
	}
	r := &measuredReferences{sigma: sigma}
	r.in = splitHalf(newCloud(refs.In).halfKernels(sigma, opt.FreshSplits, 0), sigma, opt, opt.stream(streamIn), 0)
	r.out = splitHalf(newCloud(refs.Out).halfKernels(sigma, opt.FreshSplits, 0), sigma, opt, opt.stream(streamOut), 0)
	r.gate, err = NewGate(r.draws(), opt.alpha())
	return r, err
}

// validate checks the options and the references and returns the bandwidth.
func (o Options) validate(r References) (float64, error) {
	if err := o.check(o.stream(streamIn)); err != nil {
		return 0, err
	}
	if err := errors.Join(check("in-training", r.In, 4), check("out-of-training", r.Out, 4)); err != nil {
		return 0, err
	}
	if err := errors.Join(checkWidth("out-of-training", r.Out, "in-training", r.In), checkSize("out-of-training", r.Out.Rows, r.In.Rows)); err != nil {
		return 0, err
	}
	return o.Bandwidth.Resolve(r.In, r.Out)
}

// checkSize refuses sets of different sizes: the mean of the statistic is a product of spreads over
// n-1.
func checkSize(name string, rows, reference int) error {
	if rows != reference {
		return fmt.Errorf("sde: the %s set has %d records, the in-training reference %d; the statistic depends on the number, so all "+
			"sets must have the same", name, rows, reference)
	}
	return nil
}
