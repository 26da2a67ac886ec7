package stats

// PoissonBinomialTail returns the probability that at least k of independent events happen whose probabilities are
// given, each in [0, 1]:
//
//	P(X_1 + ... + X_n >= k),  X_i = 1 with probability p_i, otherwise 0
//
// With equal probabilities it is the binomial distribution's.
func PoissonBinomialTail(k int, p []float64) float64 {
	counts := make([]float64, len(p)+1) // counts[j]: probability of j events so far
	counts[0] = 1
	for i, q := range p {
		for j := i + 1; j > 0; j-- {
			counts[j] = counts[j]*(1-q) + counts[j-1]*q
		}
		counts[0] *= 1 - q
	}
	tail := 0.0
	for j := len(p); j >= max(0, k); j-- { // the smallest first
		tail += counts[j]
	}
	return min(1, tail)
}
