package stats

import (
	"math"
	"slices"
	"testing"
)

// meanAt is the statistic of the bootstrap tests.
func meanAt(x []float64) func([]int) float64 {
	return func(idx []int) float64 {
		s := 0.0
		for _, i := range idx {
			s += x[i]
		}
		return s / float64(len(idx))
	}
}

func TestBootstrapDrawsIndicesWithReplacement(t *testing.T) {
	seen := make([]int, 5)
	repeats := false
	got := Bootstrap(5, 400, newRNG(91), func(idx []int) float64 {
		for _, i := range idx {
			seen[i]++
		}
		s := slices.Sorted(slices.Values(idx))
		repeats = repeats || len(slices.Compact(s)) < 5
		return float64(len(idx))
	})
	if len(got) != 400 || got[0] != 5 || !repeats {
		t.Fatalf("%d samples, first %v, repeats %t", len(got), got[0], repeats)
	}
	for i, n := range seen {
		if n < 320 || n > 480 {
			t.Errorf("index %d was drawn %d times in 2000, want about 400", i, n)
		}
	}
}

func TestBootstrapRepeatsWithItsSeed(t *testing.T) {
	f := meanAt(describeX)
	if !slices.Equal(Bootstrap(7, 50, newRNG(1), f), Bootstrap(7, 50, newRNG(1), f)) {
		t.Error("the same seed gave other samples")
	}
}

func TestBootstrapSpreadOfAMeanIsItsStandardError(t *testing.T) {
	rng := newRNG(92)
	x := normals(rng, 200, 0)
	sd, err := SD(Bootstrap(200, 4000, rng, meanAt(x)))
	must(t, err)
	pop, err := PopSD(x)
	must(t, err)
	checkClose(t, "spread", sd/(pop/math.Sqrt(200)), 1, 0.04)
}

func TestPercentileIntervalIsAPairOfQuantiles(t *testing.T) {
	low, high, err := PercentileInterval(sequence(101, func(i float64) float64 { return 100 - i }), 0.9)
	must(t, err)
	checkClose(t, "low", low, 5, 1e-13)
	checkClose(t, "high", high, 95, 1e-13)
}

// SciPy 1.17.1, the quantiles that bootstrap(method="BCa") computes, on resamples
// given by a formula so that both programs see the same ones.
func TestBCaMatchesSciPyOnFixedResamples(t *testing.T) {
	const n, reps = 25, 400
	x := sequence(n, func(i float64) float64 { return math.Exp(math.Sin(i * 1.1)) })
	samples, idx := make([]float64, reps), make([]int, n)
	for r := range samples {
		for i := range idx {
			idx[i] = (r*7 + i*i*3 + r*i*(r%5)) % n
		}
		samples[r] = meanAt(x)(idx)
	}
	value := meanAt(x)(indices(n))
	checkClose(t, "value", value, 1.3118289356829578, 1e-14)
	jack := jackknife(n, meanAt(x))
	checkClose(t, "acceleration", acceleration(jack), 0.01449743447691506, 1e-11)
	low, high, err := bcaInterval(samples, jack, value, 0.95)
	must(t, err)
	checkClose(t, "low", low, 1.0454366023851167, 1e-12)
	checkClose(t, "high", high, 1.5453442277024036, 1e-12)
}

func TestBCaOfASymmetricStatisticIsCloseToThePercentileInterval(t *testing.T) {
	x := sequence(41, func(i float64) float64 { return i - 20 })
	e, err := BCa(41, 4000, newRNG(93), 0.95, meanAt(x))
	must(t, err)
	low, high, err := PercentileInterval(Bootstrap(41, 4000, newRNG(93), meanAt(x)), 0.95)
	must(t, err)
	checkClose(t, "low", e.Low, low, 0.1)
	checkClose(t, "high", e.High, high, 0.1)
	if e.Value != 0 || e.N != 41 || e.Over != "records" {
		t.Errorf("%+v", e)
	}
}

// Half the ties count as below: z0 and the acceleration are 0 here, so that the
// interval is the percentile interval.
func TestBCaSplitsTies(t *testing.T) {
	samples := []float64{0, 0.5, 1, 1, 1, 1, 1.5, 2}
	low, high, err := bcaInterval(samples, []float64{0.9, 1, 1.1}, 1, 0.9)
	must(t, err)
	checkClose(t, "low", low, sortedQuantile(samples, 0.05), 1e-12)
	checkClose(t, "high", high, sortedQuantile(samples, 0.95), 1e-12)
}

func TestBCaOfAConstantHasNoWidth(t *testing.T) {
	e, err := BCa(5, 100, newRNG(94), 0.95, func([]int) float64 { return 0.25 })
	must(t, err)
	if e.Low != 0.25 || e.High != 0.25 || e.Value != 0.25 {
		t.Errorf("%+v", e)
	}
}
