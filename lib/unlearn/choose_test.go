// Tests of choices: learning rates, steps, samples.

package unlearn

import (
	"math"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/train"
)

// Ten epochs over the 45,000 retained images of the published programs are 1,760
// steps in batches of 256; ten over 1,800 are 80.
func TestTenPublishedEpochsAre1760Steps(t *testing.T) {
	retain := train.Objective{{Name: "retain", X: array.New[float32](1800, 1)}}
	forget := train.Objective{{Name: "forget", X: array.New[float32](200, 1)}}
	c, p := train.Config{Batch: 256}, &stepScale{records: 2000, publishedRecords: 50000, publishedBatch: 256}
	if n := 10 * c.StepsPerEpoch(retain); n != 80 {
		t.Errorf("ten epochs are %d steps", n)
	}
	if n := p.epochs(10, c, retain) * c.StepsPerEpoch(retain); n != 1760 {
		t.Errorf("step-matched they are %d steps", n)
	}
	// 20 + 176 steps an epoch there, 1 + 8 here.
	if n := p.epochs(10, c, forget, retain); n != 218 {
		t.Errorf("of two passes step-matched are %d epochs", n)
	}
	if n := p.epochs(10, train.Config{}, retain); n != 10 {
		t.Errorf("of full batches step-matched are %d epochs", n)
	}
	var none *stepScale
	if n := none.epochs(10, c, retain); n != 10 {
		t.Errorf("nothing matched are %d epochs", n)
	}
}

func TestTheRateIsChosenByForgottenAndHeldOutRecords(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		tried []accuracySet
		floor float64
		want  int
	}{
		"the nearest":                     {[]accuracySet{{1, 0.9, 0.9}, {0.92, 0.9, 0.9}, {0.5, 0.9, 0.9}}, 0.89, 1},
		"nearest to what its classes say": {[]accuracySet{{0.9, 0.9, 0.7}, {0.7, 0.9, 0.7}}, 0.89, 1},
		"not below the floor":             {[]accuracySet{{1, 0.9, 0.9}, {0.8, 0.8, 0.8}}, 0.89, 0},
		"the first of equal ones":         {[]accuracySet{{0.95, 0.9, 0.9}, {0.85, 0.9, 0.9}}, 0.89, 0},
		"all below the floor":             {[]accuracySet{{0.5, 0.5, 0.5}, {1, 0.8, 0.6}, {0.7, 0.7, 0.7}}, 0.89, 1},
		"some are destroyed":              {[]accuracySet{{nan, nan, nan}, {1, 0.9, 0.9}}, 0.89, 1},
	} {
		if got, err := chooseRate(c.tried, c.floor); err != nil || got != c.want {
			t.Errorf("%s: rate %d is chosen (%v), want %d", name, got, err, c.want)
		}
	}
	if _, err := chooseRate([]accuracySet{{nan, nan, nan}}, 0); err == nil {
		t.Error("a rate was chosen where all destroy the model")
	}
}

func TestSomeOfTheRetainSetAreDistinctRecordsWithTheirLabels(t *testing.T) {
	r := Request{Seed: 5, Retain: Data{X: array.New[float32](50, 1)}}
	for i := range 50 {
		r.Retain.X.Row(i)[0] = float32(i)
		r.Retain.Y, r.Retain.IDs = append(r.Retain.Y, i%7), append(r.Retain.IDs, 1000+i)
	}
	d := r.sampleRetained(0.3)
	if d.X.Rows != 15 || len(slices.Compact(slices.Clone(d.IDs))) != 15 || !slices.IsSorted(d.IDs) {
		t.Fatalf("%d records: %v", d.X.Rows, d.IDs)
	}
	for i, id := range d.IDs {
		if row := id - 1000; d.X.Row(i)[0] != float32(row) || d.Y[i] != row%7 {
			t.Errorf("record %d has label %d and value %v", id, d.Y[i], d.X.Row(i)[0])
		}
	}
	r.Seed = 6
	if slices.Equal(r.sampleRetained(0.3).IDs, d.IDs) {
		t.Error("another seed draws the same records")
	}
	if n := r.sampleRetained(1e-9).X.Rows; n != 1 {
		t.Errorf("next to nothing are %d records", n)
	}
}
