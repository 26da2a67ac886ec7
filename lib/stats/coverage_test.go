package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// rateLaw is a law of rates with its mean.
type rateLaw struct {
	mean float64
	draw func(rng *rand.Rand) float64
}

// betaLaw is Beta(a, b): the a-th smallest of a+b-1 uniform numbers.
func betaLaw(a, b int) rateLaw {
	u := make([]float64, a+b-1)
	return rateLaw{float64(a) / float64(a+b), func(rng *rand.Rand) float64 {
		for i := range u {
			u[i] = rng.Float64()
		}
		slices.Sort(u)
		return u[a-1]
	}}
}

// rateLaws are what rates of several models may look like: narrow and wide around
// one half, piled up at both ends, and near an end as a good rate is.
func rateLaws() []rateLaw {
	ends := rateLaw{0.5, func(rng *rand.Rand) float64 { return math.Pow(math.Sin(math.Pi/2*rng.Float64()), 2) }}
	return []rateLaw{betaLaw(8, 8), betaLaw(1, 1), ends, betaLaw(8, 2), betaLaw(9, 1), betaLaw(19, 1)}
}

func TestStudentCoversRates(t *testing.T) {
	const reps = 20000 // a standard error of 0.002
	rng := newRNG(11)
	for n := 2; n <= 5; n++ {
		x, worst, best := make([]float64, n), 1.0, 0.0
		for _, law := range rateLaws() {
			hits := 0
			for range reps {
				for i := range x {
					x[i] = law.draw(rng)
				}
				// Cut to [0, 1] it covers as often: the mean lies there.
				if e := MeanInterval(x, 0.95, "models"); e.Low <= law.mean && law.mean <= e.High {
					hits++
				}
			}
			c := float64(hits) / reps
			worst, best = min(worst, c), max(best, c)
		}
		low, high, known := RateCoverage(n)
		if !known || math.Abs(worst-low) > 0.01 || math.Abs(best-high) > 0.01 {
			t.Errorf("over %d rates it covers %.4f to %.4f, RateCoverage says %v to %v", n, worst, best, low, high)
		}
	}
	if _, _, known := RateCoverage(6); known {
		t.Error("the coverage over six rates is known without a simulation")
	}
}
