// The lens LiRA: a likelihood ratio over shadow models (Carlini et al. 2022), online.

package judge

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/audit"
)

// pooledBelow is the number of shadow models below which LiRA fits one standard deviation for all
// records (Carlini et al. 2022, section VI).
const pooledBelow = 64

// LiRA asks whether a likelihood ratio tells forgotten from held-out records: the likelihood of the
// scaled confidence of a record under shadow models that were trained on it, over that under shadow
// models that were not. It is the AUC of shadow.LiRA, online. With fewer than 64 shadow models all
// records share a standard deviation.
//
// Null: 0.5. The difficulty of a record cancels, so that forget and held-out records need not have
// the same distribution, as long as shadow models had them with the same probability.
type LiRA struct{}

var _ Scorer = LiRA{}

// Name implements Lens.
func (LiRA) Name() string { return "lira" }

// About implements Lens.
func (LiRA) About() About {
	return About{
		Asks: "Are the outputs for a forgotten record more likely under models that were trained on it?",
		How: "AUC of the likelihood ratio of the scaled confidence, normal distributions fitted over the shadow models with and without each record, " +
			"with DeLong's interval; one standard deviation for all records below 64 shadow models. Records without shadow models on either side are left out.",
		Source: "Carlini et al. 2022, algorithm 1, online",
		Null:   NonmemberNull,
		Family: CalibratedFamily,
	}
}

// Needs implements Lens.
func (LiRA) Needs() Needs {
	return Needs{Arrays: []Array{Losses}, Sets: []Set{HeldOut}, Shadows: 4}
}

// Read implements Lens.
func (j LiRA) Read(e *Evidence, m *Model) (*audit.Reading, error) { return readScores(j, e, m) }

// Scores implements Scorer.
func (LiRA) Scores(e *Evidence, m *Model) (*Scores, error) {
	return shadowScores(e, m, true, shadow.LiRA{Pooled: len(e.ModelsOf(Shadow)) < pooledBelow})
}

// shadowScores returns LiRA's scores of forgotten and held-out records. Records are left out that
// too few shadow models had, or too few had not; the online attack needs both sides.
func shadowScores(e *Evidence, m *Model, online bool, a shadow.LiRA) (*Scores, error) {
	need := 2
	if a.Pooled {
		need = 1
	}
	shadows := e.ModelsOf(Shadow)
	enough := func(rows []int) []int {
		return slices.DeleteFunc(slices.Clone(rows), func(i int) bool {
			with := 0
			for _, s := range shadows {
				if s.In[i] {
					with++
				}
			}
			return len(shadows)-with < need || online && with < need
		})
	}
	forget, heldOut := enough(e.Forget), enough(e.HeldOut)
	if len(forget) == 0 || len(heldOut) == 0 {
		return nil, fmt.Errorf("%d forget and %d held-out records have %d shadow models on every side that is compared; at least one of each is needed",
			len(forget), len(heldOut), need)
	}
	evidence := e.shadowEvidence(slices.Concat(forget, heldOut), m)
	scores, err := a.Scores(evidence)
	if err != nil {
		return nil, err
	}
	return calibratedScores(Scored{forget, scores[:len(forget)]}, Scored{heldOut, scores[len(forget):]}, evidence), nil
}

// calibratedScores returns scores that were computed from outputs of a model and of shadow models.
// Where either give the same outputs for many records, the scores may differ and are still no
// evidence.
func calibratedScores(forget, heldOut Scored, evidence shadow.Evidence) *Scores {
	out, n := &Scores{Forget: forget, HeldOut: heldOut}, len(forget.Rows)
	if out.NoEvidence = audit.TiedScores(evidence.Target[:n], evidence.Target[n:]); out.NoEvidence.Call != "" {
		return out
	}
	shadows := evidence.Shadows.Scores
	tied, why := 0, audit.Reason{}
	for k := range shadows.Rows {
		if one := audit.TiedScores(shadows.Row(k)[:n], shadows.Row(k)[n:]); one.Call != "" {
			tied, why = tied+1, one
		}
	}
	if 2*tied > shadows.Rows {
		why.Why = fmt.Sprintf("of %d of %d shadow models, %s", tied, shadows.Rows, why.Why)
		out.NoEvidence = why
	}
	return out
}

// shadowEvidence returns the scaled confidences of some records by a model and the shadow models.
func (e *Evidence) shadowEvidence(rows []int, m *Model) shadow.Evidence {
	shadows := e.ModelsOf(Shadow)
	out := shadow.Evidence{Target: valuesAt(m.Scaled, rows), Shadows: shadow.Shadows{Scores: array.New[float64](len(shadows), len(rows))}}
	for k, s := range shadows {
		copy(out.Shadows.Scores.Row(k), valuesAt(s.Scaled, rows))
		out.Shadows.In = append(out.Shadows.In, valuesAt(s.In, rows))
	}
	return out
}
