package stats

import (
	"math"
	"testing"
)

// SciPy 1.17.1, binom.sf(ups-1, ups+downs, 0.5).
func TestSignTestIsTheBinomialTail(t *testing.T) {
	for _, c := range []struct {
		ups, downs int
		p          float64
	}{{12, 0, 0.000244140625}, {12, 1, 0.001708984375}, {5, 7, 0.80615234375}, {0, 3, 1}, {0, 0, 1}} {
		if p, err := SignTest(c.ups, c.downs); err != nil || math.Abs(p/c.p-1) > 1e-12 {
			t.Errorf("%d ups and %d downs: %v, %v", c.ups, c.downs, p, err)
		}
	}
	if _, err := SignTest(-1, 2); err == nil {
		t.Error("fewer than no ups were accepted")
	}
}
