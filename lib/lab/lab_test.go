// Tests of lab.go.

package lab

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

func newLab(t *testing.T) *Lab {
	t.Helper()
	e, s := enginetest.WithStore(t)
	return &Lab{Engine: e, Store: s}
}

// smallSetting is a small case with a planted group to forget.
func smallSetting() Setting {
	return Setting{
		Data: Table{Set: "moons_island"}, Forget: Planted("island"), Fit: train.Config{Epochs: 100, Optimizer: nn.Adam{LR: 5e-3}},
		Model: tabular.MLP{Hidden: 32},
	}
}

func openCase(t *testing.T, l *Lab, s Setting) *Case {
	t.Helper()
	c, err := l.Case(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func originalOf(t *testing.T, c *Case) nn.Params {
	t.Helper()
	m, err := c.TrainedModel(t.Context(), c.Original())
	if err != nil {
		t.Fatal(err)
	}
	return m.Final
}

func TestNothingIsComputedTwiceAndWatchingGivesTheSameWeights(t *testing.T) {
	l := newLab(t)
	c := openCase(t, l, smallSetting())
	first, err := c.Unlearn(t.Context(), unlearn.GradientAscent{})
	if err != nil {
		t.Fatal(err)
	}
	var epochs []int
	watched, err := c.Watch(t.Context(), unlearn.GradientAscent{}, func(e train.Epoch, m *Model) error {
		epochs = append(epochs, e.Epoch)
		_, err := c.Accuracy(m)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if first.Weights.Hash() != watched.Weights.Hash() {
		t.Error("watching an unlearning changes its result")
	}
	if !slices.Equal(epochs, []int{1, 2, 3, 4, 5}) {
		t.Errorf("epochs seen: %v", epochs)
	}
	computed := 0
	l.AfterEpoch = func(train.Epoch) { computed++ }
	again := openCase(t, l, smallSetting())
	if _, err := again.Unlearn(t.Context(), unlearn.GradientAscent{}); err != nil {
		t.Fatal(err)
	}
	if computed != 0 || originalOf(t, again).Hash() != originalOf(t, c).Hash() {
		t.Errorf("%d epochs were computed again", computed)
	}
}

func TestAnErrorOfTheWatcherStopsTheWork(t *testing.T) {
	c := openCase(t, newLab(t), smallSetting())
	full := errors.New("the page is full")
	seen := 0
	_, err := c.Watch(t.Context(), unlearn.FineTuning{}, func(train.Epoch, *Model) error {
		seen++
		return full
	})
	if !errors.Is(err, full) || seen != 1 {
		t.Errorf("%v after %d epochs", err, seen)
	}
}

func TestAnInterruptedTrainingGoesOnToTheSameWeights(t *testing.T) {
	l := newLab(t)
	ctx, stop := context.WithCancel(t.Context())
	l.AfterEpoch = func(e train.Epoch) {
		if e.Epoch == 30 {
			stop()
		}
	}
	if _, err := openCase(t, l, smallSetting()).TrainedModel(ctx, smallSetting().Original()); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "saved") {
		t.Fatalf("the interrupted training says: %v", err)
	}
	first := 0
	l.AfterEpoch = func(e train.Epoch) {
		if first == 0 {
			first = e.Epoch
		}
	}
	resumed := originalOf(t, openCase(t, l, smallSetting()))
	if first != 31 {
		t.Errorf("the training went on with epoch %d, not 31", first)
	}
	undisturbed := originalOf(t, openCase(t, newLab(t), smallSetting()))
	if resumed.Hash() != undisturbed.Hash() {
		t.Error("a resumed training ends in other weights")
	}
}

func TestASubsetKeepsItsPlantedRows(t *testing.T) {
	p, err := Prepare(t.Context(), "moons_island", 200, 0.2, 7)
	if err != nil {
		t.Fatal(err)
	}
	ids := p.About.Planted["island"]
	if all := p.Train.X.Rows + p.Test.X.Rows; len(ids) == 0 || len(ids) == 30 || all != 200 {
		t.Fatalf("%d of the island in %d rows", len(ids), all)
	}
	for _, part := range []datasets.Part{p.Train, p.Test} {
		for k, id := range part.IDs {
			var x [2]float64
			for j, v := range part.X.Row(k) {
				x[j] = float64(v)*p.Norm.SD[j] + p.Norm.Mean[j]
			}
			if slices.Contains(ids, id) != (math.Hypot(x[0]+0.6, x[1]-1.7) < 0.6) {
				t.Errorf("row %d at %v: on the island, or not", id, x)
			}
		}
	}
}
