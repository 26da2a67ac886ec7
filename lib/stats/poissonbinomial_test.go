package stats

import (
	"math"
	"testing"
)

// By all outcomes, and with equal probabilities SciPy 1.17.1, binom.sf(k-1, 12, 0.3).
func TestPoissonBinomialTailIsThatOfAllOutcomes(t *testing.T) {
	p := []float64{0.5, 1.0 / 3, 2.0 / 3, 0, 1, 0.25, 0.9}
	for k := -1; k <= len(p)+1; k++ {
		want := 0.0
		for outcome := range 1 << len(p) {
			chance, n := 1.0, 0
			for i, q := range p {
				if outcome>>i&1 == 1 {
					chance, n = chance*q, n+1
				} else {
					chance *= 1 - q
				}
			}
			if n >= k {
				want += chance
			}
		}
		if got := PoissonBinomialTail(k, p); math.Abs(got-want) > 1e-14 {
			t.Errorf("at least %d: %v, want %v", k, got, want)
		}
	}
	equal := make([]float64, 12)
	for i := range equal {
		equal[i] = 0.3
	}
	for k, want := range map[int]float64{0: 1, 3: 0.7471846521450002, 7: 0.038600843057999976, 12: 5.314409999999998e-07} {
		if got := PoissonBinomialTail(k, equal); math.Abs(got-want) > 1e-12 {
			t.Errorf("at least %d of 12: %v, want %v", k, got, want)
		}
	}
}
