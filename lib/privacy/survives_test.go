package privacy_test

import (
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/privacy"
)

// Exact values, by rational arithmetic, where an alternating sum has no digit left.
func TestSurvivalKeepsItsDigits(t *testing.T) {
	for _, c := range []struct {
		n, features int
		rate, want  float64
	}{
		{200, 20, 0.1, 2.32e-28}, // 20!/200^20: every draw another of them
		{11, 8, 0.6, 0},          // six draws for eight
		{784, 0, 0.2, 1},
	} {
		got, err := privacy.Masking{Rate: c.rate, Replacement: true}.SurvivalProbability(c.n, c.features)
		if err != nil || !(math.Abs(got-c.want) <= 1e-2*c.want) {
			t.Errorf("%d of %d at %g: %v, %v, want %v", c.features, c.n, c.rate, got, err, c.want)
		}
	}
}
