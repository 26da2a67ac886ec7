package audit

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/representation"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// compressed is a small case of a bottleneck.
func compressed() lab.Setting {
	half := ib.MLP{Hidden: 16}
	return lab.Setting{
		Data: lab.Images{Set: "glyphs", MaxTrain: 300, MaxTest: 400, Pixels: true}, Forget: lab.Random{Fraction: 0.1}, Goal: lab.Compression{}, Fit: train.Config{Epochs: 4, Batch: 20},
		Model: ib.Bottleneck{Latent: 8, Compressor: half, Approximator: half},
	}
}

// The reading by hand: the means of codes, one half of the held-out records to learn on,
// the mean of the class by name, and pairs counted one by one.
func TestTheReconstructionLensCountsPairs(t *testing.T) {
	c := openCase(t, newLab(t), compressed())
	got, err := c.Read(Reconstruction{}, c.Original)
	if err != nil {
		t.Fatal(err)
	}
	codes := func(x array.Matrix[float32]) array.Matrix[float32] {
		lensNames, err := c.Runner.Predict(c.Original.Weights, x)
		if err != nil {
			t.Fatal(err)
		}
		return lensNames.Outputs[loss.LatentMean]
	}
	var order []int // of the half of the held-out records that no method may look at
	for _, k := range engine.Root(999).Stream("decoder").Perm(200) {
		order = append(order, c.EvalRows()[k])
	}
	known, nonmembers, members := c.Test.Gather(order[:100]), c.Test.Gather(order[100:]), c.Problem.Train.Gather(c.Forget)
	attacker := representation.Reconstruction{Epochs: minSteps / 5, LR: 1e-3, Batch: 20, Standardised: true}
	gains := func(x array.Matrix[float32], y []int, from int) []float64 {
		numbers := make([]int, x.Rows)
		for i := range numbers {
			numbers[i] = from + i
		}
		shadow := representation.Shadow{Numbers: make([]int, 100), Codes: codes(known.X), Records: known.X, Labels: known.Y}
		victims := representation.Victims{Numbers: numbers, Codes: codes(x), Originals: x, Labels: y}
		found, err := attacker.Run(t.Context(), c.Runner.Engine, shadow, victims, 999)
		if err != nil {
			t.Fatal(err)
		}
		if found.ClassMean == nil || found.ClassMean.Value >= found.Mean.Value {
			t.Fatal("the mean of the class is no nearer than that of all: this test counts something else")
		}
		var out []float64
		for i := range x.Rows {
			mean, n := make([]float64, x.Cols), 0.0
			for k := range known.Y {
				if known.Y[k] == y[i] {
					n++
					for j, v := range known.X.Row(k) {
						mean[j] += float64(v)
					}
				}
			}
			gain := -found.Errors[i]
			for j, v := range x.Row(i) {
				gain += math.Pow(float64(float32(mean[j]/n))-float64(v), 2)
			}
			out = append(out, gain)
		}
		return out
	}
	forgotten, held, auc := gains(members.X, members.Y, 1), gains(nonmembers.X, nonmembers.Y, 1), 0.0
	for _, a := range forgotten {
		for _, b := range held {
			switch {
			case a > b:
				auc++
			case a == b:
				auc += 0.5
			}
		}
	}
	auc /= float64(len(forgotten) * len(held))
	if math.Abs(got.Value-auc) > 1e-9 || got.N != 30+100 || *got.Null != 0.5 || got.Memory != Above {
		t.Errorf("%+v, by hand %v", got, auc)
	}
	// Codes of a bottleneck tell more of a record than its class does.
	if mean := sum(held) / float64(len(held)); mean <= 0 {
		t.Errorf("the gain is %v on average", mean)
	}
	if slices.Equal(forgotten, held) {
		t.Error("the forgotten records are the held-out ones")
	}
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// An autoencoder of cells has codes too, and its records are no pixels.
func TestTheReconstructionLensSeesAModelOfCells(t *testing.T) {
	c := openCase(t, newLab(t), cellsToForget())
	r, err := c.Read(Reconstruction{}, c.Original)
	if err != nil || r.N != len(c.Forget)+(len(c.EvalRows())+1)/2 || !(r.Low <= r.Value && r.Value <= r.High) {
		t.Errorf("%+v, %v", r, err)
	}
	few := *c.Prepared
	few.Test = few.Test.Gather([]int{0, 1, 2, 3, 4, 5})
	c.Problem.Prepared = &few
	if _, err := c.Read(Reconstruction{}, c.Original); err == nil || !strings.Contains(err.Error(), `"reconstruction": `) || !strings.Contains(err.Error(), "3 held-out records") {
		t.Errorf("three held-out records: %v", err)
	}
}
