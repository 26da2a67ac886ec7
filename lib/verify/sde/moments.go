package sde

import "math"

// moments returns the exact mean and standard deviation of
//
//	H_pi = sum_ij A_ij B_pi(i)pi(j) / (n-1)^2
//
// over all n! permutations pi, for symmetric A and B whose rows add up to 0.
//
// The symmetric group acts on such matrices by renaming the records, and splits them into three
// parts that no renaming mixes (each an irreducible representation, each once): the multiples of H
// = I - 11'/n; the matrices H diag(v) H with sum v = 0, of dimension n-1; and the rest, of
// dimension n(n-3)/2. With t = tr A and v_i = A_ii - t/n, the squared lengths of A's parts are
//
//	p_0 = t^2/(n-1),  p_1 = n/(n-2) sum v^2,  p_2 = sum A_ij^2 - p_0 - p_1,
//
// and q likewise for B. The first part does not move, so that it is the mean; in the others a
// random renaming points in every direction alike (Schur), so that the mean square of the inner
// product is the product of the squared lengths over the dimension:
//
//	E[H_pi]   = tr A tr B / (n-1)^3
//	Var[H_pi] = (p_1 q_1/(n-1) + 2 p_2 q_2/(n(n-3))) / (n-1)^4.
//
// A part without dimensions (n = 2: p_1 and p_2; n = 3: p_2) is absent. The formulae agree with
// those of Mantel statistics in the literature.
func moments(a, b *Matrix) (mean, sd float64) {
	n := float64(a.Rows)
	p, q := newInvariants(a), newInvariants(b)
	variance := 0.0
	if a.Rows > 2 {
		variance += p.diagonal * q.diagonal / (n - 1)
	}
	if a.Rows > 3 {
		variance += 2 * p.rest * q.rest / (n * (n - 3))
	}
	return trace(a) * trace(b) / cube(n-1), math.Sqrt(variance) / ((n - 1) * (n - 1))
}

func cube(x float64) float64 { return x * x * x }

// invariants holds the squared lengths p_1 and p_2.
type invariants struct{ diagonal, rest float64 }

func newInvariants(m *Matrix) invariants {
	n := float64(m.Rows)
	if m.Rows < 3 {
		return invariants{}
	}
	t, spread := trace(m), 0.0
	for _, v := range diagonal(m) {
		d := v - t/n
		spread += float64(d * d)
	}
	p0, p1 := float64(t*t)/(n-1), float64(n/(n-2)*spread)
	return invariants{p1, max(0, pairwise(m, m)-p0-p1)}
}
