package stats

import (
	"math"
	"testing"
)

// Newcombe (1998, Statistics in Medicine 17, table II, method 10): 56/70 - 48/80, 9/10 -
// 3/10, 10/10 - 0/10, to four digits.
func TestShareDifferenceIsNewcombes(t *testing.T) {
	for _, c := range []struct{ a, n, b, m, low, high float64 }{
		{56, 70, 48, 80, 0.0524, 0.3339}, {9, 10, 3, 10, 0.1705, 0.8090}, {10, 10, 0, 10, 0.6075, 1.0000},
	} {
		e := ShareDifference(Wilson(c.a/c.n, int(c.n), 0.95), Wilson(c.b/c.m, int(c.m), 0.95))
		if math.Abs(e.Low-c.low) > 5e-5 || math.Abs(e.High-c.high) > 5e-5 || math.Abs(e.Value-(c.a/c.n-c.b/c.m)) > 1e-15 || e.N != int(c.n) {
			t.Errorf("%v/%v - %v/%v: %+v", c.a, c.n, c.b, c.m, e)
		}
	}
}
