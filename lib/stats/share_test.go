package stats

import (
	"math"
	"testing"
)

func TestValuesKeepTheirOrder(t *testing.T) {
	if v := Values([]Estimate{{Value: 2}, {Value: -1}}); len(v) != 2 || v[0] != 2 || v[1] != -1 {
		t.Error(v)
	}
}

func TestAShareCountsAndCarriesWilsonsInterval(t *testing.T) {
	e := Share([]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "trials", func(v int) bool { return v > 7 })
	// statsmodels 0.15.0: proportion_confint(3, 10, method="wilson")
	if e.Value != 0.3 || math.Abs(e.Low-0.10779126740630104) > 1e-9 || math.Abs(e.High-0.6032218525388546) > 1e-9 || e.Over != "trials" || e.N != 10 {
		t.Errorf("3 of 10: %+v", e)
	}
	if e := Share(nil, "trials", func(int) bool { return true }); !math.IsNaN(e.Value) || e.N != 0 {
		t.Errorf("no values: %+v", e)
	}
}
