// Reconstruction losses and posterior divergences of variational autoencoders.

package utility

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// SquaredErrors returns the reconstruction losses of cells, over the genes j,
//
//	sum_j (L p_j - x_j)^2
//
// with the decoder's proportions p, the library size L and the expression x, a row per cell: the
// training loss loss.LibrarySquaredError. Lower is better; p = 0 gives the sum of x^2.
//
// The published program of "Fishing for Privacy" leaves L out in its threshold and
// likelihood-ratio attacks, its marker correlation and one of its utilities: pass ones for that.
func SquaredErrors(proportion, x array.Matrix[float32], library []float64) ([]float64, error) {
	if err := checkSameShape("proportions and expression", proportion, x); err != nil {
		return nil, err
	}
	if len(library) != x.Rows {
		return nil, fmt.Errorf("utility: %d library sizes for %d cells", len(library), x.Rows)
	}
	out := make([]float64, x.Rows)
	for i := range out {
		if math.IsNaN(library[i]) || math.IsInf(library[i], 0) {
			return nil, fmt.Errorf("utility: the library size of cell %d is %v", i, library[i])
		}
		p := proportion.Row(i)
		for j, v := range x.Row(i) {
			d := float64(library[i]*float64(p[j])) - float64(v)
			out[i] += float64(d * d)
		}
	}
	return out, nil
}

// LibrarySizes returns the sums of cells' values, which the published program calls library sizes.
// For log-normalised expression they are not counts.
func LibrarySizes(x array.Matrix[float32]) []float64 {
	out := make([]float64, x.Rows)
	for i := range out {
		for _, v := range x.Row(i) {
			out[i] += float64(v)
		}
	}
	return out
}

// Divergences returns the KL divergences of records' posteriors from a standard normal prior, over
// the latent variables k, in nats,
//
//	1/2 sum_k (mu_k^2 + exp(s_k) - s_k - 1)
//
// with mean mu and log variance s, a row per record: the training loss loss.LatentDivergence
// without free bits. It is 0 for a posterior that does not depend on its record. The negative
// evidence lower bound, which the paper calls ELBO, is the reconstruction loss plus this.
func Divergences(mean, logVariance array.Matrix[float32]) ([]float64, error) {
	if err := checkSameShape("means and log variances", mean, logVariance); err != nil {
		return nil, err
	}
	out := make([]float64, mean.Rows)
	for i := range out {
		s := logVariance.Row(i)
		for k, m := range mean.Row(i) {
			out[i] += 0.5 * (float64(float64(m)*float64(m)) + math.Exp(float64(s[k])) - float64(s[k]) - 1)
		}
	}
	return out, nil
}
