package audit

import (
	"math"
	"testing"

	datacells "github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/verify/fisher"
)

// The closed form of the output layer against the squares that package train takes of
// its weights; held-out records and the forgotten ones are not exchanged.
func TestFisherCosinesAreThoseOfTheOutputLayer(t *testing.T) {
	c := openCase(t, newLab(t), lab.Setting{Data: lab.Table{Set: "tabular_outliers"}, Forget: lab.Planted("outliers"), Fit: train.Config{Epochs: 5}})
	forgotten, held, err := c.FisherCosines(c.Original)
	if err != nil {
		t.Fatal(err)
	}
	of := func(rows []int) fisher.Diagonal {
		o, err := lab.Labels{}.Objective(c.Problem, rows)
		if err != nil {
			t.Fatal(err)
		}
		d, err := fisher.Exact{}.Estimate(t.Context(), c.Runner, c.Original.Weights, o)
		if err != nil {
			t.Fatal(err)
		}
		return d.Filter(func(name string) bool { return name == "head.weight" || name == "head.bias" })
	}
	want, err := fisher.Cosine(of(c.Forget), of(c.Retain))
	if err != nil || math.Abs(want-forgotten) > 1e-5 {
		t.Errorf("%v, want %v (%v)", forgotten, want, err)
	}
	if math.Abs(held-forgotten) < 0.01 {
		t.Errorf("outliers %v and held-out records %v are one", forgotten, held)
	}
}

// An autoencoder has no output layer of scores: the lens looks at all of its weights,
// of held-out cells too.
func TestTheFisherLensLooksAtAutoencoders(t *testing.T) {
	c := openCase(t, newLab(t), lab.Setting{
		Data: lab.Cells{Set: "simulated_cells", Preparation: datacells.Preparation{Choice: cells.Choice{Variable: cells.Variable{Top: 30}, OnCounts: true}}}, Forget: lab.Class("rare0"), Goal: lab.Reconstruction{}, Fit: train.Config{Epochs: 1, Batch: 256},
		Model: vae.Cells{Hidden: []int{8}, Latent: 2},
	})
	r, err := c.Read(FisherOverlap{}, c.Original)
	if err != nil || r.N != len(c.Forget)+150 || !(r.Low <= r.Value && r.Value <= r.High) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, _, err := c.FisherCosines(c.Original); err == nil {
		t.Error("an autoencoder has an output layer of scores")
	}
}
