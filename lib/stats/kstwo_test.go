package stats

import (
	"math"
	"strings"
	"testing"
)

// scipy 1.17.1: stats.ks_2samp(x, y, method="exact").
func TestKSTwoSampleIsScipys(t *testing.T) {
	for _, c := range []struct {
		n, m             int
		shift, d, pvalue float64
	}{
		{8, 11, 0.5, 0.17045454545454544, 0.9923791378899738},
		{30, 40, 1.2, 0.18333333333333332, 0.5594424218214804},
		{5, 5, 10, 1, 0.007936507936507936},
	} {
		var x, y []float64
		for i := range c.n {
			x = append(x, math.Sin(1.7*float64(i))+0.01*float64(i))
		}
		for j := range c.m {
			y = append(y, math.Sin(2.3*float64(j)+1)+c.shift*0.3)
		}
		if d, p, err := KSTwoSample(x, y); err != nil || math.Abs(d-c.d) > 1e-14 || math.Abs(p-c.pvalue) > 1e-12 {
			t.Errorf("%d and %d values: D = %v, p = %v, %v", c.n, c.m, d, p, err)
		}
	}
	tied, other := []float64{0, 0, 1, 1, 2, 3}, []float64{0, 1, 1, 2, 2, 2, 4}
	if d, p, err := KSTwoSample(tied, other); err != nil || math.Abs(d-0.23809523809523808) > 1e-14 || math.Abs(p-0.9627039627039627) > 1e-12 {
		t.Errorf("ties: D = %v, p = %v, %v", d, p, err)
	}
}

// Of two samples that do not overlap two orders of all C(2n, n) are as far apart.
func TestKSTwoSampleHasTheDigitsOfSmallProbabilities(t *testing.T) {
	for _, n := range []int{3, 60, 400} {
		var x, y []float64
		for i := range n {
			x, y = append(x, float64(i)), append(y, float64(n+i))
		}
		all, _ := math.Lgamma(float64(2*n + 1))
		one, _ := math.Lgamma(float64(n + 1))
		want := math.Ln2 - all + 2*one
		if d, p, err := KSTwoSample(x, y); err != nil || d != 1 || math.Abs(math.Log(p)-want) > 1e-9*math.Abs(want) {
			t.Errorf("%d: D = %v, log p = %v, want %v, %v", n, d, math.Log(p), want, err)
		}
	}
}

// Beyond a million pairs the limit is near enough to the exact law of fewer.
func TestKSTwoSampleIsContinuousInTheNumberOfValues(t *testing.T) {
	var x, y []float64
	for i := range 1000 {
		x, y = append(x, float64(i)), append(y, float64(i)+50.5)
	}
	_, exact, err := KSTwoSample(x, y)
	if err != nil {
		t.Fatal(err)
	}
	_, limit, err := KSTwoSample(append(x, 1000), append(y, 1050.5))
	if err != nil || math.Abs(limit/exact-1) > 0.15 {
		t.Errorf("exact %v, limit %v, %v", exact, limit, err)
	}
}

// One value against very many is one value against a law: P(D >= d) = 2(1-d).
func TestKSTwoSampleOfOneValueAgainstMany(t *testing.T) {
	many := sequence(2_000_000, func(i float64) float64 { return i })
	d, p, err := KSTwoSample([]float64{19_999.5}, many)
	if err != nil || math.Abs(d-0.99) > 1e-6 || math.Abs(p-2*(1-d)) > 1e-9 {
		t.Errorf("D = %v, p = %v, %v", d, p, err)
	}
}

func TestKSTwoSampleRefusesNonsense(t *testing.T) {
	for words, s := range map[string][2][]float64{"x": {nil, {1}}, "y": {{1}, nil}, "y[1]": {{1}, {1, math.NaN()}}} {
		if _, _, err := KSTwoSample(s[0], s[1]); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v", words, err)
		}
	}
}
