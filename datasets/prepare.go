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
	mean, squares, drift, spread := make([]float64, x.Cols), make([]float64, x.Cols), make([]float64, x.Cols), make([]float64, x.Cols)
	for _, i := range rows {
		for j, v := range x.Row(i) {
			mean[j] += v
		}
	}
	for j := range mean {
		mean[j] /= float64(len(rows))
	}
	for _, i := range rows {
		for j, v := range x.Row(i) {
			d := float64(v - mean[j])
			squares[j] += float64(d * d)
			drift[j] += d // what rounding left in the mean
			spread[j] = max(spread[j], math.Abs(d))
		}
	}
	scale := make([]float64, x.Cols)
	for j := range scale {
		if overflows := squares[j]-squares[j] != 0; overflows || squares[j] < 0x1p-900 && spread[j] > 0 {
			mean[j], scale[j] = rescaledColumn(x, rows, j)
			continue
		}
		scale[j] = divisor(mean[j], squares[j], drift[j], float64(len(rows)))
	}
	return Normalisation{Mean: mean, SD: scale}
}

// divisor is the standard deviation of n values, from the sum of squares around their mean and what rounding
// left in it; 1 where rounding alone explains that they differ.
func divisor(mean, squares, drift, n float64) float64 {
	const eps = 0x1p-52
	variance := float64(squares-float64(drift*drift)/n) / n
	bound := float64(n * mean * eps)
	if variance <= float64(n*eps*variance)+float64(bound*bound) {
		return 1
	}
	return math.Sqrt(variance)
}

// rescaledColumn is scaler of one column whose squares are too large or too small for a float64: the numbers
// are divided by a power of two first, which rounds nothing.
func rescaledColumn(x array.Matrix[float64], rows []int, j int) (mean, scale float64) {
	largest := 0.0
	for _, i := range rows {
		largest = max(largest, math.Abs(x.Row(i)[j]))
	}
	if largest-largest != 0 {
		return 0, 1 // such numbers are refused later, with their place
	}
	_, exponent := math.Frexp(largest)
	column := array.New[float64](len(rows), 1)
	for k, i := range rows {
		column.Data[k] = math.Ldexp(x.Row(i)[j], -exponent)
	}
	all := make([]int, len(rows))
	for k := range all {
		all[k] = k
	}
	n := scaler(column, all)
	if n.SD[0] == 1 { // constant, up to rounding
		return math.Ldexp(n.Mean[0], exponent), 1
	}
	return math.Ldexp(n.Mean[0], exponent), math.Ldexp(n.SD[0], exponent)
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
