package train

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// Softmax returns softmax(logits / t) row by row, computed in float64. It panics, with the argument's name,
// for a temperature that is not positive or rows of other sizes than logits says.
func Softmax(logits array.Matrix[float32], t float64) array.Matrix[float32] {
	if !(t > 0) || math.IsInf(t, 1) {
		panic(fmt.Errorf("train.Softmax: the temperature t is %v; it must be positive", t))
	}
	checkShape("Softmax", logits)
	return softmaxAt(logits, t)
}

func softmaxAt(logits array.Matrix[float32], t float64) array.Matrix[float32] {
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

// Losses returns the cross-entropy of every record, log sum_c exp(z_c) - z_y, in float64. It panics, with
// the argument's name, for labels that do not fit the logits.
func Losses(logits array.Matrix[float32], y []int) []float64 {
	checkLabels("Losses", logits, y)
	out := make([]float64, logits.Rows)
	for i := range out {
		z := logits.Row(i)
		out[i] = logSumExp(z, 1) - float64(z[y[i]])
	}
	return out
}

// Accuracy returns the share of records whose largest logit is that of their label. Of
// equal logits the first counts, as in NumPy's argmax. It panics, with the argument's name, for labels
// that do not fit the logits.
func Accuracy(logits array.Matrix[float32], y []int) float64 {
	checkLabels("Accuracy", logits, y)
	hits := 0
	for _, is := range Correct(logits, y) {
		if is {
			hits++
		}
	}
	return float64(hits) / float64(logits.Rows)
}

// Correct says of every row whether its largest logit, the first of equal ones, is that of its label.
func Correct(logits array.Matrix[float32], y []int) []bool {
	out := make([]bool, logits.Rows)
	for i := range out {
		best := 0
		for c, v := range logits.Row(i) {
			if v > logits.Row(i)[best] {
				best = c
			}
		}
		out[i] = best == y[i]
	}
	return out
}

// checkShape panics for a matrix whose numbers are others than its rows and columns say.
func checkShape(function string, logits array.Matrix[float32]) {
	if logits.Rows < 0 || logits.Cols < 0 || len(logits.Data) != logits.Rows*logits.Cols {
		panic(fmt.Errorf("train.%s: logits is %d x %d and has %d numbers", function, logits.Rows, logits.Cols, len(logits.Data)))
	}
}

// checkLabels panics for labels that are not one class per row of logits.
func checkLabels(function string, logits array.Matrix[float32], y []int) {
	checkShape(function, logits)
	if len(y) != logits.Rows {
		panic(fmt.Errorf("train.%s: y has %d labels, logits %d records", function, len(y), logits.Rows))
	}
	for i, class := range y {
		if class < 0 || class >= logits.Cols {
			panic(fmt.Errorf("train.%s: y[%d] is %d, logits has the classes 0 to %d", function, i, class, logits.Cols-1))
		}
	}
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
