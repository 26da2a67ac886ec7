package shadow

import (
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Fleet are models of one recipe, each trained on a random part of the records,
// that are attacked one after another with the others as shadows. With the halves of
// a rare cluster as those parts it asks for membership and not for cell type, without
// matched negatives.
type Fleet struct {
	Scores     array.Matrix[float64]  // a row per model, a column per record
	In         [][]bool               // In[m][i]: model m was trained on record i
	Population *array.Matrix[float64] // a row per model, a column per record that no model had; nil: none
}

// Against is the evidence against model m, by all others, and the truth: the records
// that it was trained on.
func (f Fleet) Against(m int) (e Evidence, member []bool, err error) {
	if err := (Shadows{f.Scores, f.In}).check(f.Scores.Cols); err != nil {
		return e, nil, fmt.Errorf("shadow: %w", err)
	}
	if m < 0 || m >= f.Scores.Rows {
		return e, nil, fmt.Errorf("shadow: model %d of %d", m, f.Scores.Rows)
	}
	var others []int
	for k := range f.In {
		if k != m {
			others = append(others, k)
		}
	}
	e.Target, e.Shadows.Scores = f.Scores.Row(m), f.Scores.Gather(others)
	e.Shadows.In = slices.Delete(slices.Clone(f.In), m, m+1)
	if p := f.Population; p != nil {
		if p.Rows != f.Scores.Rows {
			return e, nil, fmt.Errorf("shadow: %d models, the population has scores of %d", f.Scores.Rows, p.Rows)
		}
		e.Population = &Population{Target: p.Row(m), Shadows: p.Gather(others)}
	}
	return e, f.In[m], nil
}

// Sweep is what an attack says of a fleet.
type Sweep struct {
	Attack string `json:"attack"`
	// Models are the reports on the models, in order.
	Models []*attack.ScoreReport `json:"models"`
	// AUC is the mean over models, with an interval over models.
	AUC stats.Estimate `json:"auc"`
	// TPR are the means of the true positive rates, by false positive rate.
	TPR map[string]stats.Estimate `json:"tpr_at_fpr"`
}

// Attack attacks every model of the fleet.
//
// The interval of the mean AUC is Student's over M models, for a Mutual attack wider
// by sqrt(2 (M-1)/(M-2)): each pair of models counts twice, which doubles the
// variance of the mean and takes 1/(M-1) of what the models' own spread shows of it.
//
// The null of a Mutual attack is 0.5 where the models were dealt their records
// independently of each other. Where every record is in exactly half of the models,
// as in Carlini et al., one that the target had is in fewer of its shadows, the laws
// of members are the noisier ones and the null lies lower: 0.486 for 12 models, 0.494
// for 24, 0.4975 for 48 (simulated).
func (f Fleet) Attack(a Attack) (*Sweep, error) {
	if f.Scores.Rows < 3 {
		return nil, fmt.Errorf("shadow: %d models, at least 3 are needed", f.Scores.Rows)
	}
	out := &Sweep{Attack: a.Name(), TPR: map[string]stats.Estimate{}}
	areas, rates := []float64(nil), map[string][]float64{}
	for m := range f.Scores.Rows {
		e, member, err := f.Against(m)
		if err != nil {
			return nil, err
		}
		r, err := Run(a, e, member)
		if err != nil {
			return nil, fmt.Errorf("model %d: %w", m, err)
		}
		out.Models, areas = append(out.Models, r), append(areas, r.AUC.Value)
		for fpr, v := range r.TPRAtFPR {
			rates[fpr] = append(rates[fpr], v)
		}
	}
	over := func(x []float64) stats.Estimate {
		return widened(stats.MeanInterval(x, level, stats.OverModels), a.Mutual())
	}
	out.AUC = over(areas).Against(0.5, stats.NearNull)
	for fpr, v := range rates {
		out.TPR[fpr] = over(v)
	}
	return out, nil
}

func widened(e stats.Estimate, mutual bool) stats.Estimate {
	factor := 1.0
	if mutual {
		factor = math.Sqrt(2 * float64(e.N-1) / float64(e.N-2)) // without bound for two models
	}
	e.Low, e.High = max(0, e.Value+factor*(e.Low-e.Value)), min(1, e.Value+factor*(e.High-e.Value))
	return e
}
