package unlearn

import (
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/privacy"
)

// The published program's noise for 27,094 cells, and what it recorded as spent.
func TestTheNoiseIsThatOfThePublishedProgram(t *testing.T) {
	for _, c := range []struct{ epsilon, noise, spent float64 }{{1, 2.8840, 1.0035}, {10, 0.7102, 10.0305}, {50, 0.4374, 50.1965}} {
		coded := DPRetrain{Epsilon: c.epsilon}.resolved()
		noise, err := coded.noise(27094, 256, 50)
		if err != nil || math.Abs(noise-c.noise) > 5e-5 {
			t.Errorf("epsilon %v: noise %v (%v), want %v", c.epsilon, noise, err, c.noise)
		}
		ran := func(noise float64) float64 {
			spent, err := privacy.History{{Rate: 1. / 106, Noise: noise, Times: 50 * 106}}.RDP(1e-5)
			if err != nil {
				t.Fatal(err)
			}
			return spent.Epsilon
		}
		if got := ran(noise); math.Abs(got-c.spent) > 5e-5 {
			t.Errorf("as coded %v is spent, the program recorded %v", got, c.spent)
		}
		exact, err := DPRetrain{Epsilon: c.epsilon, Exact: true}.resolved().noise(27094, 256, 50)
		if err != nil {
			t.Fatal(err)
		}
		if got := ran(exact); got > c.epsilon || got < c.epsilon*0.9999 {
			t.Errorf("exactly %v is spent of %v", got, c.epsilon)
		}
	}
}

// A set smaller than a batch is one step with everybody in it.
func TestASmallSetIsAStepOfAll(t *testing.T) {
	for _, exact := range []bool{false, true} {
		got, err := DPRetrain{Exact: exact}.resolved().noise(40, 256, 50)
		want, _ := privacy.Noise(10, 1e-5, 1, 50)
		if err != nil || got != want {
			t.Errorf("exact %v: %v (%v), want %v", exact, got, err, want)
		}
	}
}
