package stats

// lowerU returns the exact null probabilities P(U = u) of the Mann-Whitney statistic of m and n
// untied records, for u = 0 ... last.
//
// The counts are the coefficients of the Gaussian binomial (m+n choose m)_q, computed as the
// product over i = 1 ... m of (1 - q^(n+i))/(1 - q^i). Each factor is one backward and one forward
// pass, and a coefficient needs only lower ones, so the tail is accurate and the rest need not be
// computed. Counts below 2^53 are exact. Pass the smaller sample as m; m <= 20 keeps the counts
// within float64. Cost O(m last).
func lowerU(m, n, last int) []float64 {
	c := make([]float64, last+1)
	c[0] = 1
	total := 1.0
	for i := 1; i <= m; i++ {
		for k := last; k >= n+i; k-- {
			c[k] -= c[k-n-i]
		}
		for k := i; k <= last; k++ {
			c[k] += c[k-i]
		}
		total = total * float64(n+i) / float64(i)
	}
	for k := range c {
		c[k] /= total
	}
	return c
}
