package learned

import (
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// scale is a mean and a standard deviation per feature.
type scale struct{ mean, sd []float64 }

// Standardised are the records with every feature of mean 0 and variance 1 over both
// roles, and how: (x - mean) factor. A feature without variance becomes 0.
func (r Records) Standardised() (out Records, mean, factor []float64) {
	s := scaler(r.stacked())
	factor = make([]float64, len(s.sd))
	for j, sd := range s.sd {
		if s.varies(j) {
			factor[j] = 1 / sd
		}
	}
	return Records{s.apply(r.Members), s.apply(r.Nonmembers)}, s.mean, factor
}

// Standardiser learns mean and variance of every feature from known records, a row
// each, and returns what makes them 0 and 1: of those records, and by the same shift
// and factor of others. A feature without variance becomes 0.
func Standardiser(known array.Matrix[float64]) func(array.Matrix[float64]) array.Matrix[float64] {
	return scaler(known).apply
}

// First are the records with their first n features alone.
func (r Records) First(n int) Records { return Records{r.Members.First(n), r.Nonmembers.First(n)} }

// varies reports whether a column has a variance, beyond rounding.
func (s scale) varies(j int) bool { return s.sd[j] > 1e-12*math.Abs(s.mean[j]) }

func scaler(m array.Matrix[float64]) scale {
	s := scale{make([]float64, m.Cols), make([]float64, m.Cols)}
	n := float64(m.Rows)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			s.mean[j] += v / n
		}
	}
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			s.sd[j] += float64((v-s.mean[j])*(v-s.mean[j])) / n
		}
	}
	for j, v := range s.sd {
		s.sd[j] = math.Sqrt(v)
	}
	return s
}

func (s scale) apply(m array.Matrix[float64]) array.Matrix[float64] {
	out := array.New[float64](m.Rows, m.Cols)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			if s.varies(j) {
				out.Row(i)[j] = (v - s.mean[j]) / s.sd[j]
			}
		}
	}
	return out
}
