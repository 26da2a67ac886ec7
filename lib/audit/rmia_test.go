package audit

import (
	"math"
	"testing"

	datacells "github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
)

// The ratio by hand, against the reference that is said; the model of the other seed is
// read against the oracle, and no model against itself.
func TestRMIAIsItsFormula(t *testing.T) {
	c := openCase(t, newLab(t), island())
	another, err := c.Variant(t.Context(), secondOracle)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct{ m, reference *Model }{{c.Original, another}, {c.Oracle, another}, {another, c.Oracle}} {
		target, err := c.Losses(one.m)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := c.Losses(one.reference)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []float64{0.3, 0.8, 1} {
			of := func(mine, other []float64) []float64 {
				out := make([]float64, len(mine))
				for i := range mine {
					out[i] = math.Exp(-mine[i]) / (((1+a)*math.Exp(-other[i]) + 1 - a) / 2)
				}
				return out
			}
			want, err := stats.DeLong(of(target.Forgotten, theirs.Forgotten), of(target.HeldOut, theirs.HeldOut), 0.95)
			if err != nil {
				t.Fatal(err)
			}
			lens := RMIA{A: a}
			if a == 0.3 {
				lens = RMIA{}
			}
			got, err := c.Read(lens, one.m)
			if err != nil || math.Abs(got.Value-want.Value) > 2e-3 || math.Abs(got.Low-want.Low) > 2e-3 || got.N != len(c.Forget)+c.Test.X.Rows/2 {
				t.Errorf("%s, A %g: %+v, want %v (%v)", one.m.Label, a, got, want, err)
			}
		}
	}
	c.SecondOracle = c.Oracle
	if got, err := c.Read(RMIA{}, another); err != nil || got.Value > 0.2 {
		t.Errorf("a reference of the caller's: %+v, %v", got, err)
	}
}

// Records that contradict the others are fitted no better than non-members by a model that
// had them; the lens sees the memory that Outputs takes for none.
func TestRMIASeesAMemoryOfHardRecords(t *testing.T) {
	c := openCase(t, newLab(t), island())
	original, err := c.Read(RMIA{}, c.Original)
	if err != nil {
		t.Fatal(err)
	}
	oracle, err := c.Read(RMIA{}, c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := c.Read(Outputs{}, c.Original)
	if err != nil {
		t.Fatal(err)
	}
	if original.Low < 0.8 || oracle.High > 0.2 || plain.High > original.Low {
		t.Errorf("original %v, oracle %v, by losses alone %v", original.Estimate, oracle.Estimate, plain.Estimate)
	}
}

// Of an autoencoder the score is the difference of two losses.
func TestRMIALooksAtAutoencoders(t *testing.T) {
	c := openCase(t, newLab(t), lab.Setting{
		Data: lab.Cells{Set: "simulated_cells", Preparation: datacells.Preparation{Choice: cells.Choice{Variable: cells.Variable{Top: 30}, OnCounts: true}}}, Forget: lab.Class("rare0"), Goal: lab.Reconstruction{}, Fit: train.Config{Epochs: 1, Batch: 256},
		Model: vae.Cells{Hidden: []int{8}, Latent: 2},
	})
	c.SecondOracle = c.Oracle
	got, err := c.Read(RMIA{}, c.Original)
	if err != nil {
		t.Fatal(err)
	}
	mine, err := c.Losses(c.Original)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := c.Losses(c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	of := func(mine, other []float64) []float64 {
		out := make([]float64, len(mine))
		for i := range mine {
			out[i] = other[i] - mine[i]
		}
		return out
	}
	want, err := stats.DeLong(of(mine.Forgotten, theirs.Forgotten), of(mine.HeldOut, theirs.HeldOut), 0.95)
	if err != nil || math.Abs(got.Value-want.Value) > 1e-9 {
		t.Errorf("%v, want %v (%v)", got.Estimate, want, err)
	}
}
