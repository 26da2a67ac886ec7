package datasets

import (
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// Prepared is a split table with standardised features, ready for training.
// Row i of Train is row Split.Train[i] of the table.
type Prepared struct {
	Table         *Table
	Train, Test   array.Matrix[float32]
	TrainY, TestY []int
	Split         Split

	// Hash is the SHA-256, in hex, of both parts and their labels.
	Hash string
}

// Prepare standardises every column with the mean and the population standard
// deviation of the train part, in float64, and casts to float32. A column that
// is constant in the train part, by scikit-learn's rule up to rounding, is only
// centred. It is scikit-learn's StandardScaler fitted on the train part.
//
// It fails for an empty part, a row number out of range, and a row that occurs
// twice or in both parts.
func Prepare(t *Table, s Split) (*Prepared, error) {
	if t == nil {
		return nil, errors.New("datasets: no table to prepare")
	}
	if err := checkSplit(t, s); err != nil {
		return nil, err
	}
	mean, scale := scaler(t.X, s.Train)
	p := &Prepared{Table: t, Split: s}
	p.Train, p.TrainY = standardise(t, s.Train, mean, scale)
	p.Test, p.TestY = standardise(t, s.Test, mean, scale)
	h := newHasher()
	h.ints(p.Train.Rows, p.Test.Rows, p.Train.Cols)
	h.singles(p.Train.Data)
	h.singles(p.Test.Data)
	h.ints(p.TrainY...)
	h.ints(p.TestY...)
	p.Hash = h.sum()
	return p, nil
}

func checkSplit(t *Table, s Split) error {
	if err := t.X.Check("datasets: " + t.Name); err != nil {
		return err
	}
	if len(t.Y) != t.X.Rows {
		return fmt.Errorf("datasets: %s: %d labels for %d rows", t.Name, len(t.Y), t.X.Rows)
	}
	if len(s.Train) == 0 || len(s.Test) == 0 {
		return fmt.Errorf("datasets: %s: a split into %d train and %d test rows has an empty part", t.Name, len(s.Train), len(s.Test))
	}
	seen := make([]bool, t.X.Rows)
	for _, part := range [][]int{s.Train, s.Test} {
		for _, i := range part {
			if i < 0 || i >= t.X.Rows {
				return fmt.Errorf("datasets: %s: the split names row %d of %d", t.Name, i, t.X.Rows)
			}
			if seen[i] {
				return fmt.Errorf("datasets: %s: the split names row %d twice", t.Name, i)
			}
			seen[i] = true
		}
	}
	return nil
}

// scaler returns the mean and the divisor of every column over the given rows.
func scaler(x array.Matrix[float64], rows []int) (mean, scale []float64) {
	const eps = 0x1p-52
	n := float64(len(rows))
	mean, scale = make([]float64, x.Cols), make([]float64, x.Cols)
	for _, i := range rows {
		for j, v := range x.Row(i) {
			mean[j] += v
		}
	}
	for j := range mean {
		mean[j] /= n
	}
	drift := make([]float64, x.Cols) // what rounding left in the mean
	for _, i := range rows {
		for j, v := range x.Row(i) {
			d := float64(v - mean[j])
			scale[j] += float64(d * d)
			drift[j] += d
		}
	}
	for j := range scale {
		variance := float64(scale[j]-float64(drift[j]*drift[j])/n) / n
		bound := float64(n * mean[j] * eps)
		if variance <= float64(n*eps*variance)+float64(bound*bound) {
			scale[j] = 1
			continue
		}
		scale[j] = math.Sqrt(variance)
	}
	return mean, scale
}

func standardise(t *Table, rows []int, mean, scale []float64) (array.Matrix[float32], []int) {
	out := array.New[float32](len(rows), t.X.Cols)
	y := make([]int, len(rows))
	for k, i := range rows {
		y[k] = t.Y[i]
		to := out.Row(k)
		for j, v := range t.X.Row(i) {
			to[j] = float32(float64(v-mean[j]) / scale[j])
		}
	}
	return out, y
}
