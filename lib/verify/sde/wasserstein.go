package sde

import (
	"math"
	"slices"
)

// wasserstein is the W1 distance of two samples in ascending order: the area between their
// distribution functions, which for equal sizes is the mean of |a_(i) - b_(i)|.
func wasserstein(a, b []float64) float64 {
	if len(a) == len(b) {
		total := 0.0
		for i, v := range a {
			total += math.Abs(v - b[i])
		}
		return total / float64(len(a))
	}
	total, x := 0.0, min(a[0], b[0])
	for i, j := 0, 0; i < len(a) || j < len(b); {
		next := math.Inf(1)
		if i < len(a) {
			next = a[i]
		}
		if j < len(b) {
			next = min(next, b[j])
		}
		total += float64((next - x) * math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
		x = next
		for i < len(a) && a[i] == x {
			i++
		}
		for j < len(b) && b[j] == x {
			j++
		}
	}
	return total
}

// lines holds projections of sets onto lines: row k has the values of all records along line k.
type lines struct{ pool, in, out Matrix }

// sortReferences sorts the references for wasserstein.
func (l *lines) sortReferences() {
	for k := range l.pool.Rows {
		slices.Sort(l.in.Row(k))
		slices.Sort(l.out.Row(k))
	}
}

// compare is the mean over the lines of W1 between the given records and the references.
func (l *lines) compare(rows []int) Distances {
	var d Distances
	x := make([]float64, len(rows))
	for k := range l.pool.Rows {
		line := l.pool.Row(k)
		for i, r := range rows {
			x[i] = line[r]
		}
		slices.Sort(x)
		d.In += wasserstein(x, l.in.Row(k))
		d.Out += wasserstein(x, l.out.Row(k))
	}
	n := float64(l.pool.Rows)
	return Distances{d.In / n, d.Out / n}
}
