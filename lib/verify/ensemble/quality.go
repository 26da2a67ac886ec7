package ensemble

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

// ForgetQuality is TOFU's (Maini et al. 2024, "TOFU: a task of fictitious unlearning for
// LLMs", section 2.2.2): a Kolmogorov-Smirnov test of whether an unlearned and a
// retrained model say values of one distribution of the forgotten records,
//
//	value = mean over pairs of models of log10 p
//
// a pair being the unlearned model i and the retrained model i, or i less a multiple of
// their number. TOFU tests the truth ratio, which a classifier has not; margins stand
// for it. Each are the values of the pairs.
//
// Null: what retraining has against retraining (Judge). It is below log10's mean of a
// uniform number, -0.43, only as far as two retrained models differ in more than the
// records; as one set of records is asked about twice, it can be above. Direction:
// higher.
//
// Differences from TOFU: (1) margins for truth ratios; (2) several pairs, where TOFU
// has one model of each kind and so no idea of the seed's part; (3) p is of the exact
// law up to a million pairs of records, as in scipy's ks_2samp.
type ForgetQuality struct{}

var _ Distance = ForgetQuality{}

// Name implements Distance.
func (ForgetQuality) Name() string { return "forget-quality" }

// About implements Distance.
func (ForgetQuality) About() string {
	return "TOFU: log10 p of a KS test, forgotten records' margins by unlearned against retrained models; alike: what retraining has"
}

// Better implements Distance.
func (ForgetQuality) Better() stats.Direction { return stats.HigherIsBetter }

// minP is what a p-value that rounds to 0 counts as.
const minP = 1e-300

// Between implements Distance.
func (ForgetQuality) Between(unlearned, retrained array.Matrix[float64]) (float64, []float64, error) {
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
