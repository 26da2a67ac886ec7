package cells

// The Lanczos method of PCA.

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"

	"gonum.org/v1/gonum/mat"
)

// lanczos returns the k leading right singular vectors of c, a row each.
func lanczos(c *centred, k int, rng *rand.Rand) (array.Matrix[float64], error) {
	// On the genes' side an eigenvector is a loading; on the cells' side it is a score, from
	// which X' gives a loading.
	size, square := c.genes, func(v []float64) []float64 { return c.transposeTimesVector(c.timesVector(v)) }
	if c.n < c.genes {
		size, square = c.n, func(v []float64) []float64 { return c.timesVector(c.transposeTimesVector(v)) }
	}
	found, err := leading(size, k, rng, square)
	if err != nil || c.n >= c.genes {
		return found, err
	}
	return orthonormal(c.transposeTimes(found.Transpose()).Transpose()), nil
}

// leading returns the k leading eigenvectors of a symmetric positive operator on
// vectors of the given size, a row each.
func leading(size, k int, rng *rand.Rand, times func([]float64) []float64) (array.Matrix[float64], error) {
	steps := min(size, 2*k+20)
	q := array.Matrix[float64]{Cols: size} // the basis, a vector per row
	var diagonal, beside []float64
	v := randomOrthogonal(q, rng)
	for {
		q.Data, q.Rows = append(q.Data, v...), q.Rows+1
		m := q.Rows
		w := times(v)
		diagonal = append(diagonal, dot(v, w))
		scale := math.Sqrt(dot(w, w))
		orthogonalise(w, q)
		b := math.Sqrt(dot(w, w))
		if m == steps {
			values, vectors, err := tridiagonal(diagonal, beside)
			if err != nil {
				return q, err
			}
			if m == size || converged(values, vectors, b, k) {
				return combine(q, vectors, k), nil
			}
			steps = min(size, steps+steps/2)
		}
		if b <= 1e-12*scale { // the Krylov space of this start vector is exhausted: begin another
			b, w = 0, randomOrthogonal(q, rng)
		}
		normalise(w)
		beside, v = append(beside, b), w
	}
}

// converged reports whether the residuals of the k largest Ritz values, b times the last element
// of their vectors, are small.
func converged(values []float64, vectors *mat.Dense, b float64, k int) bool {
	m := len(values)
	for i := m - k; i < m; i++ {
		if b*math.Abs(vectors.At(m-1, i)) > 1e-10*values[m-1] {
			return false
		}
	}
	return true
}

// tridiagonal returns the eigenvalues, ascending, and the eigenvectors, a column
// each, of the symmetric matrix with these diagonals.
func tridiagonal(diagonal, beside []float64) ([]float64, *mat.Dense, error) {
	t := mat.NewSymDense(len(diagonal), nil)
	for i, v := range diagonal {
		t.SetSym(i, i, v)
		if i+1 < len(diagonal) {
			t.SetSym(i, i+1, beside[i])
		}
	}
	var e mat.EigenSym
	if !e.Factorize(t, true) {
		return nil, nil, errors.New("cells.PCA: the eigenvalue decomposition failed")
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	return e.Values(nil), &vectors, nil
}

// combine returns the Ritz vectors of the k largest values, the largest first.
func combine(q array.Matrix[float64], vectors *mat.Dense, k int) array.Matrix[float64] {
	m, _ := vectors.Dims()
	out := array.New[float64](k, q.Cols)
	for i := range k {
		row := out.Row(i)
		for j := range m {
			add(row, vectors.At(j, m-1-i), q.Row(j))
		}
		normalise(row)
	}
	return out
}

// orthogonalise projects w onto the complement of the rows of q, twice, because one pass leaves
// rounding errors that grow.
func orthogonalise(w []float64, q array.Matrix[float64]) {
	for range 2 {
		for i := range q.Rows {
			row := q.Row(i)
			add(w, -dot(row, w), row)
		}
	}
}

// orthonormal returns an orthonormal basis of the rows of a, without rows that depend on earlier
// ones.
func orthonormal(a array.Matrix[float64]) array.Matrix[float64] {
	q := array.Matrix[float64]{Cols: a.Cols}
	for i := range a.Rows {
		v := a.Row(i)
		before := dot(v, v)
		orthogonalise(v, q)
		if dot(v, v) > 1e-24*before && normalise(v) {
			q.Data, q.Rows = append(q.Data, v...), q.Rows+1
		}
	}
	return q
}

// normalise scales v to length 1; it returns false if v is 0.
func normalise(v []float64) bool {
	length := math.Sqrt(dot(v, v))
	if !(length > 0) {
		return false
	}
	for j := range v {
		v[j] /= length
	}
	return true
}

// randomOrthogonal returns a random direction that is orthogonal to the rows of q.
func randomOrthogonal(q array.Matrix[float64], rng *rand.Rand) []float64 {
	v := make([]float64, q.Cols)
	for {
		for j := range v {
			v[j] = rng.NormFloat64()
		}
		orthogonalise(v, q)
		if normalise(v) {
			return v
		}
	}
}
