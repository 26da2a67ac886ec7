package fisher

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Spectrum returns the shares of a matrix's squared Frobenius norm in its singular values, largest
// first; they add up to 1. A first share near 1 means a matrix of rank one, F_dh = sigma_d nu_h, as
// in Proposition 1. It is also near 1 if the inputs of the layer hardly differ between records.
func Spectrum(t Tensor) ([]float64, error) {
	if err := checkMatrix(t); err != nil {
		return nil, err
	}
	var s mat.SVD
	if !s.Factorize(mat.NewDense(t.Shape[0], t.Shape[1], t.Values), mat.SVDNone) {
		return nil, fmt.Errorf("fisher: tensor %s: its singular values do not converge", t.Name)
	}
	out, sum := s.Values(nil), 0.0
	for i, v := range out {
		out[i] = float64(v * v)
		sum += out[i]
	}
	if sum == 0 {
		return nil, errDead
	}
	for i := range out {
		out[i] /= sum
	}
	return out, nil
}

func checkMatrix(t Tensor) error {
	if len(t.Shape) != 2 {
		return fmt.Errorf("fisher: tensor %s of shape %v is no matrix", t.Name, t.Shape)
	}
	return Diagonal{Tensors: []Tensor{t}}.Check()
}
