// Tests of compression.go.

package lab

import (
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

var narrow = ib.Bottleneck{Latent: 3, Compressor: ib.MLP{Hidden: 8}, Approximator: ib.MLP{Hidden: 8}}

// The goal's value is the cross-entropy plus Beta times the mean, or the sum, of the
// divergences per variable, computed by hand from the network's prediction.
func TestCompressionWeighsTheDivergence(t *testing.T) {
	c := mustCase(t, newLab(t), Setting{Data: Table{Set: "two_moons"}, Model: narrow, Goal: Compression{}})
	rows, weights := c.Forget, c.InitialWeights(5)
	pred, err := c.Runner.Predict(weights, c.Records(rows).X)
	if err != nil {
		t.Fatal(err)
	}
	ce, kl := 0.0, 0.0
	for i, v := range train.Losses(pred.Logits(), c.Records(rows).Y) {
		ce += v / float64(len(rows))
		for j, mu := range pred.Outputs[loss.LatentMean].Row(i) {
			s := float64(pred.Outputs[loss.LatentLogVar].Row(i)[j])
			kl += (float64(mu)*float64(mu) + math.Exp(s) - s - 1) / 2 / float64(len(rows))
		}
	}
	for _, g := range []struct {
		goal Compression
		want float64
	}{{Compression{}, ce + 1e-3*kl/3}, {Compression{Beta: new(2.0)}, ce + 2*kl/3}, {Compression{Beta: new(2.0), Sum: true}, ce + 2*kl}, {Compression{Beta: new(0.0)}, ce}} {
		o, err := g.goal.Objective(c.Problem, rows)
		if err != nil {
			t.Fatal(err)
		}
		got, err := train.Evaluate(t.Context(), c.Runner, weights, o)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got-g.want) > 1e-5*g.want {
			t.Errorf("%+v: %v, want %v", g.goal, got, g.want)
		}
	}
	plain := mustCase(t, newLab(t), Setting{Data: Table{Set: "two_moons"}})
	if _, err := (Compression{}).Objective(plain.Problem, rows); err == nil || !strings.Contains(err.Error(), "has no codes to compress") {
		t.Errorf("a network without codes: %v", err)
	}
}

// A method may ask for the original's objective on synthetic records: they are not looked
// up by their numbers.
func TestAnObjectiveOfRecordsThatWereMade(t *testing.T) {
	c := mustCase(t, newLab(t), Setting{Data: Table{Set: "two_moons"}, Model: narrow, Goal: Compression{Beta: new(0.0)}, Fit: train.Config{Epochs: 1}})
	r, err := c.Request(t.Context(), unlearn.AuxiliaryTuning{Auxiliary: unlearn.Noise})
	if err != nil {
		t.Fatal(err)
	}
	d := unlearn.Data{X: array.Matrix[float32]{Rows: 2, Cols: 2, Data: []float32{9, 9, -9, 9}}, Y: []int{1, 0}, IDs: []int{0, 1}, Synthetic: true}
	o, err := r.Objective(d)
	if err != nil {
		t.Fatal(err)
	}
	got, err := train.Evaluate(t.Context(), c.Runner, r.Original, o)
	if err != nil {
		t.Fatal(err)
	}
	said, err := c.Runner.Predict(r.Original, d.X)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for _, v := range train.Losses(said.Logits(), d.Y) {
		want += v / 2
	}
	if math.Abs(got-want) > 1e-6*(1+want) {
		t.Errorf("the objective is %v, of these records %v", got, want)
	}
}
