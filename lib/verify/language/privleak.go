package language

import (
	"errors"
	"fmt"
)

// PrivLeak is MUSE's privacy leakage (Shi et al. 2025, section 3.1):
//
//	100 (A - A_ret)/A_ret,  A = P(a held-out document scores higher than a forgotten one) = 1 - AUC
//
// of Min-K % with K = 0.4 (MinK{K: 0.4}), of the unlearned and of the retrained model.
//
// Null: 0, the retrained model. Direction: nearest to it. Below 0 the model is under-unlearned: the
// forgotten documents still look like members; above 0 it is over-unlearned, they look less like
// members than what was never seen. It is at least -100 and has no upper end: where the retrained
// model tells the sets apart, A_ret is small and the value explodes. BoundedMIA stands beside it.
//
// Differences: (1) MUSE has stored AUCs of its retrained models; open-unlearning replaces a missing
// one by an AUC of 0.5, with a warning. Here it is needed. (2) open-unlearning adds 1e-10 to A_ret,
// so that A_ret = 0 gives a number of about 1e12; here that is refused. (3) MUSE's own Min-K is NaN
// for texts of one or two predicted tokens.
type PrivLeak struct{}

// Value returns the leakage in per cent.
func (PrivLeak) Value(e PrivacyEvidence) (float64, error) {
	unlearned, retrained, err := e.aucs()
	if err != nil {
		return 0, fmt.Errorf("PrivLeak: %w", err)
	}
	if retrained == 1 {
		return 0, errors.New("PrivLeak: under the retrained model every forgotten document scores above every held-out one: there is no ratio to 0")
	}
	return 100 * ((1 - unlearned) - (1 - retrained)) / (1 - retrained), nil
}

// BoundedMIA is the bounded relative difference of two AUCs, s_MIA of the UDS study (2026), after
// PrivLeak:
//
//	clip(1 - |AUC - AUC_ret|/AUC_ret, 0, 1)
//
// Null: 1, the retrained model. Direction: higher. It does not say on which side the model errs, so
// that over-unlearning and under-unlearning look alike, and it takes the AUC of forgotten above
// held-out where PrivLeak takes the opposite: the two have different denominators.
//
// Difference from uds/privacy_eval.py: a retrained AUC of at most 1e-12 is None there, here an error.
type BoundedMIA struct{}

// Value returns a number in [0, 1].
func (BoundedMIA) Value(e PrivacyEvidence) (float64, error) {
	unlearned, retrained, err := e.aucs()
	if err != nil {
		return 0, fmt.Errorf("bounded MIA: %w", err)
	}
	if retrained == 0 {
		return 0, errors.New("bounded MIA: the retrained model's AUC is 0, and there is no ratio to it")
	}
	distance := max(unlearned-retrained, retrained-unlearned)
	return max(0, 1-distance/retrained), nil
}
