// The lens RMIA with shadow models: the robust membership inference attack, offline, with held-out
// records as the population.

package audit

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
)

// ShadowRMIA is the AUC of the robust membership inference attack, shadow.RMIA, offline, with the
// paper's A = 0.3: the share of a population whose likelihood the model raises less than that of a
// record. The population is every second held-out record that no shadow model had; the others are
// scored. RMIA is the form with one retrained model.
//
// Null: 0.5, if forget and held-out records have the same distribution.
type ShadowRMIA struct{}

var _ Lens = ShadowRMIA{}

// minPopulation is the smallest population: a share of a small one takes few values.
const minPopulation = 20

// Name implements Lens.
func (ShadowRMIA) Name() string { return "rmia" }

// Info implements Lens.
func (ShadowRMIA) Info() Info {
	return Info{
		Measures: "signed AUC of how far the likelihood is raised above that of shadow models (in tables of cases: a retrained model's), " +
			"forgotten against held-out records",
		Asks: "Does the model raise the likelihood of a forgotten record more than that of records that no model had?",
		How: "AUC of the share of a population whose likelihood ratio is smaller, against shadow models without the record (A = 0.3), with " +
			"DeLong's interval. The population is half of the held-out records that no shadow model had; the other half is judged.",
		Source:    "Zarifzadeh, Liu and Shokri 2024, offline",
		Null:      NonmemberNull,
		High:      1,
		Family:    CalibratedFamily,
		PerRecord: true,
		Needs:     Needs{Arrays: []Array{LossArray}, Sets: []Set{HeldOut}, Shadows: 2},
	}
}

// Read implements Lens.
func (l ShadowRMIA) Read(e *Evidence, m *Arrays) (*Reading, error) {
	unseen, shadows := []int(nil), e.ModelsOf(Shadow)
	for _, i := range e.HeldOut {
		if !slices.ContainsFunc(shadows, func(s *Arrays) bool { return s.In[i] }) {
			unseen = append(unseen, i)
		}
	}
	var population, judged []int
	for k, p := range e.Rand(purposeRMIA).Perm(len(unseen)) {
		if k%2 == 0 {
			population = append(population, unseen[p])
		} else {
			judged = append(judged, unseen[p])
		}
	}
	if len(judged) < minPopulation {
		return nil, fmt.Errorf("%d held-out records are in no shadow model's training set; twice %d are needed", len(unseen), minPopulation)
	}
	rows := slices.Concat(e.Forget, judged)
	evidence := e.shadowEvidence(rows, m)
	evidence.Target = negatedAt(m.Losses, rows)
	evidence.Population = &shadow.Population{Target: negatedAt(m.Losses, population), Shadows: array.New[float64](len(shadows), len(population))}
	for k, s := range shadows {
		copy(evidence.Shadows.Scores.Row(k), negatedAt(s.Losses, rows))
		copy(evidence.Population.Shadows.Row(k), negatedAt(s.Losses, population))
	}
	scores, err := shadow.RMIA{Offline: true}.Scores(evidence)
	if err != nil {
		return nil, err
	}
	return e.calibratedReading(l, m, Scored{e.Forget, scores[:len(e.Forget)]}, Scored{judged, scores[len(e.Forget):]}, evidence)
}
