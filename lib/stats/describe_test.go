package stats

import (
	"math"
	"slices"
	"testing"
)

var describeX = []float64{.3, 9.1, -2.2, 4.4, 4.4, 7.5, .01}

// NumPy 2.4.6: mean, std(ddof=1), std, median, quantile.
func TestDescriptivesMatchNumPy(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func([]float64) (float64, error)
		want float64
	}{
		{"mean", Mean, 3.358571428571429},
		{"SD", SD, 4.158326701015801},
		{"PopSD", PopSD, 3.8498624412213136},
		{"median", Median, 4.4},
	} {
		got, err := c.f(describeX)
		must(t, err)
		checkClose(t, c.name, got, c.want, 1e-15)
	}
	want := []float64{-2.2, -1.5370000000000001, 0.155, 4.4, 8.14, 8.86, 9.1}
	for i, q := range []float64{0, 0.05, 0.25, 0.5, 0.9, 0.975, 1} {
		got, err := Quantile(describeX, q)
		must(t, err)
		checkClose(t, "quantile", got, want[i], 1e-15)
	}
}

// NumPy 2.4.6, to the last bit: it interpolates from the nearer end.
func TestQuantileRoundsAsNumPyDoes(t *testing.T) {
	got, err := Quantile([]float64{9.05, -13.03}, 0.712)
	must(t, err)
	if got != 2.6909600000000005 {
		t.Errorf("quantile %.17g, want 2.6909600000000005", got)
	}
}

func TestMedianIsTheHalfQuantile(t *testing.T) {
	rng := newRNG(71)
	for n := 1; n < 30; n++ {
		x := normals(rng, n, 0)
		before := slices.Clone(x)
		m, err := Median(x)
		must(t, err)
		q, err := Quantile(x, 0.5)
		must(t, err)
		checkClose(t, "median", m, q, 1e-15)
		if !slices.Equal(x, before) {
			t.Fatal("the input was changed")
		}
	}
}

func TestSumsDoNotLoseSmallTerms(t *testing.T) {
	x := []float64{1e16}
	for range 1000 {
		x = append(x, 1)
	}
	x = append(x, -1e16)
	if s := sumOf(x); s != 1000 {
		t.Errorf("sum %v, want 1000", s)
	}
	if s := sumOf([]float64{1, 1e100, 1, -1e100}); s != 2 {
		t.Errorf("sum %v, want 2", s)
	}
	m, err := Mean(slices.Repeat([]float64{0.1}, 1_000_000))
	must(t, err)
	checkClose(t, "mean of a million tenths", m, 0.1, 1e-16)
}

// SciPy 1.17.1, t.interval(0.95, 6, mean, sem).
func TestMeanIntervalMatchesSciPy(t *testing.T) {
	e := MeanInterval(describeX, 0.95, "seeds")
	checkClose(t, "value", e.Value, 3.358571428571429, 1e-15)
	checkClose(t, "low", e.Low, -0.4872393409804343, 1e-13)
	checkClose(t, "high", e.High, 7.204382198123293, 1e-13)
	if e.Over != "seeds" || e.N != 7 || e.Level != 0.95 || e.Null != nil {
		t.Errorf("%+v", e)
	}
}

func TestMeanIntervalIsUnknownForOneValue(t *testing.T) {
	if e := MeanInterval([]float64{4}, 0.95, "seeds"); e.Value != 4 || e.HasInterval() || e.N != 1 {
		t.Errorf("one value: %+v", e)
	}
	for _, x := range [][]float64{nil, {1, math.NaN()}, {math.Inf(1), 2}} {
		if e := MeanInterval(x, 0.95, "seeds"); !math.IsNaN(e.Value) || e.HasInterval() {
			t.Errorf("%v: %+v", x, e)
		}
	}
	if e := MeanInterval([]float64{1, 3}, 1, "seeds"); e.Value != 2 || e.HasInterval() {
		t.Errorf("level 1: %+v", e)
	}
}

// SciPy 1.17.1: pearsonr.
func TestPearsonMatchesSciPy(t *testing.T) {
	r, err := Pearson(balancedY, sequence(20, math.Sin))
	must(t, err)
	checkClose(t, "r", r, -0.03506213312435831, 1e-14)
}

func TestPearsonOfALineIsOne(t *testing.T) {
	x := normals(newRNG(72), 40, 0)
	for _, slope := range []float64{3, -0.2} {
		r, err := Pearson(x, mapValues(x, func(v float64) float64 { return slope*v + 7 }))
		must(t, err)
		checkClose(t, "r", r, math.Copysign(1, slope), 1e-14)
		if math.Abs(r) > 1 {
			t.Errorf("r = %v is beyond 1", r)
		}
	}
}

// scikit-learn 1.9.1, adjusted_rand_score.
func TestAdjustedRandIndexMatchesScikitLearn(t *testing.T) {
	for _, c := range []struct {
		a, b []int
		want float64
	}{
		{[]int{0, 0, 1, 1, 2, 2, 2}, []int{1, 1, 0, 0, 0, 2, 2}, 0.475},
		{[]int{0, 0, 1, 1}, []int{0, 1, 0, 1}, -0.5},
		{[]int{0, 0, 1, 1}, []int{5, 5, -3, -3}, 1},
		{[]int{1, 1, 1}, []int{2, 2, 2}, 1},
		{[]int{1, 2, 3}, []int{3, 1, 2}, 1},
		{[]int{4}, []int{9}, 1},
	} {
		got, err := AdjustedRandIndex(c.a, c.b)
		must(t, err)
		checkClose(t, "ARI", got, c.want, 1e-15)
	}
}

func TestAdjustedRandIndexOfRandomLabelsIsZeroOnAverage(t *testing.T) {
	rng := newRNG(73)
	sum := 0.0
	const reps = 500
	for range reps {
		a, b := make([]int, 60), make([]int, 60)
		for i := range a {
			a[i], b[i] = rng.IntN(4), rng.IntN(3)
		}
		v, err := AdjustedRandIndex(a, b)
		must(t, err)
		sum += v
	}
	checkClose(t, "mean ARI", sum/reps, 0, 0.005)
}

// SciPy 1.17.1, jensenshannon(p, q)**2 on numpy.histogram over the pooled range.
func TestJensenShannonMatchesSciPy(t *testing.T) {
	x := []float64{.2, .1, .5, .9, .4, .45, .3, .3, .7}
	y := []float64{.6, .8, 1.2, .75, .95, .5, .3}
	for bins, want := range map[int]float64{1: 0, 5: 0.14948995658434894, 10: 0.2747413000495615, 30: 0.4839442403047534} {
		a, err := JensenShannon(x, y, bins)
		must(t, err)
		checkClose(t, "JS", a, want, 1e-14)
		b, err := JensenShannon(y, x, bins)
		must(t, err)
		checkClose(t, "JS swapped", b, a, 1e-15)
	}
}

// Each value is compared with every edge. The values sit on the edges and one
// step below them, where a division alone puts some one bin off.
func TestHistogramPutsEdgesIntoTheUpperBin(t *testing.T) {
	for bins := 1; bins <= 60; bins++ {
		low, high := 0.1, 1.2
		edges := sequence(bins+1, func(i float64) float64 { return low + float64(i*((high-low)/float64(bins))) })
		edges[bins] = high
		values := append(mapValues(edges[1:], func(v float64) float64 { return math.Nextafter(v, low) }), edges...)
		want := make([]float64, bins)
		for _, v := range values {
			k := 0
			for k < bins-1 && v >= edges[k+1] {
				k++
			}
			want[k] += 1 / float64(len(values))
		}
		nearAll(t, "histogram", histogram(values, low, high, bins), want, 1e-15)
	}
}

func TestJensenShannonRunsFromZeroToLogTwo(t *testing.T) {
	x := normals(newRNG(74), 500, 0)
	for _, c := range []struct {
		y    []float64
		want float64
	}{{x, 0}, {mapValues(x, func(v float64) float64 { return v + 100 }), math.Ln2}} {
		got, err := JensenShannon(x, c.y, 20)
		must(t, err)
		checkClose(t, "JS", got, c.want, 1e-14)
	}
	if got, err := JensenShannon([]float64{2, 2}, []float64{2}, 20); err != nil || got != 0 {
		t.Errorf("constant samples: %v, %v", got, err)
	}
}

// Sums and squares of these values are beyond float64 or below it; what comes out is not.
func TestMeansAndDeviationsOfExtremeValues(t *testing.T) {
	for _, c := range []struct {
		x        []float64
		mean, sd float64
	}{
		{[]float64{1.5e308, 1.5e308, 1.2e308}, 1.4e308, math.Sqrt(3) * 1e307},
		{[]float64{-1e308, 1e308}, 0, math.Sqrt2 * 1e308},
		{[]float64{1e200, 3e200}, 2e200, math.Sqrt2 * 1e200},
		{[]float64{1e-200, 3e-200}, 2e-200, math.Sqrt2 * 1e-200},
	} {
		m, err := Mean(c.x)
		must(t, err)
		checkClose(t, "mean", m, c.mean, 1e-14*math.Abs(c.mean))
		if sd, err := SD(c.x); !(math.Abs(sd-c.sd) <= 1e-14*c.sd) {
			t.Errorf("%v: standard deviation %v, want %v, %v", c.x, sd, c.sd, err)
		}
	}
	r, err := Pearson([]float64{1e200, 2e200, 4e200}, []float64{1e-200, 2e-200, 4e-200})
	if must(t, err); math.Abs(r-1) > 1e-14 {
		t.Errorf("correlation %v, want 1", r)
	}
}
