// Standardisation of a table with the statistics of its train part.

package datasets

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
)

// Prepare standardises every column with the mean and the population standard deviation of the
// train part, in float64, and casts to float32, as scikit-learn's StandardScaler does. A column
// that is constant in the train part (by scikit-learn's rule, up to rounding) is only centred. The
// IDs of the records are their rows in the table; the hash is Prepared.Sum.
//
// It refuses an empty part, a row number out of range, and a row that occurs twice or in both
// parts.
func Prepare(t *Table, s Split) (*Prepared, error) {
	if t == nil {
		return nil, errors.New("datasets: no table to prepare")
	}
	if err := checkSplit(t, s); err != nil {
		return nil, err
	}
	n := scaler(t.X, s.Train)
	p := &Prepared{About: t.About, Train: standardise(t, s.Train, n), Test: standardise(t, s.Test, n), Norm: n}
	p.Hash = p.Sum()
	return p, nil
}

// Sum returns the SHA-256, in hex, of both parts, their labels and their Extra columns. It is the
// Hash of a prepared table; the Hash of other sets identifies their source and preparation.
func (p *Prepared) Sum() string {
	h := newHasher()
	h.ints(p.Train.X.Rows, p.Test.X.Rows, p.Train.X.Cols)
	h.singles(p.Train.X.Data)
	h.singles(p.Test.X.Data)
	h.ints(p.Train.Y...)
	h.ints(p.Test.Y...)
	for _, part := range []Part{p.Train, p.Test} {
		for _, name := range slices.Sorted(maps.Keys(part.Extra)) {
			for _, c := range []byte(name + "\x00") {
				h.ints(int(c))
			}
			h.floats(part.Extra[name])
		}
	}
	return h.sum()
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
func scaler(x array.Matrix[float64], rows []int) Normalisation {
	const eps = 0x1p-52
	n := float64(len(rows))
	mean, scale := make([]float64, x.Cols), make([]float64, x.Cols)
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
	return Normalisation{Mean: mean, SD: scale}
}

func standardise(t *Table, rows []int, n Normalisation) Part {
	out := Part{X: array.New[float32](len(rows), t.X.Cols), Y: gather(t.Y, rows), IDs: slices.Clone(rows)}
	for k, i := range rows {
		to := out.X.Row(k)
		for j, v := range t.X.Row(i) {
			to[j] = float32(float64(v-n.Mean[j]) / n.SD[j])
		}
	}
	return out
}
