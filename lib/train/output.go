package train

import (
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// Softmax returns softmax(logits / t) row by row, computed in float64.
func Softmax(logits array.Matrix[float32], t float64) array.Matrix[float32] {
	out := array.New[float32](logits.Rows, logits.Cols)
	for i := range logits.Rows {
		z, p := logits.Row(i), out.Row(i)
		lse := logSumExp(z, t)
		for c, v := range z {
			p[c] = float32(math.Exp(float64(v)/t - lse))
		}
	}
	return out
}

// Losses returns the cross-entropy of every record, log sum_c exp(z_c) - z_y, in float64.
func Losses(logits array.Matrix[float32], y []int) []float64 {
	out := make([]float64, logits.Rows)
	for i := range out {
		z := logits.Row(i)
		out[i] = logSumExp(z, 1) - float64(z[y[i]])
	}
	return out
}

// Accuracy returns the share of records whose largest logit is that of their label. Of
// equal logits the first counts, as in NumPy's argmax.
func Accuracy(logits array.Matrix[float32], y []int) float64 {
	hits := 0
	for i := range logits.Rows {
		best := 0
		for c, v := range logits.Row(i) {
			if v > logits.Row(i)[best] {
				best = c
			}
		}
		if best == y[i] {
			hits++
		}
	}
	return float64(hits) / float64(logits.Rows)
}

func logSumExp(z []float32, t float64) float64 {
	top := math.Inf(-1)
	for _, v := range z {
		top = math.Max(top, float64(v)/t)
	}
	var sum float64
	for _, v := range z {
		sum += math.Exp(float64(v)/t - top)
	}
	return top + math.Log(sum)
}
