// Tests of dp_retrain.go.

package unlearn

import (
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/train"
)

// The published program's noise for 27,094 cells, and what it recorded as spent.
func TestTheNoiseIsThatOfThePublishedProgram(t *testing.T) {
	for _, c := range []struct{ epsilon, noise, spent float64 }{{1, 2.8840, 1.0035}, {10, 0.7102, 10.0305}, {50, 0.4374, 50.1965}} {
		coded := defaults.Fill(DPRetrain{Epsilon: c.epsilon})
		noise, err := coded.noiseMultiplier(27094, 256, 50)
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
		exact, err := defaults.Fill(DPRetrain{Epsilon: c.epsilon, Exact: true}).noiseMultiplier(27094, 256, 50)
		if err != nil {
			t.Fatal(err)
		}
		if got := ran(exact); got > c.epsilon || got < c.epsilon*0.9999 {
			t.Errorf("exactly %v is spent of %v", got, c.epsilon)
		}
	}
}

// A set smaller than a batch is one step with all records.
func TestASmallSetIsAStepOfAll(t *testing.T) {
	for _, exact := range []bool{false, true} {
		got, err := defaults.Fill(DPRetrain{Exact: exact}).noiseMultiplier(40, 256, 50)
		want, _ := privacy.Noise(10, 1e-5, 1, 50)
		if err != nil || got != want {
			t.Errorf("exact %v: %v (%v), want %v", exact, got, err, want)
		}
	}
}

// How many epochs take the paper's steps on PBMC-3k's 2,258 retained cells, by hand: an
// epoch is 9 steps here and 110 there. Counted by all cells, 2,289 here and 28,124 there,
// or by the forgotten ones, it would be others.
func TestEpochsOfThePapersStepsOnPBMC3k(t *testing.T) {
	retain := train.Objective{{X: array.Matrix[float32]{Rows: 2258}}}
	c := train.Config{Batch: 256}
	p := &stepScale{records: 2258, publishedRecords: 28094, publishedBatch: 256}
	for epochs, want := range map[int]int{10: 122, 20: 244, 30: 367, 50: 611} {
		if got := p.epochs(epochs, c, retain); got != want {
			t.Errorf("%d epochs are %d, want %d", epochs, got, want)
		}
		if steps, there := 9*want, 110*epochs; steps < there-5 || steps > there+5 {
			t.Errorf("%d steps for %d", steps, there)
		}
	}
	if by := (&stepScale{records: 2289, publishedRecords: 28124, publishedBatch: 256}).epochs(10, c, retain); by != 121 {
		t.Errorf("by all cells %d epochs", by)
	}
	whole := append(retain, train.Term{X: array.Matrix[float32]{Rows: 31}, Whole: true})
	if got := p.epochs(20, c, whole); got != 244 {
		t.Errorf("with the forgotten cells in every step %d epochs", got)
	}
	if got := p.patience(10, c, retain); got != 122 || p.patience(0, c, retain) != 0 || (*stepScale)(nil).patience(10, c, retain) != 10 {
		t.Errorf("patience %d, %d, %d", got, p.patience(0, c, retain), (*stepScale)(nil).patience(10, c, retain))
	}
	if (&stepScale{records: 28094, publishedRecords: 28094, publishedBatch: 256}).epochs(10, c, train.Objective{{X: array.Matrix[float32]{Rows: 28094}}}) != 10 {
		t.Error("on the paper's cells another number of epochs")
	}
	// 49 of 49 records are 98 there, two batches of 49 to the last bit.
	if got := (&stepScale{records: 49, publishedRecords: 98, publishedBatch: 49}).epochs(10, train.Config{Batch: 49}, train.Objective{{X: array.Matrix[float32]{Rows: 49}}}); got != 20 {
		t.Errorf("twice the records are %d epochs for 10", got)
	}
}

// A private training without noise states no epsilon, and one with its own noise not the
// default's.
func TestANoiseOfItsOwnPromisesNoEpsilon(t *testing.T) {
	for _, c := range []struct {
		m       DPRetrain
		noise   float64
		epsilon float64
		about   string
	}{
		{DPRetrain{Noise: new(0.0)}, 0, 0, "without its noise: nothing is private"},
		{DPRetrain{Noise: new(2.0)}, 2, 0, "noise 2"},
		{DPRetrain{Epsilon: 3}, -1, 3, "epsilon 3"},
		{DPRetrain{}, -1, 10, "epsilon 10"},
	} {
		m := defaults.Fill(c.m)
		noise, err := m.noiseMultiplier(100, 10, 5)
		if err != nil || c.noise >= 0 && noise != c.noise || m.Epsilon != c.epsilon || !strings.Contains(c.m.Info().Does, c.about) {
			t.Errorf("%+v: noise %v (%v), epsilon %v, %q", c.m, noise, err, m.Epsilon, c.m.Info().Does)
		}
	}
	if _, err := defaults.Fill(DPRetrain{Noise: new(1.0), Epsilon: 10}).noiseMultiplier(100, 10, 5); err == nil || !strings.Contains(err.Error(), "noise 1 and epsilon 10") {
		t.Errorf("both: %v", err)
	}
}

// As coded min(1000, n // 10) cells are set aside (train_dp.py, line 150).
func TestOnHowManyIsTrained(t *testing.T) {
	for retained, want := range map[int][2]int{2258: {2033, 2258}, 28094: {27094, 28094}, 9999: {9000, 9999}, 10010: {9010, 10010}, 40: {36, 40}, 9: {8, 9}} {
		if coded, exact := (DPRetrain{}).TrainingSize(retained), (DPRetrain{Exact: true}).TrainingSize(retained); coded != want[0] || exact != want[1] {
			t.Errorf("of %d: %d as coded, %d exactly", retained, coded, exact)
		}
	}
}
