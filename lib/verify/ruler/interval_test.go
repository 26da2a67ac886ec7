package ruler

import (
	"math/rand/v2"
	"testing"
)

// Both samples are standard normal, whose mean and median are 0. With 500
// trials the share of intervals that cover 0 has standard error 0.01.
func TestM2IntervalCoversTheTruth(t *testing.T) {
	const trials = 500
	covered := 0
	for k := range trials {
		rng := rand.New(rand.NewPCG(uint64(k), 20))
		f, r := gaussian(rng, 1, 60).Data, gaussian(rng, 1, 300).Data
		e := m2(Evidence{}, nil, f, r, Median, Options{Reps: 300, BootstrapSeed: uint64(k)})
		if e.Low <= 0 && 0 <= e.High {
			covered++
		}
	}
	if share := float64(covered) / trials; share < 0.92 || share > 0.98 {
		t.Errorf("95 %% intervals of M2 cover 0 in %v of the trials", share)
	}
}

// Uniform ranks are M4's null: the t interval should cover 0.5, and M4 itself
// should spread by 1/sqrt(12 n).
func TestM4IntervalCoversTheNullOfUniformRanks(t *testing.T) {
	const trials, n = 2000, 30
	covered, squares := 0, 0.0
	for k := range trials {
		rng := rand.New(rand.NewPCG(uint64(k), 21))
		ranks := make([]float64, n)
		for i := range ranks {
			ranks[i] = rng.Float64()
		}
		e := m4(Evidence{}, ranks, Options{})
		if e.Low <= 0.5 && 0.5 <= e.High {
			covered++
		}
		squares += (e.Value - 0.5) * (e.Value - 0.5)
	}
	if share := float64(covered) / trials; share < 0.93 || share > 0.97 {
		t.Errorf("95 %% intervals of M4 cover 0.5 in %v of the trials", share)
	}
	checkClose(t, "variance of M4", squares/trials, M4NullSD(n)*M4NullSD(n), 0.1*M4NullSD(n)*M4NullSD(n))
}

func TestAnotherBootstrapSeedMovesOnlyTheInterval(t *testing.T) {
	u, o, _, forget, retain := golden()
	a := measure(t, u, o, nil, forget, retain, Options{})
	b := measure(t, u, o, nil, forget, retain, Options{BootstrapSeed: 1})
	if a.M2.Value != b.M2.Value || a.M2.Low == b.M2.Low {
		t.Errorf("M2 %+v and %+v", *a.M2, *b.M2)
	}
}
