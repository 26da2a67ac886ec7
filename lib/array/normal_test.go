package array

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestNormalNumbersHaveTheDeviationAskedForAndComeRowByRow(t *testing.T) {
	m := Normal(rand.New(rand.NewPCG(1, 2)), 1000, 10, 3)
	var sum, squares float64
	for _, v := range m.Data {
		sum, squares = sum+v, squares+v*v
	}
	n := float64(len(m.Data))
	if mean := sum / n; math.Abs(mean) > 0.15 { // five standard errors
		t.Errorf("mean %v", mean)
	}
	if sd := math.Sqrt(squares / n); math.Abs(sd-3) > 0.11 { // five standard errors
		t.Errorf("standard deviation %v", sd)
	}
	short := Normal(rand.New(rand.NewPCG(1, 2)), 2, 10, 3)
	if m.Row(1)[4] != short.Row(1)[4] {
		t.Error("the first rows depend on how many follow")
	}
}
