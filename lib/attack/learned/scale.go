package learned

import (
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

// scale holds a mean and a standard deviation per feature, both of the feature divided by a power
// of two.
type scale struct {
	mean, sd []float64
	binade   []int
}

// Standardised returns the records with mean 0 and variance 1 of every feature over both roles, and
// the transformation: (x - mean) factor. A feature without variance becomes 0.
func (r Records) Standardised() (out Records, mean, factor []float64) {
	s := newScale(r.stacked())
	factor = make([]float64, len(s.sd))
	for j, sd := range s.sd {
		if s.varies(j) {
			factor[j] = math.Ldexp(1/sd, -s.binade[j])
		}
		mean = append(mean, math.Ldexp(s.mean[j], s.binade[j]))
	}
	return Records{s.apply(r.Members), s.apply(r.Nonmembers)}, mean, factor
}

// Standardiser learns mean and variance of every feature from known records, a row each. It returns
// a function that standardises those records, and applies the same shift and factor to others. A
// feature without variance becomes 0.
func Standardiser(known array.Matrix[float64]) func(array.Matrix[float64]) array.Matrix[float64] {
	return newScale(known).apply
}

// First returns the records with their first n features.
func (r Records) First(n int) Records {
	return Records{r.Members.FirstColumns(n), r.Nonmembers.FirstColumns(n)}
}

// varies reports whether a feature has a variance, beyond rounding.
func (s scale) varies(j int) bool { return s.sd[j] > 1e-12*math.Abs(s.mean[j]) }

func newScale(m array.Matrix[float64]) scale {
	s := scale{make([]float64, m.Cols), make([]float64, m.Cols), make([]int, m.Cols)}
	largest := make([]float64, m.Cols)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			largest[j] = max(largest[j], math.Abs(v))
		}
	}
	for j, v := range largest {
		s.binade[j] = stats.Binade(v)
	}
	n := float64(m.Rows)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			s.mean[j] += s.divided(j, v) / n
		}
	}
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			d := s.divided(j, v) - s.mean[j]
			s.sd[j] += float64(d*d) / n
		}
	}
	for j, v := range s.sd {
		s.sd[j] = math.Sqrt(v)
	}
	return s
}

// divided returns a value of a feature divided by its power of two.
func (s scale) divided(j int, v float64) float64 {
	if s.binade[j] == 0 {
		return v
	}
	return math.Ldexp(v, -s.binade[j])
}

func (s scale) apply(m array.Matrix[float64]) array.Matrix[float64] {
	out := array.New[float64](m.Rows, m.Cols)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			if s.varies(j) {
				out.Row(i)[j] = (s.divided(j, v) - s.mean[j]) / s.sd[j]
			}
		}
	}
	return out
}
