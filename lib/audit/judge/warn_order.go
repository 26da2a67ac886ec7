// Doubts about the order of a model's rows: its numbers go along with no other model's, although the others' go along
// with each other.

package judge

import (
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/stats"
)

// The limits of warnOrder. The losses of rows in another order have a rank correlation with other models' whose standard
// deviation is the inverse root of the number of records.
const (
	minForOrder  = 60   // records
	mostForOrder = 4000 // of them an evenly spaced part, so that large folders take no longer
	orderErrors  = 2.5  // standard deviations: up to here a correlation is as of rows in another order
	leastOthers  = 0.3  // the least correlation of the other models among themselves
)

// lossNumbers is the name of losses among orderArrays.
const lossNumbers = "losses"

// orderArrays are the numbers of records that models are compared by, each with its name in a sentence. Greater is worse
// for all of them, as for a loss.
var orderArrays = []struct {
	name string
	of   func(m *Model) func(record int) float64 // nil: the model has none
}{
	{lossNumbers, func(m *Model) func(int) float64 { return numbersOf(m.Losses) }},
	{"log-probabilities of right answers (answers.npy)", func(m *Model) func(int) float64 {
		if m.Answers == nil {
			return nil
		}
		return func(i int) float64 { return -m.Answers.Right[i] }
	}},
	{"mean log-probabilities of wrong answers (answers.npy)", func(m *Model) func(int) float64 {
		if m.Answers == nil {
			return nil
		}
		return func(i int) float64 { return -meanOf(m.Answers.Wrong[i]) }
	}},
	{"log-probabilities behind another text (logprob_prefixed.npy)", func(m *Model) func(int) float64 { return first(tokenMeans(m.Prefixed)) }},
	{"log-probabilities with patched layers (patched.npy)", func(m *Model) func(int) float64 { return first(patchedOf(m)) }},
	{"means over the vocabulary (logprob_mean.npy)", func(m *Model) func(int) float64 {
		if m.Tokens == nil || m.Tokens.Mean == nil {
			return nil
		}
		return func(i int) float64 { return -meanOf(m.Tokens.Mean[m.Tokens.Offset[i]:m.Tokens.Offset[i+1]]) }
	}},
	{"deviations over the vocabulary (logprob_deviation.npy)", func(m *Model) func(int) float64 {
		if m.Tokens == nil || m.Tokens.Deviation == nil {
			return nil
		}
		return func(i int) float64 { return meanOf(m.Tokens.Deviation[m.Tokens.Offset[i]:m.Tokens.Offset[i+1]]) }
	}},
}

// numbersOf returns the function that gives the numbers of x; nil of nil.
func numbersOf(x []float64) func(int) float64 {
	if x == nil {
		return nil
	}
	return func(i int) float64 { return x[i] }
}

// first is the one number of a record that a function of unitArrays gives.
func first(of func(int) []float64) func(int) float64 {
	if of == nil {
		return nil
	}
	return func(i int) float64 { return of(i)[0] }
}

func meanOf(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// ordered are models with what is compared of one array.
type ordered struct {
	name   string
	models []*Model
	of     []func(record int) float64
}

// with keeps the models of some roles.
func (o ordered) with(roles ...audit.Role) ordered {
	out := ordered{name: o.name}
	for k, m := range o.models {
		if slices.Contains(roles, m.Role) {
			out.models, out.of = append(out.models, m), append(out.of, o.of[k])
		}
	}
	return out
}

// warnOrder notes models whose numbers do not go along with the other models', which go along with each other: their
// losses, and the other arrays with numbers of records.
func (e *Evidence) warnOrder() {
	for _, a := range orderArrays {
		o := ordered{name: a.name}
		for _, m := range e.Models {
			if of := a.of(m); slices.Contains(compared, m.Role) && of != nil {
				o.models, o.of = append(o.models, m), append(o.of, of)
			}
		}
		e.warnOrderOf(o)
	}
}

// warnOrderOf looks at one array. Retained and held-out records are looked at, in which models need not differ, each alone
// too: only some rows may be exchanged. On forgotten records the retrained models alone need not differ.
func (e *Evidence) warnOrderOf(o ordered) {
	noted := map[*Model]bool{}
	for _, set := range []struct {
		name string
		rows []int
		of   ordered
	}{
		{"retained and held-out", append(slices.Clone(e.Retain), e.HeldOut...), o},
		{"retained", e.Retain, o}, {"held-out", e.HeldOut, o}, {"forgotten", e.Forget, o.with(Retrained)},
	} {
		rows := spaced(set.rows, mostForOrder)
		if len(rows) < minForOrder || len(set.of.models) < 2 {
			continue
		}
		corr := set.of.rankCorrelations(rows)
		for k, m := range set.of.models {
			says, doubt := e.orderOf(set.of, corr, k, rows)
			if says == "" || noted[m] {
				continue
			}
			noted[m] = true
			e.warn("%s: over %d %s records its %s %s", m.Name, len(rows), set.name, o.name, says)
			e.doubt(m, doubt)
		}
	}
}

// orderOf says what is odd about the numbers of model k, and what follows; empty: nothing.
func (e *Evidence) orderOf(o ordered, corr [][]float64, k int, rows []int) (says, doubt string) {
	const loses = "are its rows in the same order? A model that lost all it knew looks alike."
	records := len(rows)
	own, theirs, odd := outOfOrder(corr, k, records)
	other := otherOrder(corr, k, records)
	switch {
	case odd && o.name == lossNumbers && own < -orderErrors/math.Sqrt(float64(records)):
		return fmt.Sprintf("have a rank correlation of %.2f with the other models', and those of the others among themselves have %.2f: they rise where the "+
			"others' fall: are they losses, or log-probabilities?", own, theirs), "its losses rise where the other models' fall"
	case odd:
		return fmt.Sprintf("have a rank correlation of %.2f with the other models', and those of the others among themselves have %.2f: %s",
			own, theirs, loses), "its " + o.name + " go along with no other model's"
	case o.name == lossNumbers && e.aloneOutOfOrder(o.models, corr, k, records):
		return fmt.Sprintf("have a rank correlation of %.2f with the other models', and %s fits retained records better than held-out ones, which "+
			"it does not: %s", corr[0][1], o.models[1-k].Name, loses), "its losses go along with no other model's"
	case o.lossesGoAlong(corr, k, rows):
		return fmt.Sprintf("have a rank correlation of %.2f with %s's, whose losses go along with its losses: %s", corr[0][1], o.models[1-k].Name, loses),
			"its " + o.name + " go along with no other model's"
	case other >= 0:
		return fmt.Sprintf("go along with those of some models and have a rank correlation of %.2f with %s's, which go along with others': are all rows "+
			"in the same order?", corr[k][other], o.models[other].Name), "its " + o.name + " go along with some models' and not with others'"
	}
	return "", ""
}

// lossesGoAlong reports, of an unlearned model and one other, whether their losses go along although what is compared does
// not.
func (o ordered) lossesGoAlong(corr [][]float64, k int, rows []int) bool {
	limit := orderErrors / math.Sqrt(float64(len(rows)))
	if len(o.models) != 2 || o.models[k].Role != Unlearned || !(corr[0][1] <= limit) || o.models[0].Losses == nil || o.models[1].Losses == nil {
		return false
	}
	losses := ordered{models: o.models, of: []func(int) float64{numbersOf(o.models[0].Losses), numbersOf(o.models[1].Losses)}}
	return losses.rankCorrelations(rows)[0][1] >= max(leastOthers, 2*limit)
}

// rankCorrelations are those of the numbers of every two models; NaN where one has the same number for all records.
func (o ordered) rankCorrelations(rows []int) [][]float64 {
	numbers := make([][]float64, len(o.models))
	for k, of := range o.of {
		for _, i := range rows {
			numbers[k] = append(numbers[k], of(i))
		}
	}
	corr := make([][]float64, len(o.models))
	for k := range corr {
		corr[k] = make([]float64, len(o.models))
		for j := range k {
			r, err := stats.Spearman(numbers[k], numbers[j])
			if err != nil {
				r = math.NaN()
			}
			corr[k][j], corr[j][k] = r, r
		}
	}
	return corr
}

// outOfOrder reports whether model k's numbers go along with no other model's, while those of the others do with each
// other: its correlation with the others, and theirs. There must be two others.
func outOfOrder(corr [][]float64, k, records int) (own, theirs float64, odd bool) {
	var with, among []float64
	for j := range corr {
		if j == k {
			continue
		}
		with = append(with, corr[k][j])
		for i := range j {
			if i != k {
				among = append(among, corr[j][i])
			}
		}
	}
	if len(among) == 0 || slices.ContainsFunc(append(with, among...), math.IsNaN) {
		return 0, 0, false
	}
	limit := orderErrors / math.Sqrt(float64(records))
	own, theirs = median(with), median(among)
	return own, theirs, own <= limit && theirs >= max(leastOthers, 2*limit)
}

// otherOrder returns a model whose numbers do not go along with model k's although those of both go along with a third one's
// each, as where the rows of several models are in one other order; -1: there is none.
func otherOrder(corr [][]float64, k, records int) int {
	limit := orderErrors / math.Sqrt(float64(records))
	accompanied := func(m, but int) bool {
		for j, r := range corr[m] {
			if j != m && j != but && r >= max(leastOthers, 2*limit) {
				return true
			}
		}
		return false
	}
	for j, r := range corr[k] {
		if j != k && r <= limit && accompanied(k, j) && accompanied(j, k) {
			return j
		}
	}
	return -1
}

// aloneOutOfOrder is outOfOrder for an unlearned model and one other: that one must fit retained records better than
// held-out ones, as it would have been trained to, and the unlearned model must not.
func (e *Evidence) aloneOutOfOrder(models []*Model, corr [][]float64, k, records int) bool {
	if len(models) != 2 || models[k].Role != Unlearned || !(corr[0][1] <= orderErrors/math.Sqrt(float64(records))) {
		return false
	}
	return e.fitsBetter(models[1-k], e.Retain, e.HeldOut) && !e.fitsBetter(models[k], e.Retain, e.HeldOut)
}

// spaced returns at most n of some rows, evenly spaced.
func spaced(rows []int, n int) []int {
	if len(rows) <= n {
		return rows
	}
	out := make([]int, n)
	for k := range out {
		out[k] = rows[k*len(rows)/n]
	}
	return out
}
