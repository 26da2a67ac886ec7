// A linear probe of a latent space.

package utility

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Probe measures how well a linear rule predicts the types of cells from a model's latent means:
// the share of cells whose type a logistic regression predicts that was trained on the other
// folds,
//
//	the type c with the largest w_c.x + b_c,  each trained for c against the rest
//
// The zero value has the folds and the penalty of the published program of "Fishing for Privacy".
// Null: MajorityShare, the accuracy of always predicting the most frequent type; higher is better.
// Folds are those of scikit-learn's StratifiedKFold without shuffling.
//
// Differences from that program: (1) a regression per type against the rest instead of one
// multinomial regression; (2) the share over all cells instead of the mean over folds; (3) it
// probes the retained cells, on which the model was trained. As there, features are not
// standardised, so means that have shrunk to zero count as lost.
type Probe struct {
	Folds int     // 0: 5
	Ridge float64 // 0: 1
}

// Accuracy returns the probe's accuracy on latent means, a row per cell, with Wilson's interval
// over cells. It refuses labels that are all equal and more folds than cells.
func (p Probe) Accuracy(ctx context.Context, means array.Matrix[float64], types []int) (*stats.Estimate, error) {
	if _, err := countTypes("Probe", means, types); err != nil {
		return nil, err
	}
	folds := cmp.Or(p.Folds, 5)
	if folds < 2 || folds > means.Rows {
		return nil, fmt.Errorf("utility.Probe: %d folds of %d cells", folds, means.Rows)
	}
	ctx, task := progress.Start(ctx, "probe", folds)
	defer task.Done()
	foldOf, right := stratified(types, folds), 0
	for k := range folds {
		n, err := p.countRight(ctx, means, types, foldOf, k)
		if err != nil {
			return nil, err
		}
		right += n
		task.Add(1)
	}
	e := stats.Wilson(float64(right)/float64(means.Rows), means.Rows, 0.95).WithNull(MajorityShare(types), stats.HigherIsBetter)
	return &e, nil
}

// MajorityShare returns the share of the most frequent type.
func MajorityShare(types []int) float64 {
	count, most := map[int]int{}, 0
	for _, c := range types {
		count[c]++
		most = max(most, count[c])
	}
	return float64(most) / float64(len(types))
}

// countRight returns the number of right predictions in fold k.
func (p Probe) countRight(ctx context.Context, x array.Matrix[float64], types, foldOf []int, k int) (right int, err error) {
	var rows [][]float64
	var known []int
	for i, f := range foldOf {
		if f != k {
			rows, known = append(rows, x.Row(i)), append(known, types[i])
		}
	}
	names := slices.Compact(slices.Sorted(slices.Values(known)))
	rules := make([]stats.Linear, len(names))
	for c, name := range names {
		positive := make([]bool, len(known))
		for i, y := range known {
			positive[i] = y == name
		}
		if rules[c], err = stats.Logistic(ctx, rows, positive, cmp.Or(p.Ridge, 1)); err != nil {
			return 0, fmt.Errorf("utility.Probe: type %d: %w", name, err)
		}
	}
	for i, f := range foldOf {
		if f == k && names[bestRule(rules, x.Row(i))] == types[i] {
			right++
		}
	}
	return right, nil
}

// bestRule returns the index of the rule with the greatest value at x.
func bestRule(rules []stats.Linear, x []float64) int {
	best := 0
	for c, w := range rules {
		if w.At(x) > rules[best].At(x) {
			best = c
		}
	}
	return best
}

// stratified returns the fold of every record, as scikit-learn's StratifiedKFold without
// shuffling: records sorted by class (in order of first occurrence) determine how many of each
// class a fold gets; then the folds are filled in the order of the records.
func stratified(types []int, folds int) []int {
	var classes []int
	size := map[int]int{}
	for _, c := range types {
		if size[c] == 0 {
			classes = append(classes, c)
		}
		size[c]++
	}
	quota, assigned := map[int][]int{}, 0
	for _, c := range classes {
		quota[c] = make([]int, folds)
		for range size[c] {
			quota[c][assigned%folds]++
			assigned++
		}
	}
	out, at := make([]int, len(types)), map[int]int{}
	for i, c := range types {
		for quota[c][at[c]] == 0 {
			at[c]++
		}
		quota[c][at[c]]--
		out[i] = at[c]
	}
	return out
}
