// TOFU's forget quality: the log p-value of a Kolmogorov-Smirnov test on the forgotten records.

package ensemble

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

// ForgetQuality is TOFU's (Maini et al. 2024, "TOFU: a task of fictitious unlearning for LLMs",
// section 2.2.2): a Kolmogorov-Smirnov test of whether the values of the forgotten records have the
// same distribution in an unlearned and in a retrained model,
//
//	value = mean over pairs of models of log10 p
//
// A pair is the unlearned model i and the retrained model i modulo their number. TOFU tests the
// truth ratio, which a classifier does not have; margins replace it. The values behind the mean are
// those of the pairs.
//
// Null: the value of retraining against retraining (Compare). For a uniform p it is -0.43. Two
// retrained models may differ in more than the records, which lowers it; as both are evaluated on
// the same records, it can also be higher. Direction: higher.
//
// Differences from TOFU: (1) margins in place of truth ratios; (2) several pairs, where TOFU has
// one model of each kind and cannot separate the effect of the seed; (3) p is exact up to a million
// pairs of records, as in scipy's ks_2samp.
type ForgetQuality struct{}

var _ Distance = ForgetQuality{}

// Name implements Distance.
func (ForgetQuality) Name() string { return "forget-quality" }

// About implements Distance.
func (ForgetQuality) About() string {
	return "TOFU: log10 p of a KS test, forgotten records' margins by unlearned against retrained models; null: retraining against retraining"
}

// Better implements Distance.
func (ForgetQuality) Better() stats.Direction { return stats.HigherIsBetter }

// minP replaces a p-value that rounds to 0.
const minP = 1e-300

// Between implements Distance.
func (ForgetQuality) Between(unlearned, retrained array.Matrix[float64]) (float64, []float64, error) {
	if err := checkPair(unlearned, retrained); err != nil {
		return 0, nil, err
	}
	each := make([]float64, unlearned.Rows)
	for i := range each {
		_, p, err := stats.KSTwoSample(unlearned.Row(i), retrained.Row(i%retrained.Rows))
		if err != nil {
			return 0, nil, fmt.Errorf("pair %d: %w", i, err)
		}
		each[i] = math.Log10(max(p, minP))
	}
	return mean(each), each, nil
}
