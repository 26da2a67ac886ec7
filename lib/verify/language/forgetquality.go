package language

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/stats"
)

// RatioEvidence holds truth ratios of the forgotten questions, of the same questions in the same
// order, under a model that unlearned and under a retrained one.
type RatioEvidence struct {
	Unlearned, Retrained Ratios
}

// ForgetQuality is TOFU's forget quality as published (Maini et al. 2024, section 2.2.2): the p-value
// of a two-sample Kolmogorov-Smirnov test of R, unlearned against retrained.
//
// It is in [0, 1]; TOFU calls a model forgotten if it is above 0.05. Direction: the paper's is
// higher. Null: uniform, if the two samples were independent. They are not: both models answer the
// same questions, so that two retrained models have a p of nearly 1, and a model that forgot only
// in part passes. That a test does not reject is no evidence without its power (Power).
// PairedQuality is the test for pairs.
//
// Differences: (1) TOFU's programs test 1/R without epsilon, open-unlearning tests R: the
// p-value is the same, as the test knows only the order. (2) open-unlearning's ProbMean is in the
// order of 1/R. (3) p is exact up to a million pairs of values (stats.KSTwoSample). (4) Forms must
// be the same; the programs do not check. (5) Without a retrained model open-unlearning has None;
// here it is an error.
type ForgetQuality struct{}

// ForgetQualityValue is a p-value, and the largest distance of the two distributions.
type ForgetQualityValue struct {
	P        float64 `json:"p"`
	Distance float64 `json:"distance"`
}

// Value returns the p-value.
func (ForgetQuality) Value(e RatioEvidence) (ForgetQualityValue, error) {
	u, r := e.Unlearned, e.Retrained
	if u.Form != r.Form || u.coded != r.coded {
		return ForgetQualityValue{}, fmt.Errorf("forget quality: the unlearned model's ratios are of the form %v (coded: %t), the retrained one's %v (%t)",
			u.Form, u.coded, r.Form, r.coded)
	}
	if len(u.Values) != len(r.Values) {
		return ForgetQualityValue{}, fmt.Errorf("forget quality: %d questions of the unlearned model, %d of the retrained one", len(u.Values), len(r.Values))
	}
	d, p, err := stats.KSTwoSample(u.Values, r.Values)
	if err != nil {
		return ForgetQualityValue{}, fmt.Errorf("forget quality, unlearned (x) against retrained (y): %w", err)
	}
	return ForgetQualityValue{P: p, Distance: d}, nil
}
