package audit

import (
	"errors"
	"math"
	"testing"

	datacells "github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// cellsToForget is a small case of single cells: no classifier.
func cellsToForget() lab.Setting {
	return lab.Setting{
		Data: lab.Cells{Set: "simulated_cells", Preparation: datacells.Preparation{Choice: cells.Choice{Variable: cells.Variable{Top: 60}, OnCounts: true}}}, Forget: lab.Class("rare0"), Goal: lab.Reconstruction{},
		Fit:   train.Config{Epochs: 3, Batch: 64, Optimizer: nn.Adam{LR: 1e-3}},
		Model: vae.Cells{Hidden: []int{16}, Latent: 4},
	}
}

// Every lens reads an autoencoder: RULER and SDE its latent means, the attack on
// losses what it loses on a cell. What needs labels says that there are none.
func TestEveryLensSeesAModelOfCells(t *testing.T) {
	c := openCase(t, newLab(t), cellsToForget())
	c.Lenses = append(DefaultLenses(), Subsets{Draws: 4})
	m, err := c.Unlearn(t.Context(), unlearn.SSDFoster{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := c.Compare(c.Original, m, c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range table.Rows {
		last := row.Cells[len(row.Cells)-1]
		if last.Missing != "no classifier" || len(row.Cells) != len(table.Columns) {
			t.Errorf("%+v", row)
		}
	}
	if err := table.Check(); err != nil {
		t.Error(err)
	}
	r, err := c.RULER(m, ruler.Options{PointOnly: true})
	if err != nil || r.M1 == nil || r.M2 == nil || r.M3 == nil || r.M4 == nil {
		t.Errorf("%+v, %v", r, err)
	}
	if _, _, err := c.Track(t.Context(), unlearn.SSDFoster{}, nil); !errors.Is(err, lab.ErrNoAnswers) {
		t.Errorf("a trajectory of accuracies: %v", err)
	}
	if _, err := c.LogitGroups(m); !errors.Is(err, lab.ErrNoAnswers) {
		t.Errorf("logits: %v", err)
	}
}

// The embedding is the posterior's mean, the loss of a cell its bound there, and
// every role has its own.
func TestWhatLensesReadInAnAutoencoder(t *testing.T) {
	c := openCase(t, newLab(t), cellsToForget())
	o, err := c.Original.Outputs()
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.Embedding(c.Original)
	if err != nil {
		t.Fatal(err)
	}
	i := c.Forget[2]
	if want := o.Train.Outputs[loss.LatentMean].Row(i)[1]; float32(e.Row(i)[1]) != want || e.Cols != 4 {
		t.Errorf("embedding %v, latent mean %v", e.Row(i), want)
	}
	losses, err := c.Losses(c.Original)
	if err != nil {
		t.Fatal(err)
	}
	p := o.Train.Outputs[loss.Proportion].Row(i)
	library, want := 0.0, 0.0
	for _, v := range c.Train.X.Row(i) {
		library += float64(v)
	}
	for j, v := range c.Train.X.Row(i) {
		want += math.Pow(library*float64(p[j])-float64(v), 2)
	}
	for k, mu := range o.Train.Outputs[loss.LatentMean].Row(i) {
		s := float64(o.Train.Outputs[loss.LatentLogVar].Row(i)[k])
		want += (float64(mu)*float64(mu) + math.Exp(s) - s - 1) / 2
	}
	if math.Abs(losses.Forgotten[2]-want) > 1e-4*want {
		t.Errorf("the cell loses %v, by hand %v", losses.Forgotten[2], want)
	}
	if len(losses.Retained) != len(c.Retain) || len(losses.HeldOut) != c.Test.X.Rows/2 || losses.Retained[0] == losses.HeldOut[0] {
		t.Errorf("%d retained and %d held out", len(losses.Retained), len(losses.HeldOut))
	}
	mean, _ := stats.Mean(losses.HeldOut)
	if !(mean > 0) {
		t.Errorf("mean loss %v", mean)
	}
}
