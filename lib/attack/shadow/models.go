// Shadow models attacked one after another with the others as shadows, and the
// mean AUC over all of them.

package shadow

import (
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Models holds the scores of models of one recipe, each trained on a random part of the records.
// They are attacked one after another with the others as shadows. If those parts are halves of a
// rare cluster, the attack asks for membership and not for cell type, without matched negatives.
type Models struct {
	Scores     array.Matrix[float64]  // a row per model, a column per record
	In         [][]bool               // In[m][i]: model m was trained on record i
	Population *array.Matrix[float64] // a row per model, a column per record that no model had; nil: none
	// Pairs says that every record was in the training of exactly one of the models 2j and 2j+1.
	// The partner of a model is not one of its shadows. Then every record has as many shadows with
	// it as without it, whether or not the target had it, and the difficulty of a record cancels in
	// the mean over a pair.
	Pairs bool
	// NumShadows is the number of shadows of a model: those that follow it, the first after the
	// last; with Pairs they are whole pairs. 0: all others.
	NumShadows int
}

// EvidenceAgainst returns the evidence against model m, with all others but its partner as shadows,
// and the records that it was trained on.
func (f Models) EvidenceAgainst(m int) (e Evidence, member []bool, err error) {
	if err := (Shadows{f.Scores, f.In}).check(f.Scores.Cols); err != nil {
		return e, nil, fmt.Errorf("shadow: %w", err)
	}
	if m < 0 || m >= f.Scores.Rows {
		return e, nil, fmt.Errorf("shadow: model %d of %d", m, f.Scores.Rows)
	}
	others, err := f.shadowsOf(m)
	if err != nil {
		return e, nil, err
	}
	for _, k := range others {
		e.Shadows.In = append(e.Shadows.In, f.In[k])
	}
	e.Target, e.Shadows.Scores = f.Scores.Row(m), f.Scores.Gather(others)
	if p := f.Population; p != nil {
		if p.Rows != f.Scores.Rows {
			return e, nil, fmt.Errorf("shadow: %d models, the population has scores of %d", f.Scores.Rows, p.Rows)
		}
		e.Population = &Population{Target: p.Row(m), Shadows: p.Gather(others)}
	}
	return e, f.In[m], nil
}

// shadowsOf returns the shadows of model m, in order.
func (f Models) shadowsOf(m int) (out []int, err error) {
	for k := range f.In {
		if k != m && !(f.Pairs && k/2 == m/2) {
			out = append(out, k)
		}
	}
	switch {
	case f.NumShadows == 0:
		return out, nil
	case f.NumShadows < 0 || f.NumShadows > len(out) || f.Pairs && f.NumShadows%2 == 1:
		return nil, fmt.Errorf("shadow: %d shadows of a model with %d others%s", f.NumShadows, len(out), map[bool]string{true: ", in pairs"}[f.Pairs])
	}
	next, _ := slices.BinarySearch(out, m) // the first that follows m, or its pair
	out = slices.Concat(out[next:], out[:next])[:f.NumShadows]
	slices.Sort(out)
	return out, nil
}

// check refuses too few models, and models that are said to be pairs and are not.
func (f Models) check() error {
	switch n := f.Scores.Rows; {
	case !f.Pairs && n < 3:
		return fmt.Errorf("shadow: %d models, at least 3 are needed", n)
	case f.Pairs && (n < 6 || n%2 == 1):
		return fmt.Errorf("shadow: %d models, at least 3 pairs are needed", n)
	}
	if err := (Shadows{f.Scores, f.In}).check(f.Scores.Cols); err != nil {
		return fmt.Errorf("shadow: %w", err)
	}
	for m := 0; f.Pairs && m < len(f.In); m += 2 {
		for i, had := range f.In[m] {
			if had == f.In[m+1][i] {
				return fmt.Errorf("shadow: record %d is not in exactly one of models %d and %d, a pair", i, m, m+1)
			}
		}
	}
	return nil
}

// Report is the result of an attack on all models.
type Report struct {
	Attack string `json:"attack"`
	// Models are the reports on the models, in order.
	Models []*attack.ScoreReport `json:"models"`
	// AUC is the mean over models, with an interval over models, or over pairs.
	AUC stats.Estimate `json:"auc"`
	// TPR are the means of the true positive rates, by false positive rate.
	TPR map[string]stats.Estimate `json:"tpr_at_fpr"`
	// PooledTPR01 is the mean share of members above the score that one in a hundred non-members of
	// all models together exceeds; nil if there are fewer than a hundred. Null: 0.01. The interval
	// treats that score as given.
	PooledTPR01 *stats.Estimate `json:"tpr_at_0.01_together,omitempty"`
	// PooledTPR is the same at other false-positive rates, by rate written as in "0.001", if the
	// non-members of all models together are at least 1/rate.
	PooledTPR map[string]stats.Estimate `json:"tpr_together,omitempty"`
}

// pooledRates are the false-positive rates of Report.PooledTPR.
var pooledRates = []float64{0.001, 0.01, 0.05}

// Attack attacks every model.
//
// The interval of the mean AUC is Student's over M models, for a Mutual attack wider by sqrt(2
// (M-1)/(M-2)): each pair of models counts twice, which doubles the variance of the mean and
// removes 1/(M-1) of it from the spread between models. With Pairs the interval is over the means
// of pairs, and M is their number.
//
// The null of a Mutual attack is 0.5 if models were assigned their records independently, or in
// Pairs. If every record is in exactly half of the models otherwise, as in Carlini et al., a record
// of the target is in fewer of its shadows; the distributions of members are then noisier and the
// null is lower: 0.486 for 12 models, 0.494 for 24, 0.4975 for 48 (simulated).
func (f Models) Attack(a Attack) (*Report, error) {
	return f.ReportScores(a.Name(), f.Mutual(a), func(m int) ([]float64, error) {
		e, _, err := f.EvidenceAgainst(m)
		if err != nil {
			return nil, err
		}
		return a.Scores(e)
	})
}

// Mutual reports whether the score of model j from shadow k is also the score of k from j. That
// holds for a Mutual attack unless NumShadows is so small that of two models at most one is a
// shadow of the other.
func (f Models) Mutual(a Attack) bool {
	return a.Mutual() && (f.NumShadows == 0 || 2*f.NumShadows >= len(f.In))
}

// Threshold is the attack without shadows: a model's own scores.
func (f Models) Threshold(name string) (*Report, error) {
	return f.ReportScores(name, false, func(m int) ([]float64, error) { return f.Scores.Row(m), nil })
}

// ReportScores is Attack for any scores of the records in model m, higher for members. mutual says
// that what model j teaches about k is what k teaches about j.
func (f Models) ReportScores(name string, mutual bool, scores func(m int) ([]float64, error)) (*Report, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	out := &Report{Attack: name, TPR: map[string]stats.Estimate{}, PooledTPR: map[string]stats.Estimate{}}
	areas, rates, all := []float64(nil), map[string][]float64{}, []attack.Samples(nil)
	for m := range f.Scores.Rows {
		s, err := f.samples(m, scores)
		if err != nil {
			return nil, fmt.Errorf("%s: model %d: %w", name, m, err)
		}
		r, err := attack.Score(s, level)
		if err != nil {
			return nil, fmt.Errorf("%s: model %d: %w", name, m, err)
		}
		out.Models, areas, all = append(out.Models, r), append(areas, r.AUC.Value), append(all, s)
		for fpr, v := range r.TPRAtFPR {
			rates[fpr] = append(rates[fpr], v)
		}
	}
	out.AUC = f.meanOverModels(areas, mutual).WithNull(0.5, stats.NearNull)
	for fpr, v := range rates {
		out.TPR[fpr] = f.meanOverModels(v, mutual)
	}
	for _, rate := range pooledRates {
		shares := pooledTPR(all, rate)
		if shares == nil {
			continue
		}
		e := f.meanOverModels(shares, mutual).WithNull(rate, stats.NearNull)
		if out.PooledTPR[fmt.Sprint(rate)] = e; rate == 0.01 {
			out.PooledTPR01 = &e
		}
	}
	return out, nil
}

func (f Models) samples(m int, scores func(m int) ([]float64, error)) (s attack.Samples, err error) {
	x, err := scores(m)
	if err != nil {
		return s, err
	}
	return attack.SplitByMembership(x, f.In[m])
}

// meanOverModels is the mean over models, with an interval over models or pairs.
func (f Models) meanOverModels(x []float64, mutual bool) stats.Estimate {
	if f.Pairs {
		return MeanOverPairs(x, mutual).ClampedTo(0, 1)
	}
	return widen(stats.MeanInterval(x, level, stats.OverModels), mutual).ClampedTo(0, 1)
}

// MeanOverPairs is the mean of one value per model, for models in pairs, with the interval of
// Attack but not bounded to [0, 1]: the value may be a difference.
func MeanOverPairs(x []float64, mutual bool) stats.Estimate {
	return widen(stats.MeanInterval(PairMeans(x), level, "pairs of models"), mutual)
}

// PairMeans returns the means of the values of models 2j and 2j+1.
func PairMeans(x []float64) []float64 {
	out := make([]float64, len(x)/2)
	for j := range out {
		out[j] = (x[2*j] + x[2*j+1]) / 2
	}
	return out
}

// pooledTPR returns the share of each model's members above the score that a share rate of the
// non-members of all models exceeds; nil if there are too few of them.
func pooledTPR(all []attack.Samples, rate float64) []float64 {
	var nonmembers []float64
	for _, s := range all {
		nonmembers = append(nonmembers, s.Nonmembers...)
	}
	fewest := int(math.Round(1 / rate))
	if len(nonmembers) < fewest {
		return nil
	}
	slices.Sort(nonmembers)
	bar := nonmembers[len(nonmembers)-1-len(nonmembers)/fewest]
	out := make([]float64, len(all))
	for m, s := range all {
		out[m] = stats.Share(s.Members, "members", func(v float64) bool { return v > bar }).Value
	}
	return out
}

func widen(e stats.Estimate, mutual bool) stats.Estimate {
	factor := 1.0
	if mutual {
		factor = math.Sqrt(2 * float64(e.N-1) / float64(e.N-2)) // without bound for two models
	}
	e.Low, e.High = e.Value+float64(factor*(e.Low-e.Value)), e.Value+float64(factor*(e.High-e.Value))
	return e
}
