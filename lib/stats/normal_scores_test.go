package stats

import (
	"math"
	"testing"
)

// Quantiles by scipy 1.17.1 (norm.ppf of 1/10, 3/10, 1/2, 7/10 and 9/10, and of 2/8, 2/8, 5/8 and 7/8).
func TestNormalScores(t *testing.T) {
	for _, c := range []struct{ x, want []float64 }{
		{[]float64{3, -999999, 1, 2, 1e300}, []float64{0.524400512708041, -1.2815515655446004, -0.5244005127080407, 0, 1.2815515655446004}},
		{[]float64{1, 1, 2, 3}, []float64{-0.6744897501960817, -0.6744897501960817, 0.31863936396437514, 1.1503493803760079}},
		{[]float64{7, 7, 7}, []float64{0, 0, 0}},
		{nil, nil},
	} {
		got := NormalScores(c.x)
		for i, v := range got {
			if math.Abs(v-c.want[i]) > 1e-12 {
				t.Errorf("%v: %v, want %v", c.x, got, c.want)
				break
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%d scores of %d values", len(got), len(c.x))
		}
	}
}
