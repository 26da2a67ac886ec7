// The distance feature: the mean distance of a record's code to its nearest codes
// in a reference sample.

package features

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/cells"
)

// Neighbours measures the distance of records to their nearest neighbours: for every row of Codes
// the mean Euclidean distance to the K nearest rows of Reference.
type Neighbours struct {
	Codes     array.Rows // of the records to measure
	Reference array.Rows // of the records that are searched
	K         int        // 0: 5, the paper's feature
	// Exclude returns the row of Reference that is not a neighbour of record i, for instance i
	// itself; negative: none. nil: no row is excluded.
	Exclude func(i int) int
}

// WithDistance appends the paper's 70th feature: the mean distance of a record's code to the 5
// nearest codes of a sample of retained cells. The paper samples both codes from the posterior and
// takes 5,000 retained cells; the feature is then as noisy as the posterior is wide. A record that
// is in the reference has a distance of 0 to itself, unless Exclude leaves it out.
func WithDistance(m array.Matrix[float64], n Neighbours) (array.Matrix[float64], error) {
	d, err := n.MeanDistances()
	if err != nil {
		return array.Matrix[float64]{}, err
	}
	if len(d) != m.Rows {
		return array.Matrix[float64]{}, fmt.Errorf("features: %d codes for %d rows of features", len(d), m.Rows)
	}
	out := array.New[float64](m.Rows, m.Cols+1)
	for i, v := range d {
		row := out.Row(i)
		copy(row, m.Row(i))
		row[m.Cols] = v
	}
	return out, nil
}

// MeanDistances returns exact mean distances, in float64. Null: none; the value says how rare a
// record's neighbourhood is, whether or not it was trained on.
func (n Neighbours) MeanDistances() ([]float64, error) {
	k, err := n.check()
	if err != nil {
		return nil, err
	}
	most := k
	if n.Exclude != nil {
		most++
	}
	near, err := cells.Nearest(dense(n.Codes), dense(n.Reference), most)
	if err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	out := make([]float64, near.Rows)
	for i := range out {
		without := -1
		if n.Exclude != nil {
			without = n.Exclude(i)
		}
		out[i] = meanDistance(near, i, k, without)
	}
	return out, nil
}

// meanDistance returns the mean distance of the k nearest neighbours of record i other than the row
// without.
func meanDistance(near *cells.Neighbours, i, k, without int) float64 {
	index, distance := near.Row(i)
	sum, left := 0.0, k
	for e, j := range index {
		if j == without || left == 0 {
			continue
		}
		sum, left = sum+distance[e], left-1
	}
	return sum / float64(k)
}

func (n Neighbours) check() (k int, err error) {
	if n.Codes == nil || n.Reference == nil {
		return 0, errors.New("features: there are no codes, or no reference")
	}
	if err := errors.Join(n.Codes.Check("codes"), n.Reference.Check("reference codes")); err != nil {
		return 0, fmt.Errorf("features: %w", err)
	}
	k = cmp.Or(n.K, 5)
	rows, cols := n.Reference.Shape()
	others := rows
	if n.Exclude != nil {
		others--
	}
	if k < 1 || k > others {
		return 0, fmt.Errorf("features: the %d nearest of %d reference codes", k, others)
	}
	if _, d := n.Codes.Shape(); d != cols || d == 0 {
		return 0, fmt.Errorf("features: codes have %d axes, the reference %d", d, cols)
	}
	return k, nil
}

func dense(m array.Rows) array.Matrix[float64] {
	rows, cols := m.Shape()
	out := array.New[float64](rows, cols)
	for i := range rows {
		copy(out.Row(i), m.Read(out.Row(i), i))
	}
	return out
}
