package judge

import (
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/audit"
)

// OfflineLiRA is LiRA with only those shadow models that were not trained on the record. It applies
// where no shadow model had the held-out records.
//
// Null: 0.5, if forget and held-out records have the same distribution.
type OfflineLiRA struct{}

var _ Scorer = OfflineLiRA{}

// Name implements Lens.
func (OfflineLiRA) Name() string { return "lira offline" }

// About implements Lens.
func (OfflineLiRA) About() About {
	return About{
		Asks:   "Does the model fit a forgotten record better than models do that never had it?",
		How:    "AUC of the scaled confidence's distance from its mean over shadow models without the record, in standard deviations, with DeLong's interval.",
		Source: "Carlini et al. 2022, section VI, offline",
		Null:   NonmemberNull,
		Family: CalibratedFamily,
	}
}

// Needs implements Lens.
func (OfflineLiRA) Needs() Needs { return LiRA{}.Needs() }

// Read implements Lens.
func (j OfflineLiRA) Read(e *Evidence, m *Model) (*audit.Reading, error) { return readScores(j, e, m) }

// Scores implements Scorer.
func (OfflineLiRA) Scores(e *Evidence, m *Model) (*Scores, error) {
	return shadowScores(e, m, false, shadow.LiRA{Offline: true, Pooled: len(e.ModelsOf(Shadow)) < pooledBelow})
}
