// The Kolmogorov-Smirnov test of uniformity.

package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// KSUniform tests p-values for uniformity on [0, 1]: d is the largest distance of their empirical
// distribution from the diagonal, pvalue its two-sided Kolmogorov-Smirnov probability. The tests
// of this package use it to check their calibration.
//
// Up to 2000 values pvalue is exact to about 1e-12 (Marsaglia, Tsang and Wang 2003), and in the
// tail, d sqrt(n) > 3, to many digits for up to a million (Birnbaum and Tingey 1951); otherwise it
// is Kolmogorov's limit with Stephens's correction. It refuses an empty slice, NaN, and values
// outside [0, 1].
func KSUniform(p []float64) (d, pvalue float64, err error) {
	if err := checkFinite("KSUniform", "p", p); err != nil {
		return 0, 0, err
	}
	for i, v := range p {
		if v < 0 || v > 1 {
			return 0, 0, fmt.Errorf("stats.KSUniform: p[%d] is %v, want 0 <= p <= 1", i, v)
		}
	}
	n := float64(len(p))
	for i, v := range slices.Sorted(slices.Values(p)) {
		d = max(d, float64(i+1)/n-v, v-float64(i)/n)
	}
	return d, ksSurvival(len(p), d), nil
}

// ksSurvival returns P(D_n >= d).
func ksSurvival(n int, d float64) float64 {
	root := math.Sqrt(float64(n))
	if root*d > 3 && n <= 1_000_000 {
		return math.Min(1, 2*ksOneSided(n, d))
	}
	if n > 2000 {
		return kolmogorovLimit(d * (root + 0.12 + 0.11/root))
	}
	return math.Min(1, math.Max(0, 1-ksCDF(n, d)))
}

// ksOneSided returns P(D+ >= d), D+ the largest excess of the empirical distribution (Birnbaum and
// Tingey 1951),
//
//	d sum over j <= n(1-d) of C(n, j) (d + j/n)^(j-1) (1 - d - j/n)^(n-j)
//
// In the tail P(D >= d) is twice this, because exceeding d on both sides is practically
// impossible.
func ksOneSided(n int, d float64) float64 {
	nf, sum := float64(n), 0.0
	all, _ := math.Lgamma(nf + 1)
	for j := 0.0; j <= nf; j++ {
		rest := 1 - d - j/nf
		if !(rest > 0) {
			break
		}
		below, _ := math.Lgamma(j + 1)
		above, _ := math.Lgamma(nf - j + 1)
		sum += math.Exp(all - below - above + float64((j-1)*math.Log(d+j/nf)) + float64((nf-j)*math.Log(rest)))
	}
	return float64(d * sum)
}

// kolmogorovLimit returns 2 sum over j of (-1)^(j-1) exp(-2 j^2 x^2).
func kolmogorovLimit(x float64) float64 {
	if x < 0.2 {
		return 1
	}
	sum, sign := 0.0, 1.0
	for j := 1.0; j <= 100; j++ {
		sum += float64(sign * math.Exp(-2*j*j*x*x))
		sign = -sign
	}
	return math.Min(1, math.Max(0, 2*sum))
}

// ksCDF returns P(D_n < d) = n!/n^n times the middle element of H^n, with H the
// (2k-1) x (2k-1) matrix of Marsaglia, Tsang and Wang for nd = k - h.
func ksCDF(n int, d float64) float64 {
	nd := float64(float64(n) * d)
	k := int(nd) + 1
	power, exponent := scaledPower(ksMatrix(k, float64(k)-nd), n)
	lg, _ := math.Lgamma(float64(n) + 1)
	scale := lg - float64(float64(n)*math.Log(float64(n))) + float64(float64(exponent)*math.Ln2)
	return power.At(k-1, k-1) * math.Exp(scale)
}

// ksMatrix builds H for distance k - h.
func ksMatrix(k int, h float64) *mat.Dense {
	m := 2*k - 1
	a := mat.NewDense(m, m, nil)
	for i := range m {
		for j := 0; j <= min(m-1, i+1); j++ {
			a.Set(i, j, 1)
		}
	}
	for i := range m {
		a.Set(i, 0, a.At(i, 0)-math.Pow(h, float64(i+1)))
		a.Set(m-1, i, a.At(m-1, i)-math.Pow(h, float64(m-i)))
	}
	if h > 0.5 {
		a.Set(m-1, 0, a.At(m-1, 0)+math.Pow(2*h-1, float64(m)))
	}
	for i := range m {
		for j := 0; j <= min(m-1, i+1); j++ {
			g, _ := math.Lgamma(float64(i - j + 2))
			a.Set(i, j, a.At(i, j)*math.Exp(-g))
		}
	}
	return a
}

// scaledPower returns b and e with a^n = b 2^e, by repeated squaring; e keeps the
// elements within float64.
func scaledPower(a *mat.Dense, n int) (*mat.Dense, int) {
	m, _ := a.Dims()
	out, outExp := identity(m), 0
	base, baseExp := mat.DenseCopyOf(a), 0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			out, outExp = scaledProduct(out, base, outExp+baseExp)
		}
		base, baseExp = scaledProduct(base, base, 2*baseExp)
	}
	return out, outExp
}

func identity(m int) *mat.Dense {
	out := mat.NewDense(m, m, nil)
	for i := range m {
		out.Set(i, i, 1)
	}
	return out
}

// scaledProduct returns a b scaled to a largest element of about 1, and the
// exponent with the scaling added.
func scaledProduct(a, b *mat.Dense, exponent int) (*mat.Dense, int) {
	var out mat.Dense
	out.Mul(a, b)
	_, e := math.Frexp(mat.Max(&out))
	out.Scale(math.Ldexp(1, -e), &out)
	return &out, exponent + e
}
