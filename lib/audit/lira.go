// The lens LiRA: a likelihood ratio over shadow models (Carlini et al. 2022), online.

package audit

import (
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/stats"
)

// pooledBelow is the number of shadow models below which LiRA fits one standard deviation for all
// records (Carlini et al. 2022, section VI).
const pooledBelow = 64

// Shadow models had two sets unlike often if the test of their numbers per record says so at this level and the means differ by
// this share of the models. In simulation of 16 shadow models a difference of 0.5 gives an AUC of 0.55 without any memory, and
// one of 0.75 gives 0.62.
const (
	unlikeLevel = 0.001
	unlikeShare = 0.05
)

// LiRA asks whether a likelihood ratio tells forgotten from held-out records: the likelihood of the
// scaled confidence of a record under shadow models that were trained on it, over that under shadow
// models that were not. It is the AUC of shadow.LiRA, online. With fewer than 64 shadow models all
// records share a standard deviation.
//
// Null: 0.5. The difficulty of a record cancels, so that forget and held-out records need not have
// the same distribution, as long as shadow models had them with the same probability.
type LiRA struct{}

var _ Lens = LiRA{}

// Name implements Lens.
func (LiRA) Name() string { return "lira" }

// Info implements Lens.
func (LiRA) Info() Info {
	return Info{
		Measures: "signed AUC of the likelihood ratio under shadow models, forgotten against held-out records",
		Asks:     "Are the outputs for a forgotten record more likely under models that were trained on it?",
		How: "AUC of the likelihood ratio of the scaled confidence, normal distributions fitted over the shadow models with and without each record, " +
			"with DeLong's interval; one standard deviation for all records below 64 shadow models. Records without shadow models on either side are " +
			"left out. Shadow models must have had records of both sets equally often.",
		Source:    "Carlini et al. 2022, algorithm 1, online",
		Null:      NonmemberNull,
		High:      1,
		Family:    CalibratedFamily,
		PerRecord: true,
		AnySets:   true,
		Needs:     Needs{Arrays: []Array{LossArray}, Sets: []Set{HeldOut}, Shadows: 4},
	}
}

// Read implements Lens.
func (l LiRA) Read(e *Evidence, m *Arrays) (*Reading, error) {
	return likelihoodReading(l, e, m, true, shadow.LiRA{Pooled: len(e.ModelsOf(Shadow)) < pooledBelow})
}

// likelihoodReading returns the reading of LiRA's scores. Records are left out that
// too few shadow models had, or too few had not; the online attack needs both sides.
func likelihoodReading(l Lens, e *Evidence, m *Arrays, online bool, a shadow.LiRA) (*Reading, error) {
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
	if why := unlikeCounts(shadows, forget, heldOut); online && why.Call != "" {
		return NoReading(l.Name(), m.Name, why), nil
	}
	evidence := e.shadowEvidence(slices.Concat(forget, heldOut), m)
	scores, err := a.Scores(evidence)
	if err != nil {
		return nil, err
	}
	return e.calibratedReading(l, m, Scored{forget, scores[:len(forget)]}, Scored{heldOut, scores[len(forget):]}, evidence)
}

// unlikeCounts returns the reason against an online likelihood ratio where shadow models had forgotten records more often, or less
// often, than held-out ones. Its means are estimated: without a memory the ratio of a record has a mean that grows with
// 1/out - 1/in, of the numbers of shadow models without and with it.
func unlikeCounts(shadows []*Arrays, forget, heldOut []int) Reason {
	had := func(rows []int) (counts []float64, mean float64) {
		for _, i := range rows {
			with := 0.0
			for _, s := range shadows {
				if s.In[i] {
					with++
				}
			}
			counts, mean = append(counts, with), mean+with/float64(len(rows))
		}
		return counts, mean
	}
	a, ours := had(forget)
	b, theirs := had(heldOut)
	if math.Abs(ours-theirs) < unlikeShare*float64(len(shadows)) {
		return Reason{}
	}
	if test, err := stats.MannWhitney(a, b); err != nil || test.P > unlikeLevel {
		return Reason{}
	}
	return Reason{CannotTell, fmt.Sprintf("shadow models had a forgotten record %.1f times and a held-out one %.1f times on average, of %d; "+
		"the ratio is 1 to 1 only where they had both as often", ours, theirs, len(shadows))}
}

// calibratedReading returns the reading of scores that were computed from outputs of a model and of
// shadow models. Where either give the same outputs for many records, the scores may differ and are
// still no evidence.
func (e *Evidence) calibratedReading(l Lens, m *Arrays, forget, heldOut Scored, evidence shadow.Evidence) (*Reading, error) {
	n, shadows := len(forget.Rows), evidence.Shadows.Scores
	tied, last := 0, Reason{}
	for k := range shadows.Rows {
		if one := TiedScores(shadows.Row(k)[:n], shadows.Row(k)[n:]); one.Call != "" {
			tied, last = tied+1, one
		}
	}
	why := TiedScores(evidence.Target[:n], evidence.Target[n:])
	if why.Call == "" && 2*tied > shadows.Rows {
		why = Reason{last.Call, fmt.Sprintf("of %d of %d shadow models, %s", tied, shadows.Rows, last.Why)}
	}
	return e.ScoresReading(l, m, Scores{forget, heldOut}, why)
}

// shadowEvidence returns the scaled confidences of some records by a model and the shadow models.
func (e *Evidence) shadowEvidence(rows []int, m *Arrays) shadow.Evidence {
	shadows := e.ModelsOf(Shadow)
	out := shadow.Evidence{Target: valuesAt(m.Scaled, rows), Shadows: shadow.Shadows{Scores: array.New[float64](len(shadows), len(rows))}}
	for k, s := range shadows {
		copy(out.Shadows.Scores.Row(k), valuesAt(s.Scaled, rows))
		out.Shadows.In = append(out.Shadows.In, valuesAt(s.In, rows))
	}
	return out
}
