package learned

import (
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// scale is a mean and a standard deviation per feature.
type scale struct{ mean, sd []float64 }

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
			if s.sd[j] > 1e-12*math.Abs(s.mean[j]) {
				out.Row(i)[j] = (v - s.mean[j]) / s.sd[j]
			}
		}
	}
	return out
}
