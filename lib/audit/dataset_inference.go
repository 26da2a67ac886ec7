// The lens for the forgotten texts as a set: several scores of membership together.

package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

// DatasetInference asks about the forgotten texts as a set, by several scores of membership
// together: each may tell little, and their sum more. Weights are learned where membership is known,
// on the retained texts and one half of the held-out ones, by a logistic regression with a ridge,
//
//	s(text) = sum_j w_j z_j(text) + b,   w_j >= 0
//
// z_j is score j less its median, over its interquartile range, both of those texts, and at most 5
// up or down, so that no single token decides. All models have the weights of one, which is the
// first original model (without one: the first retrained; without that: the model itself). The value
// is the AUC of s, the forgotten texts against the other half of the held-out ones. Its interval,
// over groups of records where there are some, is the test of the set.
//
// The scores are the mean log-probability, Min-K % at 0.1, 0.2 and 0.4, the zlib ratio where there
// are compressed lengths, and Min-K%++ where all models have means and deviations. Which half of the
// held-out texts is learned on comes from Evidence.Seed.
//
// Null: 0.5, if forgotten and held-out texts have the same distribution: neither took part in the
// learning. Above it the set looks like training data. Scores that tell no retained text from a
// held-out one give no reading, and neither does a model that says the same of most texts.
//
// Differences from the paper (Maini et al. 2024, LLM Dataset Inference, section 5):
//
//  1. weights are learned on retained against held-out texts; the paper has no known members, and
//     learns on one half of the suspected texts themselves, so that a set which the model fits
//     worse than unseen texts counts as in training there, and lies below 0.5 here;
//  2. one model's weights are used for all, so that models differ by their scores alone;
//  3. a score with a negative weight is left out, one after the other: higher always means member;
//  4. logistic regression in place of a linear one;
//  5. the AUC with its interval in place of a t-test's p-value, for which texts are independent;
//  6. four to six scores; the paper has 52.
type DatasetInference struct {
	Ridge float64 // 0: 1
}

var _ Lens = DatasetInference{}

// Name implements Lens.
func (DatasetInference) Name() string { return "dataset inference" }

// Info implements Lens.
func (DatasetInference) Info() Info {
	return Info{
		Measures: "signed AUC of several scores together, weighted as they tell retained from held-out texts, forgotten against held-out texts",
		Asks:     "As a set, by several scores together, do the forgotten texts look like training data?",
		How: "AUC of a weighted sum of the loss, Min-K % at 0.1, 0.2 and 0.4, zlib and Min-K%++ (those that all models have), forgotten against " +
			"half of the held-out texts, with DeLong's interval. The weights, none below 0, are those of the original, with which retained texts " +
			"and the other half are told apart best; the seed draws the halves. Floor as for the loss.",
		Source: "Maini et al. 2024, LLM Dataset Inference",
		Null:   NonmemberNull,
		High:   1,
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
	few := firstReason(TooFewRecords(len(e.Retain), "retained texts"), TooFewRecords(len(learn), "held-out texts to learn from"))
	if few.Call != "" {
		return NoReading(l.Name(), m.Name, few), nil
	}
	z, err := e.directedScore(l, e.teacher(m), e.Retain, learn)
	if err != nil {
		return nil, fmt.Errorf("audit: the lens %q: %w", l.Name(), err)
	}
	if z == nil {
		return NoReading(l.Name(), m.Name, Reason{CannotTell, "no score tells retained texts from held-out ones"}), nil
	}
	var sides, losses [2]Scored
	for k, rows := range [][]int{e.Forget, judge} {
		if sides[k], err = e.scoredBy(z, m, rows); err != nil {
			return nil, err
		}
		if losses[k], err = e.textScores(m, language.Loss{}, rows); err != nil {
			return nil, err
		}
	}
	r, err := e.signedAUC(l.Name(), m.Name, sides[0], sides[1])
	if err == nil {
		r.NoEvidence = firstReason(r.NoEvidence, TiedScores(losses[0].Values, losses[1].Values))
	}
	return r, err
}

// teacher returns the model whose scores the weights are learned on.
func (e *Evidence) teacher(m *Arrays) *Arrays {
	for _, r := range []Role{Original, Retrained} {
		for _, one := range e.ModelsOf(r) {
			if one.Tokens != nil {
				return one
			}
		}
	}
	return m
}

// setScores returns the scores that DatasetInference adds up, which all models have.
func (e *Evidence) setScores() []language.Score {
	out := []language.Score{language.Loss{}, language.MinK{K: 0.1}, language.MinK{}, language.MinK{K: 0.4}}
	if e.Compressed != nil {
		out = append(out, language.Zlib{})
	}
	without := func(m *Arrays) bool { return m.Tokens != nil && m.Tokens.Mean == nil }
	if !slices.ContainsFunc(e.Models, without) {
		out = append(out, language.MinKPlusPlus{})
	}
	return out
}

// allScores returns the scores of some texts, a row each.
func (e *Evidence) allScores(m *Arrays, rows []int) (array.Matrix[float64], error) {
	scores := e.setScores()
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

// scoredBy returns a weighted sum of the scores of some texts.
func (e *Evidence) scoredBy(s *weightedScore, m *Arrays, rows []int) (Scored, error) {
	x, err := e.allScores(m, rows)
	if err != nil {
		return Scored{}, err
	}
	out := Scored{rows, make([]float64, len(rows))}
	for i := range out.Values {
		out.Values[i] = s.weights.At(s.standardised(x.Row(i)))
	}
	return out, nil
}

// directedScore learns the weights of a model's scores; nil: none tells the texts apart.
func (e *Evidence) directedScore(l DatasetInference, m *Arrays, members, others []int) (*weightedScore, error) {
	x, err := e.allScores(m, slices.Concat(members, others))
	if err != nil {
		return nil, err
	}
	return learnScore(x, len(members), cmp.Or(l.Ridge, 1))
}

// weightedScore is a weighted sum of standardised scores.
type weightedScore struct {
	middle, spread []float64 // of each score; spread 0: it says nothing
	weights        stats.Linear
}

// mostSpreads bounds a standardised score.
const mostSpreads = 5

func (s *weightedScore) standardised(x []float64) []float64 {
	out := make([]float64, len(x))
	for j, v := range x {
		if s.spread[j] > 0 {
			out[j] = max(-mostSpreads, min(mostSpreads, (v-s.middle[j])/s.spread[j]))
		}
	}
	return out
}

// learnScore learns the weights that tell the first members rows from the others, without those
// below 0; nil: none is left.
func learnScore(x array.Matrix[float64], members int, ridge float64) (*weightedScore, error) {
	s := &weightedScore{}
	for j := range x.Cols {
		column := make([]float64, x.Rows)
		for i := range column {
			column[i] = x.Row(i)[j]
		}
		slices.Sort(column)
		quarter := x.Rows / 4
		s.middle = append(s.middle, column[x.Rows/2])
		s.spread = append(s.spread, column[x.Rows-1-quarter]-column[quarter])
	}
	positive, rows := make([]bool, x.Rows), make([][]float64, x.Rows)
	for i := range rows {
		positive[i], rows[i] = i < members, s.standardised(x.Row(i))
	}
	for {
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
			for _, row := range rows {
				row[least] = 0 // its weight becomes 0
			}
		case slices.Max(w[:x.Cols]) == 0:
			return nil, nil
		default:
			s.weights = w
			return s, nil
		}
	}
}
