package plot

import (
	"math/rand/v2"
	"testing"
)

func TestChanceCountsAreBetaBinomialQuantiles(t *testing.T) {
	// scipy 1.17.1: betabinom(m, a, b).ppf(0.025) and .ppf(0.975).
	for _, c := range []struct{ m, a, b, low, high int }{
		{20, 1, 30, 0, 3}, {20, 4, 27, 0, 7}, {370, 10, 891, 0, 10}, {370, 451, 450, 163, 208}, {5, 4, 1, 1, 5},
	} {
		if low, high := chanceCounts(c.m, c.a, c.b); low != c.low || high != c.high {
			t.Errorf("m %d, a %d, b %d: %d to %d, want %d to %d", c.m, c.a, c.b, low, high, c.low, c.high)
		}
	}
}

func TestAGuessingAttackStaysInTheBand(t *testing.T) {
	const m, n, turns, rank = 40, 60, 4000, 6
	low, high := chanceCounts(m, rank+1, n-rank)
	rng := rand.New(rand.NewPCG(1, 1))
	inside := 0
	for range turns {
		// Positives met before the negative of rank+1 in a random order.
		positives, negatives := 0, 0
		for negatives <= rank {
			left := float64(m-positives) / float64(m-positives+n-negatives)
			if rng.Float64() < left {
				positives++
			} else {
				negatives++
			}
		}
		if positives >= low && positives <= high {
			inside++
		}
	}
	// Counts are whole, so that the band holds somewhat more than 95 %.
	if share := float64(inside) / turns; share < 0.94 || share > 0.985 {
		t.Errorf("%.3f of the guesses are inside %d to %d", share, low, high)
	}
}

func TestTheChanceBandNarrowsAsSamplesGrow(t *testing.T) {
	width := func(n int, log bool) float64 {
		b := ROC{Positives: n, Negatives: n, Log: log}.chance()
		for i := range b.X {
			if b.Low[i] > b.High[i] || i > 0 && b.X[i] < b.X[i-1] {
				t.Fatalf("n %d: band %v to %v at %v", n, b.Low[i], b.High[i], b.X[i])
			}
		}
		i := len(b.X) / 2
		return b.High[i] - b.Low[i]
	}
	for _, log := range []bool{false, true} {
		if few, many := width(20, log), width(2000, log); many <= 0 || few < 3*many {
			t.Errorf("log %v: %v wide with 20, %v with 2000", log, few, many)
		}
	}
	for _, n := range []int{1, maxSample} {
		low, high := chanceCounts(n, 1, 1)
		if low < 0 || high > n || low > high {
			t.Errorf("n %d: %d to %d", n, low, high)
		}
	}
}
