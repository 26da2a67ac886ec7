package judge

import (
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/audit"
)

// OfflineLiRA is LiRA by shadow models without the record alone, which is all that
// there is where no shadow model had the held-out records.
//
// Null: 0.5, if forget and held-out records were drawn alike.
type OfflineLiRA struct{}

var _ Scorer = OfflineLiRA{}

// Name implements Judgement.
func (OfflineLiRA) Name() string { return "lira offline" }

// About implements Judgement.
func (OfflineLiRA) About() About {
	return About{
		Asks:   "Does the model fit a forgotten record better than models do that never had it?",
		How:    "AUC of the scaled confidence's distance from its mean over shadow models without the record, in their spreads, with DeLong's interval.",
		Source: "Carlini et al. 2022, section VI, offline",
		Null:   NonmemberNull,
		Family: CalibratedFamily,
	}
}

// Needs implements Judgement.
func (OfflineLiRA) Needs() Needs { return LiRA{}.Needs() }

// Read implements Judgement.
func (j OfflineLiRA) Read(e *Evidence, m *Model) (*audit.Reading, error) { return readScores(j, e, m) }

// Scores implements Scorer.
func (OfflineLiRA) Scores(e *Evidence, m *Model) (*Scores, error) {
	return shadowScores(e, m, false, shadow.LiRA{Offline: true, Pooled: len(e.ModelsOf(Shadow)) < pooledBelow})
}
