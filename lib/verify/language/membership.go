package language

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/stats"
)

// Membership holds a model's scores (Score, higher for members) of documents that were to be
// forgotten and of held-out ones, which no model was trained on.
type Membership struct {
	Forget, HeldOut []float64
}

// AUC is the probability that a forgotten document has the higher score, ties one half. Higher is
// more memory. The programs name the opposite: PrivLeak counts held-out above forgotten.
func (m Membership) AUC() (float64, error) {
	auc, err := stats.AUC(m.Forget, m.HeldOut)
	if err != nil {
		return 0, fmt.Errorf("forgotten (pos) against held-out (neg) documents: %w", err)
	}
	return auc, nil
}

// PrivacyEvidence holds the scores of a model that unlearned and of one that was retrained without
// the forgotten documents, of the same documents by the same score.
type PrivacyEvidence struct {
	Unlearned, Retrained Membership
}

// aucs returns both AUCs.
func (e PrivacyEvidence) aucs() (unlearned, retrained float64, err error) {
	if unlearned, err = e.Unlearned.AUC(); err != nil {
		return 0, 0, fmt.Errorf("unlearned model: %w", err)
	}
	if retrained, err = e.Retrained.AUC(); err != nil {
		return 0, 0, fmt.Errorf("retrained model: %w", err)
	}
	return unlearned, retrained, nil
}
