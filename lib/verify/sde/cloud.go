// Centred sets of activations, their squared distances, and checks of their values.

package sde

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// cloud is a centred set of activations. Centring keeps the precision when a distance is formed
// from inner products.
type cloud struct {
	m    Matrix    // centred
	mean []float64 // the mean that was subtracted
}

func newCloud(m *Matrix) cloud {
	c := cloud{array.New[float64](m.Rows, m.Cols), make([]float64, m.Cols)}
	for i := range m.Rows {
		kernels.Add64(c.mean, c.mean, m.Row(i))
	}
	for k := range c.mean {
		c.mean[k] /= float64(m.Rows)
	}
	c.m = c.shift(m)
	return c
}

// shift returns m less the mean of the cloud.
func (c cloud) shift(m *Matrix) Matrix {
	out := array.New[float64](m.Rows, m.Cols)
	for i := range m.Rows {
		kernels.Sub64(out.Row(i), m.Row(i), c.mean)
	}
	return out
}

// distances returns the squared Euclidean distances within the cloud,
//
//	|x|^2 + |y|^2 - 2 x.y,
//
// which is exactly 0 for equal rows. Only the lower triangle is filled.
func (c cloud) distances(workers int) Matrix {
	d := products(&c.m, nil, workers)
	norms := diagonal(&d)
	forEach(blockStarts(d.Rows, blockRows), workers, func(first int) {
		for i := first; i < min(first+blockRows, d.Rows); i++ {
			fromProducts(d.Row(i)[:i+1], norms[i], norms)
		}
	})
	return d
}

// distancesTo returns the squared distances to the rows of another matrix,
// which is given before centring.
func (c cloud) distancesTo(other *Matrix, workers int) Matrix {
	o := c.shift(other)
	d := products(&c.m, &o, workers)
	cols := squares(&o)
	for i, x := range squares(&c.m) {
		fromProducts(d.Row(i), x, cols)
	}
	return d
}

func fromProducts(row []float64, x float64, cols []float64) {
	for j, v := range row {
		row[j] = max(0, x+cols[j]-float64(2*v))
	}
}

func diagonal(m *Matrix) []float64 {
	out := make([]float64, m.Rows)
	for i := range out {
		out[i] = m.Data[i*m.Cols+i]
	}
	return out
}

// squares returns the squared norm of every row, by the same operations as products.
func squares(m *Matrix) []float64 {
	out := make([]float64, m.Rows)
	for i := range out {
		for _, v := range m.Row(i) {
			out[i] = math.FMA(v, v, out[i])
		}
	}
	return out
}

// check refuses unusable activations: fewer than least rows, no columns, values that are not
// finite, squared norms that overflow.
func check(name string, m *Matrix, least int) error {
	switch {
	case m == nil:
		return fmt.Errorf("sde: the %s activations are missing", name)
	case m.Rows < least:
		return fmt.Errorf("sde: the %s activations have %d rows, at least %d are needed", name, m.Rows, least)
	case m.Cols < 1:
		return fmt.Errorf("sde: the %s activations have %d columns", name, m.Cols)
	}
	if err := m.Check(name + " activations"); err != nil {
		return fmt.Errorf("sde: %w", err)
	}
	for i := range m.Rows {
		if kernels.Dot(m.Row(i), m.Row(i)) > math.MaxFloat64/16 {
			return fmt.Errorf("sde: %s activations, row %d: the squared norm overflows float64", name, i)
		}
	}
	return nil
}

// checkWidth refuses matrices of different layers.
func checkWidth(nameA string, a *Matrix, nameB string, b *Matrix) error {
	if a.Cols != b.Cols {
		return fmt.Errorf("sde: the %s activations have %d columns, the %s activations %d; all must come from one layer", nameA, a.Cols, nameB, b.Cols)
	}
	return nil
}
