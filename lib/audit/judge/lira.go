package judge

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/audit"
)

// pooledBelow is below how many shadow models LiRA fits one spread for all records
// (Carlini et al. 2022, section VI).
const pooledBelow = 64

// LiRA asks how much likelier what the model says of a record is under shadow models
// that were trained on it than under those that were not, and whether that tells
// forgotten from held-out records: the signed AUC of shadow.LiRA, online, of scaled
// confidences. With fewer than 64 shadow models all records share a spread.
//
// Null: 0.5. How hard a record is cancels, so that forget and held-out records need not
// be drawn alike, as long as the shadow models had them with the same chance.
type LiRA struct{}

var _ Scorer = LiRA{}

// Name implements Judgement.
func (LiRA) Name() string { return "lira" }

// About implements Judgement.
func (LiRA) About() About {
	return About{
		Asks: "Is what the model says of a forgotten record likelier under models that had it?",
		How: "AUC of the likelihood ratio of the scaled confidence, normal laws fitted over the shadow models with and without each record, " +
			"with DeLong's interval; one spread for all records below 64 shadow models. Records without shadow models on either side are left out.",
		Source: "Carlini et al. 2022, algorithm 1, online",
		Null:   NonmemberNull,
		Family: CalibratedFamily,
	}
}

// Needs implements Judgement.
func (LiRA) Needs() Needs {
	return Needs{Arrays: []Array{Losses}, Sets: []Set{HeldOut}, Shadows: 4}
}

// Read implements Judgement.
func (j LiRA) Read(e *Evidence, m *Model) (*audit.Reading, error) { return readScores(j, e, m) }

// Scores implements Scorer.
func (LiRA) Scores(e *Evidence, m *Model) (*Scores, error) {
	return shadowScores(e, m, true, shadow.LiRA{Pooled: len(e.ModelsOf(Shadow)) < pooledBelow})
}

// shadowScores are LiRA's of forgotten and held-out records. Those that too few shadow
// models had, or too few had not, are left out: online wants both sides.
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
	given := e.shadowEvidence(slices.Concat(forget, heldOut), m)
	scores, err := a.Scores(given)
	if err != nil {
		return nil, err
	}
	return calibratedScores(Scored{forget, scores[:len(forget)]}, Scored{heldOut, scores[len(forget):]}, given), nil
}

// calibratedScores are scores that were made of what a model and the shadow models say. Where
// either say the same of many records the scores may differ and are no evidence all the
// same.
func calibratedScores(forget, heldOut Scored, given shadow.Evidence) *Scores {
	out, n := &Scores{Forget: forget, HeldOut: heldOut}, len(forget.Rows)
	if out.NoEvidence = audit.TiedScores(given.Target[:n], given.Target[n:]); out.NoEvidence.Call != "" {
		return out
	}
	shadows := given.Shadows.Scores
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

// shadowEvidence are the scaled confidences of some records by a model and the shadows.
func (e *Evidence) shadowEvidence(rows []int, m *Model) shadow.Evidence {
	shadows := e.ModelsOf(Shadow)
	out := shadow.Evidence{Target: valuesAt(m.Scaled, rows), Shadows: shadow.Shadows{Scores: array.New[float64](len(shadows), len(rows))}}
	for k, s := range shadows {
		copy(out.Shadows.Scores.Row(k), valuesAt(s.Scaled, rows))
		out.Shadows.In = append(out.Shadows.In, valuesAt(s.In, rows))
	}
	return out
}
