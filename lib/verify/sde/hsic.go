// The Hilbert-Schmidt independence criterion, and its permutation test.

package sde

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/progress"
)

// HSIC returns the biased Hilbert-Schmidt independence criterion of paired samples, row i of x with
// row i of y (Gretton et al. 2005; the paper's section 2.2):
//
//	HSIC_b = tr(K H L H)/(n-1)^2,  H = I - 11'/n,
//
// with Gaussian kernels k(x, x') = exp(-|x - x'|^2/(2 sigma^2)); each sample has the bandwidth that
// the rule gives for it alone. It is at least 0, and 0 if x or y is constant. It is not 0 for
// independent samples: its mean over all re-pairings is tr(HKH) tr(HLH)/(n-1)^3. Larger means more
// dependent only between samples of equal size and equal spread.
//
// It refuses fewer than 2 rows, different numbers of rows and values that are not finite, by name.
func HSIC(x, y *Matrix, b Bandwidth) (float64, error) {
	k, l, err := pairedKernels(x, y, b, 2)
	if err != nil {
		return 0, err
	}
	n := float64(x.Rows)
	centre(&k)
	centre(&l)
	return pairwise(&k, &l) / ((n - 1) * (n - 1)), nil
}

// HSICUnbiased returns the unbiased estimator of Song et al. (2012): with K and
// L without their diagonals,
//
//	(tr(K L) + 1'K1 1'L1/((n-1)(n-2)) - 2 1'K L1/(n-2)) / (n(n-3)).
//
// Its null value is 0, so it can be negative; larger is more dependent. It
// refuses fewer than 4 rows and what HSIC refuses.
func HSICUnbiased(x, y *Matrix, b Bandwidth) (float64, error) {
	k, l, err := pairedKernels(x, y, b, 4)
	if err != nil {
		return 0, err
	}
	n := float64(x.Rows)
	rk, rl := make([]float64, x.Rows), make([]float64, x.Rows)
	cross := 0.0
	for i := range rk { // the diagonals of K - 1 are 0 already
		rk[i], rl[i] = sum(k.Row(i)), sum(l.Row(i))
		cross += float64(rk[i] * rl[i])
	}
	total := pairwise(&k, &l) + sum(rk)*sum(rl)/((n-1)*(n-2)) - 2*cross/(n-2)
	return total / (n * (n - 3)), nil
}

// pairedKernels checks the samples and returns their kernel matrices minus one.
func pairedKernels(x, y *Matrix, b Bandwidth, least int) (k, l Matrix, err error) {
	if err := errors.Join(check("first", x, least), check("second", y, least)); err != nil {
		return k, l, err
	}
	if x.Rows != y.Rows {
		return k, l, fmt.Errorf("sde: the first sample has %d rows, the second %d; row i of one belongs to row i of the other", x.Rows, y.Rows)
	}
	sx, errX := b.Resolve(x)
	sy, errY := b.Resolve(y)
	if err := errors.Join(errX, errY); err != nil {
		return k, l, err
	}
	return newCloud(x).kernel(sx, 0), newCloud(y).kernel(sy, 0), nil
}

// IndependenceResult is the result of the permutation test of independence.
type IndependenceResult struct {
	HSIC      float64 `json:"hsic"`        // biased, of the pairs as given
	P         float64 `json:"p"`           // one-sided
	NullMean  float64 `json:"null_mean"`   // exact, over all permutations
	NullSD    float64 `json:"null_sd"`     // exact
	N         int     `json:"n"`           // pairs
	Permuted  int     `json:"permuted"`    // permutations drawn
	AtOrAbove int     `json:"at_or_above"` // of them, as large as HSIC
}

// IndependenceTest is the ordinary permutation test of independence of paired samples (Gretton et
// al. 2007): HSIC of the pairs against t random re-pairings,
//
//	p = (1 + number of them at or above HSIC) / (1 + t),
//
// which is at most its level under independence, for any t. It needs pairs. The paper's statistic
// has none; it is this test's null distribution: see the package comment. It refuses what HSIC
// refuses, t < 1 and a nil rng.
func IndependenceTest(x, y *Matrix, b Bandwidth, t int, rng *rand.Rand) (*IndependenceResult, error) {
	if t < 1 || rng == nil {
		return nil, fmt.Errorf("sde: %d permutations from a generator that is nil: %t", t, rng == nil)
	}
	defer progress.Begin("independence test", 0).Done()
	k, l, err := pairedKernels(x, y, b, 2)
	if err != nil {
		return nil, err
	}
	centre(&k)
	centre(&l)
	n := float64(x.Rows)
	r := &IndependenceResult{HSIC: pairwise(&k, &l) / ((n - 1) * (n - 1)), N: x.Rows, Permuted: t}
	r.NullMean, r.NullSD = moments(&k, &l)
	// Re-pairings of equal records have the same value up to rounding.
	bar := r.HSIC - 1e-12*math.Abs(r.HSIC)
	for _, v := range permuted(&k, &l, permutations(x.Rows, t, rng), 0) {
		if v/((n-1)*(n-1)) >= bar {
			r.AtOrAbove++
		}
	}
	r.P = float64(1+r.AtOrAbove) / float64(1+t)
	return r, nil
}
