package cells

// The randomised and the exact method of PCA.

import (
	"errors"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"

	"gonum.org/v1/gonum/mat"
)

// randomised returns k approximate leading right singular vectors of c, a row each: an
// orthonormal basis Q of the range of (X X')^q X O, with O random, and the singular vectors of
// Q'X. The basis is orthonormalised after every product; otherwise rounding leaves only the
// largest component.
func randomised(c *centred, p PCA, rng *rand.Rand) (array.Matrix[float64], error) {
	width := min(p.Components+p.Oversample, c.n, c.genes)
	y := c.times(array.Normal(rng, c.genes, width, 1))
	for range p.Powers {
		y = c.times(basis(c.transposeTimes(basis(y))))
	}
	b := c.transposeTimes(basis(y)) // X'Q, genes x width
	return leadingColumns(b, min(p.Components, b.Cols))
}

// basis returns an orthonormal basis of the columns of a.
func basis(a array.Matrix[float64]) array.Matrix[float64] {
	return orthonormal(a.Transpose()).Transpose()
}

// exact returns the k leading right singular vectors of c, a row each.
func exact(c *centred, k int) (array.Matrix[float64], error) {
	a := array.New[float64](c.genes, c.n)
	for i := range c.n {
		for j, m := range c.mean {
			a.Data[j*c.n+i] = -m
		}
		columns, values := c.row(i)
		for e, v := range values {
			a.Data[column(columns, e)*c.n+i] += float64(v)
		}
	}
	return leadingColumns(a, k)
}

// leadingColumns returns the k leading left singular vectors of a, a row each.
func leadingColumns(a array.Matrix[float64], k int) (array.Matrix[float64], error) {
	if k == 0 {
		return array.Matrix[float64]{}, nil
	}
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(a.Rows, a.Cols, a.Data), mat.SVDThinU) {
		return array.Matrix[float64]{}, errors.New("cells.PCA: the singular value decomposition failed")
	}
	var u mat.Dense
	svd.UTo(&u)
	out := array.New[float64](k, a.Rows)
	for i := range k {
		mat.Col(out.Row(i), i, &u)
	}
	return out, nil
}
