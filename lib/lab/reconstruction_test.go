// Tests of reconstruction.go.

package lab

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

const (
	someCells = 24
	someGenes = 5
)

// countedCells returns counts, the cells' totals over more genes than these, and the
// problem of their log-normalised expression.
func countedCells(t *testing.T, l *Lab, arch vae.Cells) (*Problem, array.Matrix[float32]) {
	t.Helper()
	rng := engine.Root(6).Stream(engine.StreamToy)
	counts, x := array.New[float32](someCells, someGenes), array.New[float32](someCells, arch.Inputs())
	totals := make([]float64, someCells)
	for i := range someCells {
		for j := range someGenes {
			counts.Row(i)[j] = float32(rng.IntN(4) * rng.IntN(10))
			if i == 0 && j == 0 {
				counts.Row(i)[j] = 20_011 // a prime
			}
			totals[i] += float64(counts.Row(i)[j])
		}
		totals[i] += float64(1000 + rng.IntN(5000))
		for j := range someGenes {
			x.Row(i)[j] = float32(math.Log1p(float64(counts.Row(i)[j]) * 10_000 / totals[i]))
		}
		if arch.Clusters > 0 {
			x.Row(i)[someGenes+i%arch.Clusters] = 1
		}
	}
	data := &datasets.Prepared{
		About: datasets.About{Name: "cells"}, Hash: "hash",
		Train: datasets.Part{X: x, Extra: map[string][]float64{datasets.Library: totals}},
	}
	p, err := l.Join(data, arch)
	if err != nil {
		t.Fatal(err)
	}
	return p, counts
}

var smallCells = vae.Cells{Genes: someGenes, Hidden: []int{6}, Latent: 2}

func TestCountsAreFoundAgain(t *testing.T) {
	l := newLab(t)
	arch := smallCells
	arch.Clusters = 3
	p, counts := countedCells(t, l, arch)
	rows := []int{3, 0, 7}
	for _, likelihood := range []Likelihood{NegativeBinomial, ZeroInflated} {
		o, err := Reconstruction{Likelihood: likelihood}.Objective(p, rows)
		if err != nil {
			t.Fatal(err)
		}
		in := o[0].Targets[0].Inputs
		if !reflect.DeepEqual(in[loss.Target], counts.Gather(rows)) {
			t.Errorf("%s: counts %v, want %v", likelihood, in[loss.Target], counts.Gather(rows))
		}
		for k, row := range rows {
			want := float32(0)
			for _, v := range counts.Row(row) {
				want += v
			}
			if in[loss.Library].Data[k] != want {
				t.Errorf("%s: record %d has the library size %v, want %v", likelihood, row, in[loss.Library].Data[k], want)
			}
		}
	}
	o, err := Reconstruction{}.Objective(p, rows)
	if err != nil {
		t.Fatal(err)
	}
	if o[0].X.Cols != someGenes+3 || o[0].Targets[0].Inputs[loss.Target].Cols != someGenes || !reflect.DeepEqual(o[0].IDs, rows) {
		t.Errorf("%d features, %d of them to be reconstructed, of the records %v", o[0].X.Cols, o[0].Targets[0].Inputs[loss.Target].Cols, o[0].IDs)
	}
	sum := float32(0)
	for _, v := range p.Train.X.Row(7)[:someGenes] {
		sum += v
	}
	if got := o[0].Targets[0].Inputs[loss.Library].Data[2]; math.Abs(float64(got-sum)) > 1e-5 {
		t.Errorf("the squared error's library size is %v, want %v", got, sum)
	}
}

func TestAReconstructionIsTheProgramsUnlessToldOtherwise(t *testing.T) {
	l := newLab(t)
	p, _ := countedCells(t, l, smallCells)
	divergence := func(g Goal) string {
		o, err := g.Objective(p, []int{0, 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(o[0].Targets) == 1 {
			return "none"
		}
		d := o[0].Targets[1]
		return fmt.Sprintf("%+v x %v after %d", d.Loss, d.Weight, d.WarmUp)
	}
	for want, g := range map[string]Goal{
		"{FreeBits:0.03} x 1 after 20": Reconstruction{},
		"{FreeBits:0} x 1 after 0":     Reconstruction{}.FinalGoal(),
		"{FreeBits:0} x 0.5 after 3":   Reconstruction{Beta: new(0.5), WarmUp: 3, FreeBits: new(0.0)},
		"none":                         Reconstruction{Beta: new(0.0)},
	} {
		if got := divergence(g); got != want {
			t.Errorf("%+v: %s, want %s", g, got, want)
		}
		if again := defaults.Fill(g); !reflect.DeepEqual(again, defaults.Fill(again)) || divergence(again) != want {
			t.Errorf("%+v resolves to %+v", g, again)
		}
	}
}

func TestReconstructionsThatCannotBeAreRefused(t *testing.T) {
	l := newLab(t)
	corrupted := func(corrupt func(p *Problem)) *Problem {
		p, _ := countedCells(t, l, smallCells)
		corrupt(p)
		return p
	}
	for words, c := range map[string]struct {
		g Reconstruction
		p *Problem
	}{
		`unknown likelihood "poisson"`: {Reconstruction{Likelihood: "poisson"}, corrupted(func(*Problem) {})},
		`column "library"`:             {Reconstruction{Likelihood: NegativeBinomial}, corrupted(func(p *Problem) { p.Train.Extra = nil })},
		"gene 2 in record 1": {Reconstruction{Likelihood: NegativeBinomial}, corrupted(func(p *Problem) {
			p.Train.X.Row(1)[2] = float32(math.Log1p(1.5 * 10_000 / p.Train.Extra[datasets.Library][1])) // one and a half
		})},
		"proportions of 0 genes": {Reconstruction{}, corrupted(func(p *Problem) { p.Arch = tabular.MLP{Features: 5, Outputs: 2} })},
	} {
		if _, err := c.g.Objective(c.p, []int{0, 1, 2}); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want %q", err, words)
		}
	}
}

// A case of cells is trained, retrained and unlearned like any other.
func TestCellsAreUnlearned(t *testing.T) {
	l := newLab(t)
	p, _ := countedCells(t, l, smallCells)
	fit := train.Config{Epochs: 6, Batch: 8, Optimizer: nn.Adam{LR: 1e-2}}.WithDefaults()
	s := Setting{Goal: defaults.Fill(Reconstruction{Likelihood: NegativeBinomial, WarmUp: 4}), Fit: fit}
	c := &Case{Lab: l, Setting: s, Problem: p, Forget: []int{0, 1, 2, 3}, Retain: rowsFrom(4, p.Train.X.Rows), trained: map[ModelSpec]*Trajectory{}}
	original, err := l.Train(context.Background(), c.training(c.Original()))
	if err != nil {
		t.Fatal(err)
	}
	if o, ok := c.unlearningGoal(unlearn.FineTuning{}).(Reconstruction); !ok || o.WarmUp != 0 || o.Likelihood != NegativeBinomial {
		t.Errorf("unlearning goes on with %+v", c.unlearningGoal(unlearn.FineTuning{}))
	}
	if c.unlearningGoal(unlearn.Retrain{}) != s.Goal {
		t.Errorf("retraining goes on with %+v", c.unlearningGoal(unlearn.Retrain{}))
	}
	method := unlearn.GradientAscent{Epochs: 3, LR: 1e-2}
	got, _, err := l.unlearn(context.Background(), p, c.unlearningGoal(method), method, c.request(method, original), "")
	if err != nil {
		t.Fatal(err)
	}
	lost := func(w nn.Params, rows []int) float64 {
		o, err := c.unlearningGoal(method).Objective(p, rows)
		if err != nil {
			t.Fatal(err)
		}
		v, err := train.Evaluate(context.Background(), p.Runner, w, o)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if before, after := lost(original.Final, c.Forget), lost(got, c.Forget); !(after > before) {
		t.Errorf("the loss on the forgotten cells was %v and is %v", before, after)
	}
	// Retraining through a request is the training of the retrained model.
	oracle, err := l.Train(context.Background(), c.training(c.Oracle()))
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := unlearn.Apply(context.Background(), unlearn.Retrain{}, c.request(unlearn.Retrain{}, original))
	if err != nil || again.Hash() != oracle.Final.Hash() {
		t.Errorf("retraining is not the oracle (%v)", err)
	}
	keys := map[string]bool{}
	for _, g := range []Goal{s.Goal, c.unlearningGoal(method), Reconstruction{}.FinalGoal(), Labels{}} {
		id, err := l.unlearnKey(p, g, method, c.request(method, original)).ID()
		if err != nil || keys[id] {
			t.Errorf("%+v: the key is that of another goal (%v)", g, err)
		}
		keys[id] = true
	}
}

// By hand: the loss of a cell is its squared error with library size plus beta divergences
// at the mean of its posterior, without free bits.
func TestWhatACellLoses(t *testing.T) {
	matrix := func(cols int, v ...float32) array.Matrix[float32] {
		return array.Matrix[float32]{Rows: len(v) / cols, Cols: cols, Data: v}
	}
	p := &model.Prediction{Outputs: map[string]array.Matrix[float32]{
		loss.Proportion: matrix(2, 0.5, 0.5, 0.25, 0.75), loss.LatentMean: matrix(1, 0.1, 2), loss.LatentLogVar: matrix(1, 0, 0),
	}}
	records := datasets.Part{X: matrix(3, 1, 3, 9, 1, 3, 9)} // the third column is a cluster
	for want, g := range map[[2]float64]Reconstruction{
		{2 + 0.005, 2}:      {},
		{2, 0}:              {Beta: new(0.0)},
		{2 + 0.05, 20}:      {Beta: new(10.0), WarmUp: 3},
		{2 + 0.005, 2.0000}: {Plain: true},
	} {
		got, err := g.RecordLosses(p, records)
		if err != nil || math.Abs(got[0]-want[0]) > 1e-6 || math.Abs(got[1]-want[1]) > 1e-6 {
			t.Errorf("%+v: %v, want %v; %v", g, got, want, err)
		}
	}
	if _, err := (Reconstruction{Likelihood: ZeroInflated}).RecordLosses(p, records); err == nil || !strings.Contains(err.Error(), "zinb") {
		t.Errorf("%v", err)
	}
	if _, err := (Reconstruction{}).RecordLosses(&model.Prediction{}, records); err == nil || !strings.Contains(err.Error(), "0 genes") {
		t.Errorf("%v", err)
	}
}

type unjudged struct{ Labels }

func (unjudged) Name() string  { return "unjudged" }
func (unjudged) RecordLosses() {}

func TestAGoalWithoutLossesOfRecordsSaysSo(t *testing.T) {
	c := &Case{Setting: Setting{Goal: unjudged{}}}
	if _, err := c.Losses(nil); err == nil || !strings.Contains(err.Error(), "unjudged has no loss of a single record") {
		t.Errorf("%v", err)
	}
}
