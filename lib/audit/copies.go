// Copies of forgotten records among the retained ones, by inputs alone.

package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Copies says which forgotten records have a copy among the retained ones. What stays in training
// cannot be forgotten: a model retrained without the forgotten records knows such a record too.
// Inputs alone are compared, no labels and no model.
type Copies struct {
	// Identical is the share of the forgotten records with an identical copy, and Near that of those
	// with a near copy and no identical one. Near has no value where it was not measured (NearWhy).
	Identical, Near stats.Estimate
	// IdenticalRows and NearRows are these records.
	IdenticalRows, NearRows []int
	// Measure says when two records are near, in a sentence without its full stop.
	Measure string
	// Chance is the share of records that the measure calls near where none is a copy: it is a quantile of
	// distances between retained records. 0 for texts.
	Chance float64
	// NearWhy says why near copies were not looked for; empty: they were.
	NearWhy string
	// Compared is the number of forgotten records for which near copies were looked for, and Searched
	// that of retained records among which.
	Compared, Searched int
	// HeldOutRows are held-out records with an identical copy among the forgotten or the retained
	// records: the models were trained on these.
	HeldOutRows []int
}

// The measures of a near copy.
const (
	// nearQuantile is the quantile of the distances between retained records below which two vectors
	// are near.
	nearQuantile = 0.01
	// leastForNear is the smallest number of retained records with such a quantile.
	leastForNear = 100
	// shingle is the number of tokens of a shingle, and nearJaccard the share of common ones from which
	// two texts are near.
	shingle     = 5
	nearJaccard = 0.8
	// maxCompared bounds the records of a set whose nearest neighbours are computed, nearWork the
	// products that this takes, and nearNumbers the numbers held in memory.
	maxCompared = 1000
	nearWork    = 1e10
	nearNumbers = 1 << 24
)

// Copies looks for copies of the forgotten records among the retained ones. Identical records are
// found by a hash of their inputs, and compared. Near are
//
//   - vectors whose distance to a retained one that is not identical is below the 1 % quantile of the
//     distances of retained records to their nearest other one. Columns are divided by their standard
//     deviation over the retained records;
//   - texts that share at least 0.8 of their distinct shingles of 5 tokens (Jaccard's index:
//     common ones over all of both) with a retained one. A shorter text is one shingle.
//
// All texts are compared. Of many vectors an evenly spaced part is: at most 1,000 of a set, and as many
// retained ones as 1e10 products allow (Copies.Searched). Near vectors need a retained record with other
// inputs for every one (Copies.NearWhy).
func (e *Evidence) Copies() (*Copies, error) {
	if err := e.checkInputs(); err != nil {
		return nil, err
	}
	if len(e.Forget) == 0 || len(e.Retain) == 0 {
		return nil, fmt.Errorf("audit: there are no forgotten or no retained records")
	}
	defer progress.Begin("looking for copies", 0).Done()
	x, err := e.inputRows()
	if err != nil {
		return nil, err
	}
	c := &Copies{}
	same := identical(x, e.Forget, e.Retain)
	c.IdenticalRows = rowsWhere(e.Forget, same)
	c.HeldOutRows = rowsWhere(e.HeldOut, identical(x, e.HeldOut, slices.Concat(e.Forget, e.Retain)))
	if c.Identical, err = e.shareOf(e.Forget, same); err != nil {
		return nil, err
	}
	compared, near, err := e.nearCopies(c, e.Forget)
	if err != nil || c.NearWhy != "" {
		c.Near = stats.Estimate{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
		return c, err
	}
	for k, i := range compared {
		near[k] = near[k] && !slices.Contains(c.IdenticalRows, i)
	}
	c.NearRows, c.Compared = rowsWhere(compared, near), len(compared)
	c.Near, err = e.shareOf(compared, near)
	return c, err
}

// nearCopies returns which of the forgotten records that are compared have a near copy.
func (e *Evidence) nearCopies(c *Copies, forget []int) (compared []int, near []bool, err error) {
	if e.Texts != nil {
		c.Measure = fmt.Sprintf("texts that share at least %g of their distinct shingles of %d tokens", nearJaccard, shingle)
		c.Searched = len(e.Retain)
		return forget, e.nearTexts(forget), nil
	}
	c.Chance = nearQuantile
	c.Measure = fmt.Sprintf("vectors that are closer than the %g %% quantile of the distances of retained records to their nearest other one, with columns "+
		"divided by their standard deviation", 100*nearQuantile)
	if len(e.Retain) < leastForNear {
		c.NearWhy = fmt.Sprintf("%d retained records have no such quantile; %d are needed", len(e.Retain), leastForNear)
		return nil, nil, nil
	}
	compared = evenlySpaced(forget, maxCompared)
	all, err := e.Inputs.Read()
	if err != nil {
		return nil, nil, err
	}
	_, cols := all.Shape()
	most := min(nearNumbers/cols, int(nearWork/float64(cols)/float64(len(compared)+maxCompared)))
	rows := evenlySpaced(e.Retain, max(leastForNear, most))
	g, err := newGallery(all, rows, rows)
	if err != nil {
		return nil, nil, err
	}
	c.Searched = len(g.rows)
	own := g.nearest(evenlySpaced(g.rows, maxCompared), false)
	if alone := countInfinite(own); alone > 0 {
		c.NearWhy = fmt.Sprintf("%d of %d retained records have no other one whose inputs differ from theirs, so that there is no such quantile",
			alone, len(own))
		return nil, nil, nil
	}
	threshold, err := stats.Quantile(own, nearQuantile)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range g.nearest(compared, false) {
		near = append(near, d < threshold)
	}
	return compared, near, nil
}

func countInfinite(x []float64) (n int) {
	for _, v := range x {
		if math.IsInf(v, 0) {
			n++
		}
	}
	return n
}

// gallery holds records in standardised columns.
type gallery struct {
	all         array.Rows
	rows        []int
	x           array.Matrix[float64]
	mean, scale []float64
}

// newGallery returns some records of all in columns that are divided by their standard deviation over
// others.
func newGallery(all array.Rows, rows, others []int) (*gallery, error) {
	_, cols := all.Shape()
	g := &gallery{all: all, rows: rows, mean: make([]float64, cols), scale: make([]float64, cols), x: array.New[float64](len(rows), cols)}
	n, squares, buffer, largest := float64(len(others)), make([]float64, cols), make([]float64, cols), make([]float64, cols)
	for _, i := range others {
		for j, v := range all.Read(buffer, i) {
			g.mean[j] += v / n
			largest[j] = max(largest[j], math.Abs(v))
		}
	}
	// Columns are squared in units of a power of two, which is exact: squares of 1e-200 would be 0.
	exponents := make([]int, cols)
	for j, v := range largest {
		_, exponents[j] = math.Frexp(v)
	}
	for _, i := range others {
		for j, v := range all.Read(buffer, i) {
			d := math.Ldexp(v-g.mean[j], -exponents[j])
			squares[j] += float64(d*d) / n
		}
	}
	for j, v := range squares {
		// A constant column is the same for all, or as far apart as it says.
		g.scale[j] = cmp.Or(math.Ldexp(math.Sqrt(v), exponents[j]), 1)
	}
	for k, i := range rows {
		copy(g.x.Row(k), all.Read(g.x.Row(k), i))
		g.standardise(g.x.Row(k))
	}
	if err := g.x.Check("inputs"); err != nil {
		return nil, err
	}
	return g, nil
}

func (g *gallery) standardise(row []float64) {
	for j, v := range row {
		row[j] = (v - g.mean[j]) / g.scale[j]
	}
}

// nearest returns the squared distances of records to the nearest in the gallery, that is not identical
// unless identical ones count; +Inf where there is none.
func (g *gallery) nearest(records []int, identical bool) []float64 {
	out := make([]float64, len(records))
	array.SplitRows(len(records), g.x.Cols*len(g.rows), func(from, to int) {
		row := make([]float64, g.x.Cols)
		for k := from; k < to; k++ {
			copy(row, g.all.Read(row, records[k]))
			g.standardise(row)
			out[k] = math.Inf(1)
			for i := range g.rows {
				if d := squaredDistance(row, g.x.Row(i), out[k]); d > 0 || identical {
					out[k] = min(out[k], d)
				}
			}
		}
	})
	return out
}

// squaredDistance stops adding where the sum is above most.
func squaredDistance(a, b []float64, most float64) float64 {
	sum := 0.0
	for from := 0; from < len(a) && sum <= most; from += 64 {
		to := min(from+64, len(a))
		for j, v := range a[from:to] {
			d := v - b[from+j]
			sum += float64(d * d)
		}
	}
	return sum
}

// nearTexts returns which texts share enough shingles with a retained one. Only shingles of the texts
// in question are kept.
func (e *Evidence) nearTexts(rows []int) []bool {
	has, sizes := map[uint64][]int{}, make([]int, len(rows))
	for k, i := range rows {
		for s := range shingles(e.Texts[i]) {
			has[s] = append(has[s], k)
			sizes[k]++
		}
	}
	near, common := make([]bool, len(rows)), make([]int, len(rows))
	for _, j := range e.Retain {
		theirs := shingles(e.Texts[j])
		clear(common)
		for s := range theirs {
			for _, k := range has[s] {
				common[k]++
			}
		}
		for k, n := range common {
			near[k] = near[k] || float64(n) >= nearJaccard*float64(sizes[k]+len(theirs)-n)
		}
	}
	return near
}

// shingles returns the distinct shingles of a text, as hashes.
func shingles(tokens []int) map[uint64]bool {
	out := map[uint64]bool{}
	for from := 0; from == 0 || from+shingle <= len(tokens); from++ {
		out[hashTokens(tokens[from:min(from+shingle, len(tokens))])] = true
	}
	return out
}

// shareOf returns the share of records for which something holds, over groups where there are some.
func (e *Evidence) shareOf(rows []int, holds []bool) (stats.Estimate, error) {
	return stats.ClusterShare([][]bool{holds}, []stats.Clusters{e.Clusters(rows)}, level, e.Units())
}

// rowsWhere returns the rows for which something holds.
func rowsWhere(rows []int, holds []bool) (out []int) {
	for k, i := range rows {
		if holds[k] {
			out = append(out, i)
		}
	}
	return out
}
