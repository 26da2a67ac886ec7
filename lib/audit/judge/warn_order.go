// Doubts about the order of a model's rows: its losses go along with no other model's, although the others' go along
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

// warnOrder notes models whose losses do not go along with the other models', which go along with each other. Retained
// and held-out records are looked at, in which models need not differ, each alone too: only some rows may be exchanged.
// On forgotten records the retrained models alone need not differ.
func (e *Evidence) warnOrder() {
	models := e.modelsWithLosses(compared...)
	noted := map[*Model]bool{}
	for _, set := range []struct {
		name   string
		rows   []int
		models []*Model
	}{
		{"retained and held-out", append(slices.Clone(e.Retain), e.HeldOut...), models},
		{"retained", e.Retain, models}, {"held-out", e.HeldOut, models}, {"forgotten", e.Forget, e.modelsWithLosses(Retrained)},
	} {
		rows := spaced(set.rows, mostForOrder)
		if len(rows) < minForOrder || len(set.models) < 2 {
			continue
		}
		corr := rankCorrelations(set.models, rows)
		for k, m := range set.models {
			says, doubt := e.orderOf(set.models, corr, k, len(rows))
			if says == "" || noted[m] {
				continue
			}
			noted[m] = true
			e.warn("%s: over %d %s records its losses %s", m.Name, len(rows), set.name, says)
			e.doubt(m, doubt)
		}
	}
}

// modelsWithLosses are the models of some roles whose losses are known.
func (e *Evidence) modelsWithLosses(roles ...audit.Role) (out []*Model) {
	for _, m := range e.Models {
		if slices.Contains(roles, m.Role) && m.Losses != nil {
			out = append(out, m)
		}
	}
	return out
}

// orderOf says what is odd about the losses of model k, and what follows; empty: nothing.
func (e *Evidence) orderOf(models []*Model, corr [][]float64, k, records int) (says, doubt string) {
	const loses = "are its rows in the same order? A model that lost all it knew looks alike."
	own, theirs, odd := outOfOrder(corr, k, records)
	other := otherOrder(corr, k, records)
	switch {
	case odd && own < -orderErrors/math.Sqrt(float64(records)):
		return fmt.Sprintf("have a rank correlation of %.2f with the other models', and those of the others among themselves have %.2f: they rise where the "+
			"others' fall: are they losses, or log-probabilities?", own, theirs), "its losses rise where the other models' fall"
	case odd:
		return fmt.Sprintf("have a rank correlation of %.2f with the other models', and those of the others among themselves have %.2f: %s",
			own, theirs, loses), "its losses go along with no other model's"
	case e.aloneOutOfOrder(models, corr, k, records):
		return fmt.Sprintf("have a rank correlation of %.2f with the other models', and %s fits retained records better than held-out ones, which "+
			"it does not: %s", corr[0][1], models[1-k].Name, loses), "its losses go along with no other model's"
	case other >= 0:
		return fmt.Sprintf("go along with those of some models and have a rank correlation of %.2f with %s's, which go along with others': are all rows "+
			"in the same order?", corr[k][other], models[other].Name), "its losses go along with some models' and not with others'"
	}
	return "", ""
}

// rankCorrelations are those of the losses of every two models; NaN where one has the same loss for all records.
func rankCorrelations(models []*Model, rows []int) [][]float64 {
	at := func(m *Model) []float64 {
		out := make([]float64, len(rows))
		for k, i := range rows {
			out[k] = m.Losses[i]
		}
		return out
	}
	corr := make([][]float64, len(models))
	for k := range corr {
		corr[k] = make([]float64, len(models))
		for j := range k {
			r, err := stats.Spearman(at(models[k]), at(models[j]))
			if err != nil {
				r = math.NaN()
			}
			corr[k][j], corr[j][k] = r, r
		}
	}
	return corr
}

// outOfOrder reports whether model k's losses go along with no other model's, while those of the others do with each
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

// otherOrder returns a model whose losses do not go along with model k's although those of both go along with a third one's
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
