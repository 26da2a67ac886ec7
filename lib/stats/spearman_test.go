package stats

import (
	"errors"
	"math"
	"testing"
)

// scipy 1.17.1: stats.spearmanr(x, y).statistic.
func TestSpearmanIsScipys(t *testing.T) {
	for _, c := range []struct {
		x, y []float64
		want float64
	}{
		{[]float64{3, 1, 4, 1, 5, 9, 2, 6}, []float64{2, 7, 1, 8, 2, 8, 1, 8}, 0.19885368120992467},
		{[]float64{1, 2, 3, 4, 5}, []float64{5, 6, 7, 8, 7}, 0.8207826816681233},
		{[]float64{1, 2, 3}, []float64{-1, -10, -11}, -1},
	} {
		got, err := Spearman(c.x, c.y)
		if err != nil || math.Abs(got-c.want) > 1e-14 {
			t.Errorf("%v, %v: %v, want %v", got, err, c.want, c.x)
		}
		var cubes []float64
		for _, v := range c.x {
			cubes = append(cubes, v*v*v-7)
		}
		if other, err := Spearman(cubes, c.y); err != nil || other != got {
			t.Errorf("of cubes %v, %v", other, err)
		}
	}
	if _, err := Spearman([]float64{1, 1}, []float64{1, 2}); !errors.Is(err, ErrConstant) {
		t.Errorf("constant: %v", err)
	}
	for _, bad := range [][]float64{nil, {1}, {1, math.NaN()}, {math.Inf(1), 1}} {
		if _, err := Spearman(bad, []float64{1, 2}); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}
