package fisher

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
)

// Factors is Proposition 1 of the paper, on the weights W of a linear decoder f(h) = W h + b with
// the loss sum_d (x_d - f(h)_d)^2. If the squared residuals e_d^2 and the squared inputs h_k^2 of a
// set are uncorrelated,
//
//	F_dk = 4 E[e_d^2 h_k^2] = 4 sigma_d nu_k,   sigma_d = E[e_d^2],  nu_k = E[h_k^2]
//
// and the cosine of two sets is the product of the cosines of their sigma and of their nu. For a
// matrix F that is no such product, sigma and nu are the sums of its rows and of its columns.
//
// Cosine is that of the matrices, Product = Sigma Nu what the proposition predicts. Ratio =
// Product/Cosine is 1 if it holds; it may fail on either side. Damping in the input is not removed.
type Factors struct {
	Cosine  float64 `json:"cosine"`
	Sigma   float64 `json:"sigma"`
	Nu      float64 `json:"nu"`
	Product float64 `json:"product"`
	Ratio   float64 `json:"ratio"`
}

// Factorise compares the information of two sets in a matrix of weights, [outputs, inputs], with
// Proposition 1.
func Factorise(forget, retain Tensor) (f Factors, err error) {
	for _, t := range []Tensor{forget, retain} {
		if err := checkMatrix(t); err != nil {
			return f, err
		}
	}
	if f.Cosine, err = Cosine(Diagonal{Tensors: []Tensor{forget}}, Diagonal{Tensors: []Tensor{retain}}); err != nil {
		return f, err
	}
	a, b := TensorMarginals(forget), TensorMarginals(retain)
	if f.Sigma, err = cosineOf(a.Sigma, b.Sigma); err != nil {
		return f, err
	}
	if f.Nu, err = cosineOf(a.Nu, b.Nu); err != nil {
		return f, err
	}
	f.Product = f.Sigma * f.Nu
	f.Ratio = f.Product / f.Cosine
	return f, nil
}

// Marginals holds a set's two profiles: one value per output and one per input.
type Marginals struct{ Sigma, Nu []float64 }

// TensorMarginals returns the sums of a matrix's rows and of its columns.
func TensorMarginals(t Tensor) Marginals {
	m := Marginals{make([]float64, t.Shape[0]), make([]float64, t.Shape[1])}
	for k, v := range t.Values {
		m.Sigma[k/t.Shape[1]] += v
		m.Nu[k%t.Shape[1]] += v
	}
	return m
}

// Cosines returns the cosines of two sets' profiles, and their product.
func (m Marginals) Cosines(of Marginals) (sigma, nu, product float64, err error) {
	if len(m.Sigma) != len(of.Sigma) || len(m.Nu) != len(of.Nu) {
		return 0, 0, 0, fmt.Errorf("fisher: profiles of %d and %d values against %d and %d", len(m.Sigma), len(m.Nu), len(of.Sigma), len(of.Nu))
	}
	if sigma, err = cosineOf(m.Sigma, of.Sigma); err != nil {
		return 0, 0, 0, err
	}
	nu, err = cosineOf(m.Nu, of.Nu)
	return sigma, nu, sigma * nu, err
}

// MomentMarginals returns the profiles from the data themselves, the paper's "data-direct" ones:
// the mean squares of residuals and of a layer's inputs, a record per row.
func MomentMarginals(residuals, inputs array.Matrix[float64]) (Marginals, error) {
	if err := sameRecords(residuals, inputs); err != nil {
		return Marginals{}, err
	}
	return Marginals{meanSquares(residuals), meanSquares(inputs)}, nil
}

// Linear returns the exact information of a linear decoder's weights in closed form, F_dk = 4 mean
// over records of e_d^2 h_k^2, a record per row.
func Linear(residuals, inputs array.Matrix[float64]) (Tensor, error) {
	if err := sameRecords(residuals, inputs); err != nil {
		return Tensor{}, err
	}
	t := Tensor{Name: "linear", Shape: []int{residuals.Cols, inputs.Cols}, Values: make([]float64, residuals.Cols*inputs.Cols)}
	for i := range residuals.Rows {
		h := inputs.Row(i)
		for d, e := range residuals.Row(i) {
			row, factor := t.Values[d*inputs.Cols:(d+1)*inputs.Cols], 4*e*e/float64(residuals.Rows)
			for k, v := range h {
				row[k] += float64(factor * v * v)
			}
		}
	}
	return t, nil
}

func sameRecords(residuals, inputs array.Matrix[float64]) error {
	if residuals.Rows != inputs.Rows || inputs.Rows == 0 || residuals.Cols == 0 || inputs.Cols == 0 {
		return fmt.Errorf("fisher: residuals of %d x %d and inputs of %d x %d", residuals.Rows, residuals.Cols, inputs.Rows, inputs.Cols)
	}
	if err := residuals.Check("residuals"); err != nil {
		return err
	}
	return inputs.Check("inputs")
}

func meanSquares(m array.Matrix[float64]) []float64 {
	out := make([]float64, m.Cols)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			out[j] += v * v / float64(m.Rows)
		}
	}
	return out
}
