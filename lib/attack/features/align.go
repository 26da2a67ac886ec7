// Alignment of the latent axes of two models: Procrustes, canonical correlations
// and principal axes.

package features

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lethe-ml/lethe/lib/array"
)

// Map transforms latent means, rows, from the axes of one model into those of another:
//
//	x -> (x - SourceMean) Linear + TargetMean
type Map struct {
	SourceMean, TargetMean []float64
	Linear                 array.Matrix[float64] // a row per axis before, a column per axis after
}

// Aligner finds the Map that brings the codes of some cells in one model closest to the codes of
// the same cells, in the same order, in another. The cells must have the same membership in both
// models, and must not be cells under attack.
type Aligner func(from, to array.Matrix[float64]) (Map, error)

// Procrustes is the best rotation or reflection (Schönemann 1966): of all orthogonal matrices R the
// one with the smallest ||(from - mean) R - (to - mean)||, which is U V' with (from - mean)'(to -
// mean) = U S V'. It does not change the scale.
//
// It refuses fewer cells than the number of axes plus one, because they do not determine R.
func Procrustes(from, to array.Matrix[float64]) (Map, error) {
	m, err := newMap(from, to)
	if err != nil {
		return m, err
	}
	r, err := rotation(crossProducts(from, m.SourceMean, to, m.TargetMean))
	if err != nil {
		return m, err
	}
	m.Linear = toMatrix(r)
	return m, nil
}

// CCA aligns by canonical correlations (Hotelling 1936). Codes are whitened in both models, rotated
// as by Procrustes, and given the second model's covariance. Besides a rotation it reverses any
// stretching of the axes. Directions with less than a millionth of the largest standard deviation
// are left out, because single precision does not determine them.
//
// It refuses what Procrustes refuses, and codes that are all the same.
func CCA(from, to array.Matrix[float64]) (Map, error) {
	m, err := newMap(from, to)
	if err != nil {
		return m, err
	}
	whiten, _, err := whitening(crossProducts(from, m.SourceMean, from, m.SourceMean))
	if err != nil {
		return m, err
	}
	other, colour, err := whitening(crossProducts(to, m.TargetMean, to, m.TargetMean))
	if err != nil {
		return m, err
	}
	var cross, linear mat.Dense
	cross.Product(whiten.T(), crossProducts(from, m.SourceMean, to, m.TargetMean), other)
	r, err := rotation(&cross)
	if err != nil {
		return m, err
	}
	linear.Product(whiten, r, colour)
	m.Linear = toMatrix(&linear)
	return m, nil
}

// Principal maps codes to their own principal axes, largest variance first. The result does not
// depend, up to signs, on the axes of the model.
func Principal(codes array.Matrix[float64]) (Map, error) {
	m, err := newMap(codes, codes)
	if err != nil {
		return m, err
	}
	_, _, v, err := svd(crossProducts(codes, m.SourceMean, codes, m.SourceMean))
	if err != nil {
		return m, err
	}
	m.TargetMean, m.Linear = make([]float64, codes.Cols), toMatrix(v)
	return m, nil
}

// Means maps posterior means to the other axes.
func (m Map) Means(mu array.Rows) array.Matrix[float64] {
	rows, cols := mu.Shape()
	out, buffer := array.New[float64](rows, m.Linear.Cols), make([]float64, cols)
	for i := range rows {
		to := out.Row(i)
		copy(to, m.TargetMean)
		for a, v := range mu.Read(buffer, i) {
			for b, w := range m.Linear.Row(a) {
				to[b] += float64((v - m.SourceMean[a]) * w)
			}
		}
	}
	return out
}

// LogVars maps the log-variances of a posterior to the other axes: the logarithms of the diagonal
// of Linear' diag(exp(logvar)) Linear. Off-diagonal elements are dropped, so that mapping there and
// back gives the variances again only if Linear permutes or reflects axes. Variances below 1e-30
// count as 1e-30.
func (m Map) LogVars(logVar array.Rows) array.Matrix[float64] {
	rows, cols := logVar.Shape()
	out, buffer := array.New[float64](rows, m.Linear.Cols), make([]float64, cols)
	for i := range rows {
		to := out.Row(i)
		for a, v := range logVar.Read(buffer, i) {
			for b, w := range m.Linear.Row(a) {
				to[b] += float64(math.Exp(v) * float64(w*w))
			}
		}
		for b, v := range to {
			to[b] = math.Log(max(v, 1e-30))
		}
	}
	return out
}

// Spread returns the logarithm of the trace of every record's posterior covariance, which is
// invariant under rotations.
func Spread(logVar array.Rows) []float64 {
	rows, cols := logVar.Shape()
	out, buffer := make([]float64, rows), make([]float64, cols)
	for i := range out {
		sum := 0.0
		for _, v := range logVar.Read(buffer, i) {
			sum += math.Exp(v)
		}
		out[i] = math.Log(sum)
	}
	return out
}

// newMap returns a map with its means; it refuses codes that cannot be aligned.
func newMap(from, to array.Matrix[float64]) (m Map, err error) {
	if from.Rows != to.Rows || from.Cols != to.Cols {
		return m, fmt.Errorf("features: codes of %d x %d cannot be aligned with codes of %d x %d", from.Rows, from.Cols, to.Rows, to.Cols)
	}
	if from.Cols == 0 || from.Rows <= from.Cols {
		return m, fmt.Errorf("features: %d cells do not determine a rotation of %d axes", from.Rows, from.Cols)
	}
	if err := errors.Join(from.Check("codes"), to.Check("codes to be aligned with")); err != nil {
		return m, fmt.Errorf("features: %w", err)
	}
	return Map{SourceMean: means(from), TargetMean: means(to)}, nil
}

func means(x array.Matrix[float64]) []float64 {
	out := make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			out[j] += v / float64(x.Rows)
		}
	}
	return out
}

// crossProducts returns the sums over cells of the products of an axis of a and one of b, centred.
func crossProducts(a array.Matrix[float64], meanA []float64, b array.Matrix[float64], meanB []float64) *mat.Dense {
	out := mat.NewDense(a.Cols, b.Cols, nil)
	for i := range a.Rows {
		other := b.Row(i)
		for j, v := range a.Row(i) {
			to := out.RawRowView(j)
			for k, w := range other {
				to[k] += float64((v - meanA[j]) * (w - meanB[k]))
			}
		}
	}
	return out
}

// rotation returns the orthogonal matrix that brings the first of two sets of codes closest to the
// second, given their cross products.
func rotation(cross *mat.Dense) (*mat.Dense, error) {
	u, _, v, err := svd(cross)
	if err != nil {
		return nil, err
	}
	var out mat.Dense
	out.Mul(u, v.T())
	return &out, nil
}

// whitening returns the matrix that makes codes with these products uncorrelated and of unit
// length; colour is its inverse.
func whitening(of *mat.Dense) (whiten, colour *mat.Dense, err error) {
	_, s, v, err := svd(of)
	if err != nil {
		return nil, nil, err
	}
	if s[0] == 0 {
		return nil, nil, errors.New("features: all codes are the same")
	}
	narrow, wide := mat.NewDiagDense(len(s), nil), mat.NewDiagDense(len(s), nil)
	for k, square := range s {
		if length := math.Sqrt(square); square > 1e-12*s[0] {
			narrow.SetDiag(k, 1/length)
			wide.SetDiag(k, length)
		}
	}
	whiten, colour = new(mat.Dense), new(mat.Dense)
	whiten.Mul(v, narrow)
	colour.Mul(wide, v.T())
	return whiten, colour, nil
}

// svd returns the singular value decomposition, largest value first.
func svd(x mat.Matrix) (u *mat.Dense, s []float64, v *mat.Dense, err error) {
	var svd mat.SVD
	if !svd.Factorize(x, mat.SVDThin) {
		return nil, nil, nil, errors.New("features: the singular value decomposition does not converge")
	}
	u, v = new(mat.Dense), new(mat.Dense)
	svd.UTo(u)
	svd.VTo(v)
	return u, svd.Values(nil), v, nil
}

func toMatrix(m *mat.Dense) array.Matrix[float64] {
	rows, cols := m.Dims()
	out := array.New[float64](rows, cols)
	for i := range rows {
		copy(out.Row(i), m.RawRowView(i))
	}
	return out
}
