package audit

import (
	"github.com/lethe-ml/lethe/lib/attack/shadow"
)

// OfflineLiRA is LiRA with only those shadow models that were not trained on the record. It applies
// where no shadow model had the held-out records.
//
// Null: 0.5, if forget and held-out records have the same distribution.
type OfflineLiRA struct{}

var _ Lens = OfflineLiRA{}

// Name implements Lens.
func (OfflineLiRA) Name() string { return "lira offline" }

// Info implements Lens.
func (OfflineLiRA) Info() Info {
	return Info{
		Measures: "signed AUC of the likelihood under shadow models without the record, forgotten against held-out records",
		Asks:     "Does the model fit a forgotten record better than models do that never had it?",
		How: "AUC of the scaled confidence's distance from its mean " +
			"over shadow models without the record, in standard deviations, with DeLong's interval.",
		Source:    "Carlini et al. 2022, section VI, offline",
		Null:      NonmemberNull,
		High:      1,
		Family:    CalibratedFamily,
		PerRecord: true,
		Needs:     LiRA{}.Info().Needs,
	}
}

// Read implements Lens.
func (l OfflineLiRA) Read(e *Evidence, m *Arrays) (*Reading, error) {
	return likelihoodReading(l, e, m, false, shadow.LiRA{Offline: true, Pooled: len(e.ModelsOf(Shadow)) < pooledBelow})
}
