// The lens for the forgotten texts as a set: all scores of membership together.

package audit

import (
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

// DatasetInference asks about the forgotten texts as a set, by all scores of membership together:
// each may tell little, and their sum more. Weights are learned where membership is known, on the
// retained texts and one half of the held-out ones, by a logistic regression with a ridge on
// standardised scores,
//
//	s(text) = sum_j w_j z_j(text) + b,   w_j >= 0
//
// The value is the AUC of s, the forgotten texts against the other half of the held-out ones. Its
// interval, over groups of records where there are some, is the test of the set. The scores are the
// mean log-probability, Min-K % at 0.1, 0.2 and 0.4, exact memorisation's share, and, where the
// arrays have them, Min-K%++, zlib and ReCaLL.
//
// Null: 0.5, if forgotten and held-out texts have the same distribution: neither took part in the
// learning. Above it the set looks like training data. Scores that tell no retained text from a
// held-out one give no reading.
//
// Differences from the paper (Maini et al. 2024, LLM Dataset Inference, section 5):
//
//  1. weights are learned on retained against held-out texts; the paper has no known members, and
//     learns on one half of the suspected texts themselves, so that a set which the model fits
//     worse than unseen texts counts as in training there, and lies below 0.5 here;
//  2. a score with a negative weight is left out, one after the other: higher always means member;
//  3. logistic regression in place of a linear one;
//  4. the AUC with its interval in place of a t-test's p-value, for which texts are independent;
//  5. five to eight scores; the paper has 52.
type DatasetInference struct {
	Ridge float64 // 0: 1
}

var _ Lens = DatasetInference{}

// Name implements Lens.
func (DatasetInference) Name() string { return "dataset inference" }

// Info implements Lens.
func (DatasetInference) Info() Info {
	return Info{
		Measures: "signed AUC of all scores together, weighted as they tell retained from held-out texts, forgotten against held-out texts",
		Asks:     "As a set, by all scores together, do the forgotten texts look like training data?",
		How: "AUC of a weighted sum of the scores of membership, forgotten against half of the held-out texts, with DeLong's interval; the " +
			"weights, none below 0, tell retained texts from the other half best. Floor as for the loss.",
		Source: "Maini et al. 2024, LLM Dataset Inference",
		Null:   NonmemberNull,
		Family: OutputFamily,
		Needs:  Needs{Arrays: []Array{TokenArray}, Sets: []Set{Retain, HeldOut}},
	}
}

// Read implements Lens.
func (l DatasetInference) Read(e *Evidence, m *Arrays) (*Reading, error) {
	if len(e.Forget) == 0 {
		return nil, errNothingForgotten
	}
	learn, judge := e.halves(e.HeldOut, e.Rand(purposeInference).Perm)
	few := TooFewRecords(min(len(e.Retain), len(learn)), "texts in the smaller set that is learned on")
	if few.Call != "" {
		return NoReading(l.Name(), m.Name, few), nil
	}
	x, err := e.allScores(m, slices.Concat(e.Retain, learn, e.Forget, judge))
	if err != nil {
		return nil, err
	}
	known := firstRows(x, len(e.Retain)+len(learn))
	x = learned.Standardiser(known)(x)
	w, err := directedWeights(firstRows(x, known.Rows), len(e.Retain), l.Ridge)
	if err != nil {
		return nil, fmt.Errorf("audit: the lens %q: %w", l.Name(), err)
	}
	if w == nil {
		return NoReading(l.Name(), m.Name, Reason{CannotTell, "no score tells retained texts from held-out ones"}), nil
	}
	values := make([]float64, x.Rows-known.Rows)
	for i := range values {
		values[i] = w.At(x.Row(known.Rows + i))
	}
	n := len(e.Forget)
	return e.scoresReading(l, m, Scored{e.Forget, values[:n]}, Scored{judge, values[n:]})
}

// allScores returns the scores of membership of some texts, a row each.
func (e *Evidence) allScores(m *Arrays, rows []int) (array.Matrix[float64], error) {
	scores := []language.Score{language.Loss{}, language.MinK{K: 0.1}, language.MinK{}, language.MinK{K: 0.4}, language.ExactMemorisation{}}
	if m.Tokens.Correct == nil {
		scores = scores[:4]
	}
	if m.Tokens.Mean != nil {
		scores = append(scores, language.MinKPlusPlus{})
	}
	if e.Compressed != nil {
		scores = append(scores, language.Zlib{})
	}
	if m.Prefixed != nil {
		scores = append(scores, language.ReCaLL{})
	}
	out := array.New[float64](len(rows), len(scores))
	for j, s := range scores {
		of, err := e.textScores(m, s, rows)
		if err != nil {
			return out, err
		}
		for i, v := range of.Values {
			out.Row(i)[j] = v
		}
	}
	return out, nil
}

func firstRows(x array.Matrix[float64], n int) array.Matrix[float64] {
	return array.Matrix[float64]{Rows: n, Cols: x.Cols, Data: x.Data[:n*x.Cols]}
}

// directedWeights returns the weights that tell the first members rows from the others, without
// those below 0; nil: none is left.
func directedWeights(x array.Matrix[float64], members int, ridge float64) (stats.Linear, error) {
	if ridge == 0 {
		ridge = 1
	}
	used, positive := make([]bool, x.Cols), make([]bool, x.Rows)
	for j := range used {
		used[j] = true
	}
	for i := range members {
		positive[i] = true
	}
	for {
		rows := make([][]float64, x.Rows)
		for i := range rows {
			rows[i] = slices.Clone(x.Row(i))
			for j, in := range used {
				if !in {
					rows[i][j] = 0 // its weight becomes 0
				}
			}
		}
		w, err := stats.Logistic(context.Background(), rows, positive, ridge)
		if err != nil {
			return nil, err
		}
		least := 0
		for j := range x.Cols {
			if w[j] < w[least] {
				least = j
			}
		}
		switch {
		case w[least] < 0:
			used[least] = false
		case slices.Max(w[:x.Cols]) == 0:
			return nil, nil
		default:
			return w, nil
		}
	}
}
