package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// By SciPy 1.17.1 (t.ppf, skew) and NumPy from the formulas in PositiveMean's comment.
func TestPositiveMeanIsTheFormulas(t *testing.T) {
	for _, c := range []struct {
		x                      []float64
		level, mean, low, high float64
	}{
		{[]float64{.1, .2, .4, .1, 3, .05}, 0.95, 0.6416666666666666, 0.09592003824670477, 4.581235634316471},
		{[]float64{.1, .2, .4, .1, 3, .05}, 0.9, 0.6416666666666666, 0.14463992205544288, 4.247372367176939},
		{[]float64{1, 2}, 0.95, 1.5, 0.021710994872151237, 103.63412700567132},
		{[]float64{0, 0, 0, 5}, 0.95, 1.25, 0.051855060305893236, 30.132064079817965},
		{[]float64{2, 3, 4, 4, 4}, 0.9, 3.4, 2.6457906082263607, 4.369204412494831}, // skewed to the left
	} {
		e := PositiveMean(c.x, c.level, "records")
		checkClose(t, "mean", e.Value, c.mean, 1e-12)
		checkClose(t, "low", e.Low, c.low, 1e-9)
		checkClose(t, "high", e.High, c.high, 1e-9*c.high)
		if e.Level != c.level || e.Over != "records" || e.N != len(c.x) {
			t.Errorf("%+v of %v", e, c.x)
		}
	}
}

func TestPositiveMeanStaysInRange(t *testing.T) {
	rng := newRNG(31)
	for range 2000 {
		x := logNormals(rng, 3+rng.IntN(30), 3*rng.Float64())
		e := PositiveMean(x, 0.99, "records")
		if !(e.Low > 0 && e.Low < e.Value && e.Value < e.High) || math.IsInf(e.High, 0) {
			t.Fatalf("%+v of %v", e, x)
		}
		scaled := PositiveMean(mapValues(x, func(v float64) float64 { return math.Ldexp(v, 900) }), 0.99, "records")
		if math.Ldexp(scaled.Low, -900) != e.Low || math.Ldexp(scaled.High, -900) != e.High || math.Ldexp(scaled.Value, -900) != e.Value {
			t.Fatalf("%+v, a power of two larger %+v", e, scaled)
		}
	}
}

func TestPositiveMeanWithoutAnInterval(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, x := range [][]float64{nil, {1, -1e-300}, {1, nan}, {1, inf}} {
		if e := PositiveMean(x, 0.95, "records"); !math.IsNaN(e.Value) || e.HasInterval() {
			t.Errorf("%v: %+v", x, e)
		}
	}
	for _, e := range []Estimate{PositiveMean([]float64{3}, 0.95, ""), PositiveMean([]float64{3, 3}, 1, ""), PositiveMean([]float64{2, 4}, nan, "")} {
		if e.Value != 3 || e.HasInterval() {
			t.Errorf("%+v", e)
		}
	}
	for _, v := range []float64{0, 0.1, 1e300} {
		if e := PositiveMean([]float64{v, v, v}, 0.95, ""); e.Value != v || e.Low != v || e.High != v {
			t.Errorf("equal values %v: %+v", v, e)
		}
	}
}

// The bounds are those that the comment states, with three standard errors of 4,000
// replications; Student's interval is outside of them on the skewed laws.
func TestPositiveMeanCovers(t *testing.T) {
	for _, c := range []struct {
		law           string
		draw          func(rng *rand.Rand, n int) []float64
		n             int
		mean          float64
		lowest        float64
		studentAtMost float64
		highest       float64
	}{
		{"log-normal 0.5", func(rng *rand.Rand, n int) []float64 { return logNormals(rng, n, 0.5) }, 20, math.Exp(0.125), 0.935, 0.945, 0.965},
		{"log-normal 1", func(rng *rand.Rand, n int) []float64 { return logNormals(rng, n, 1) }, 20, math.Exp(0.5), 0.905, 0.885, 0.94},
		{"log-normal 1", func(rng *rand.Rand, n int) []float64 { return logNormals(rng, n, 1) }, 50, math.Exp(0.5), 0.92, 0.915, 0.95},
		{"log-normal 2", func(rng *rand.Rand, n int) []float64 { return logNormals(rng, n, 2) }, 20, math.Exp(2), 0.80, 0.65, 0.85},
		{"gamma 1", func(rng *rand.Rand, n int) []float64 { return gammas(rng, n, 4) }, 20, 4, 0.93, 0.93, 0.96},
		{"gamma 4", func(rng *rand.Rand, n int) []float64 { return gammas(rng, n, 16) }, 20, 16, 0.935, 0.955, 0.965},
		{"gamma 1/4", func(rng *rand.Rand, n int) []float64 { return gammas(rng, n, 1) }, 20, 1, 0.92, 0.865, 0.95},
		{"gamma 1/4", func(rng *rand.Rand, n int) []float64 { return gammas(rng, n, 1) }, 200, 1, 0.935, 0.94, 0.965},
	} {
		rng, hits, student := newRNG(uint64(c.n)), 0, 0
		const reps = 4000
		for range reps {
			x := c.draw(rng, c.n)
			if e := PositiveMean(x, 0.95, "draws"); e.Low <= c.mean && c.mean <= e.High {
				hits++
			}
			if e := MeanInterval(x, 0.95, "draws"); e.Low <= c.mean && c.mean <= e.High {
				student++
			}
		}
		if got := float64(hits) / reps; got < c.lowest || got > c.highest {
			t.Errorf("%s, %d values: covers %.4f, want %v to %v", c.law, c.n, got, c.lowest, c.highest)
		}
		if got := float64(student) / reps; got > c.studentAtMost {
			t.Errorf("%s, %d values: Student's interval covers %.4f, want at most %v", c.law, c.n, got, c.studentAtMost)
		}
	}
}

// Of records in clusters that share most of their loss, the means of the clusters are
// what is independent.
func TestPositiveMeanOfClustersCovers(t *testing.T) {
	covers(t, 33, 3000, math.Exp(0.125)*math.Exp(0.125), 0.93, 0.97, func(rng *rand.Rand) (low, high float64) {
		means := make([]float64, 25)
		for i, shared := range logNormals(rng, len(means), 0.5) {
			means[i] = shared * meanOf(logNormals(rng, 10, 0.5))
		}
		e := PositiveMean(means, 0.95, "clusters")
		return e.Low, e.High
	})
}

// logNormals draws exp(sigma z).
func logNormals(rng *rand.Rand, n int, sigma float64) []float64 {
	return mapValues(normals(rng, n, 0), func(z float64) float64 { return math.Exp(sigma * z) })
}

// gammas draws values of the gamma law with the shape quarters/4 and the mean quarters:
// the sum of so many values of shape 1/4 and mean 1, each drawn as a share of an
// exponential value (Johnk).
func gammas(rng *rand.Rand, n, quarters int) []float64 {
	x := make([]float64, n)
	for i := range x {
		for range quarters {
			x[i] += 4 * quarterGamma(rng)
		}
	}
	return x
}

// quarterGamma draws from the gamma law of shape 1/4 and scale 1.
func quarterGamma(rng *rand.Rand) float64 {
	for {
		a, b := math.Pow(rng.Float64(), 4), math.Pow(rng.Float64(), 4./3)
		if a+b <= 1 && a+b > 0 {
			return rng.ExpFloat64() * a / (a + b)
		}
	}
}
