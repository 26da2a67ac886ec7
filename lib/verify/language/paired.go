// The paired, clustered test of an unlearned model against a retrained one.

package language

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/stats"
)

// PairedEvidence holds ln R (Ratios.Log) of the forgotten questions under a model that unlearned and
// under a retrained one, of the same questions in the same order. Any other number per question or
// document that both models have will do, such as MeanLogProb.
type PairedEvidence struct {
	Unlearned, Retrained []float64
	Group                []int // of every question: its author, patient or document; nil: none share one
}

// PairedQuality asks whether an unlearned model's ln R differs from a retrained one's, question by
// question, where questions of one group depend on each other:
//
//	difference = mean over questions of (ln R unlearned - ln R retrained)
//
// with Student's interval over groups (stats.ClusterInterval) and the sign-flip test of groups
// (stats.SignFlip). Null: 0. Below it the model still prefers right answers more than the retrained
// one does: there is memory left. Above it is over-unlearned. Exchanging the models changes the
// sign.
//
// What the test says is limited to its one retrained model: two retrained models differ, too, and
// enough questions show it. On TOFU's published logs it tells two retrainings of Phi apart. A
// rejection is evidence of memory only beyond what retrained models differ by: see Calibration.
type PairedQuality struct {
	Level float64 // of the interval, 0: 0.95
	Draws int     // of signs, with more than 20 groups; 0: 9999
}

// PairedResult is the outcome of PairedQuality.
type PairedResult struct {
	// Difference has the null 0; its Clustered has the design effect. nil groups: over questions.
	Difference stats.Estimate       `json:"difference"`
	Test       stats.SignFlipResult `json:"test"`
}

// Test compares the two models. rng is needed with more than 20 groups.
func (p PairedQuality) Test(e PairedEvidence, rng *rand.Rand) (PairedResult, error) {
	diff, err := e.differences()
	if err != nil {
		return PairedResult{}, err
	}
	r := PairedResult{Difference: stats.ClusterInterval(diff, e.Group, cmp.Or(p.Level, 0.95), "groups").WithNull(0, stats.NearNull)}
	if e.Group == nil {
		r.Difference.Over = "questions"
	}
	if !r.Difference.HasInterval() {
		return PairedResult{}, fmt.Errorf("paired forget quality: no interval at the level %v of %d questions in %d groups",
			r.Difference.Level, len(diff), stats.Clusters(e.Group).Count(len(diff)))
	}
	if r.Test, err = stats.SignFlip(diff, e.Group, p.Draws, rng); err != nil {
		return PairedResult{}, fmt.Errorf("paired forget quality: %w", err)
	}
	return r, nil
}

// differences returns unlearned less retrained.
func (e PairedEvidence) differences() ([]float64, error) {
	if len(e.Unlearned) == 0 {
		return nil, errors.New("paired forget quality: the unlearned model's values are missing")
	}
	if len(e.Unlearned) != len(e.Retrained) {
		return nil, fmt.Errorf("paired forget quality: %d questions of the unlearned model, %d of the retrained one", len(e.Unlearned), len(e.Retrained))
	}
	if e.Group != nil && len(e.Group) != len(e.Unlearned) {
		return nil, fmt.Errorf("paired forget quality: %d groups for %d questions", len(e.Group), len(e.Unlearned))
	}
	out := make([]float64, len(e.Unlearned))
	for q, u := range e.Unlearned {
		if what := notFinite(u); what != "" {
			return nil, fmt.Errorf("paired forget quality: question %d: the unlearned model's value is %s", q, what)
		}
		if what := notFinite(e.Retrained[q]); what != "" {
			return nil, fmt.Errorf("paired forget quality: question %d: the retrained model's value is %s", q, what)
		}
		out[q] = u - e.Retrained[q]
	}
	return out, nil
}

// notFinite says whether a value is NaN or infinite; "" if it is neither.
func notFinite(v float64) string {
	if v-v == 0 {
		return ""
	}
	return fmt.Sprint(v)
}
