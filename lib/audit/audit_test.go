package audit

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

func newLab(t *testing.T) *Lab {
	t.Helper()
	t.Setenv("LETHE_DATA", t.TempDir()) // no real data: only what is built in
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &Lab{Engine: e, Store: s}
}

// island is a small case in which there is something to forget.
func island() Setting {
	return Setting{
		DataSet: "moons_island", Planted: "island", Fit: train.Config{Epochs: 100, Optimizer: nn.Adam{LR: 5e-3}},
		Arch: func(f, c int) model.Architecture { return tabular.MLP{Features: f, Outputs: c, Hidden: 32} },
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

func TestAnIslandIsRememberedAndTheOracleNeverSawIt(t *testing.T) {
	c := openCase(t, newLab(t), island())
	before, err := c.Accuracy(c.Original)
	if err != nil {
		t.Fatal(err)
	}
	after, err := c.Accuracy(c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	if before.Forget.Value < 0.9 || after.Forget.Value > 0.1 {
		t.Errorf("accuracy on the island: original %.2f, oracle %.2f", before.Forget.Value, after.Forget.Value)
	}
	if before.Test.Value < 0.9 || after.Test.Value < 0.85 {
		t.Errorf("held-out accuracy: original %.2f, oracle %.2f", before.Test.Value, after.Test.Value)
	}
	own, err := AgainstOracle{}.Look(c, c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(own.Value) > 1e-12 || own.Verdict() != NoSign {
		t.Errorf("the oracle against itself: %v, %s", own.Value, own.Verdict())
	}
	first, err := AgainstOracle{}.Look(c, c.Original)
	if err != nil {
		t.Fatal(err)
	}
	if first.Verdict() != Remembers {
		t.Errorf("the original against the oracle: %v [%v, %v], %s", first.Value, first.Low, first.High, first.Verdict())
	}
}

func TestNothingIsComputedTwiceAndWatchingGivesTheSameWeights(t *testing.T) {
	l := newLab(t)
	c := openCase(t, l, island())
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
	l.Progress = func(Progress) { computed++ }
	again := openCase(t, l, island())
	if _, err := again.Unlearn(t.Context(), unlearn.GradientAscent{}); err != nil {
		t.Fatal(err)
	}
	if computed != 0 || again.Original.Weights.Hash() != c.Original.Weights.Hash() {
		t.Errorf("%d epochs were computed again", computed)
	}
}

func TestAnErrorOfTheWatcherStopsTheWork(t *testing.T) {
	c := openCase(t, newLab(t), island())
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
	l.Progress = func(p Progress) {
		if p.Done == 30 {
			stop()
		}
	}
	if _, err := l.Case(ctx, island()); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "saved") {
		t.Fatalf("the interrupted training says: %v", err)
	}
	first := int64(0)
	l.Progress = func(p Progress) {
		if first == 0 {
			first = p.Done
		}
	}
	resumed := openCase(t, l, island())
	if first != 31 {
		t.Errorf("the training went on with epoch %d, not 31", first)
	}
	undisturbed := openCase(t, newLab(t), island())
	if resumed.Original.Weights.Hash() != undisturbed.Original.Weights.Hash() {
		t.Error("a resumed training ends in other weights")
	}
}

func TestEveryLensReadsEveryModel(t *testing.T) {
	c := openCase(t, newLab(t), island())
	c.Through = Lenses()
	models, err := c.Controls(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	readings, err := c.Readings(models...)
	if err != nil {
		t.Fatal(err)
	}
	if len(readings) != len(models)*len(Lenses()) {
		t.Fatalf("%d readings of %d models", len(readings), len(models))
	}
	for _, r := range readings {
		if r.Null == nil || !(r.Low <= r.Value && r.Value <= r.High) || r.Verdict() == Undecidable {
			t.Errorf("%s of %s: %+v", r.Lens, r.Model, r)
		}
	}
	table, err := c.Compare(models...)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := table.Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"random-weights", "retrained, other seed", "null 0.5", "the data are generated"} {
		if !strings.Contains(strings.ToLower(b.String()), want) {
			t.Errorf("the table does not say %q:\n%s", want, b.String())
		}
	}
	f, err := c.Figure(models...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.PNG(); err != nil {
		t.Error(err)
	}
	if f, err = c.Surfaces(c.Original, c.Oracle); err != nil {
		t.Fatal(err)
	}
	if _, err := f.PNG(); err != nil {
		t.Error(err)
	}
}

func TestACourseStartsWithTheOriginalAndEndsWithTheResult(t *testing.T) {
	c := openCase(t, newLab(t), island())
	calls := 0
	course, last, err := c.Follow(t.Context(), unlearn.NegGrad{}, func(k *Course) error {
		calls++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	first, err := c.Accuracy(c.Original)
	if err != nil {
		t.Fatal(err)
	}
	end, err := c.Accuracy(last)
	if err != nil {
		t.Fatal(err)
	}
	n := len(course.epochs) - 1
	if calls != 10 || n != 10 || course.forget[0] != first.Forget || course.test[n] != end.Test {
		t.Errorf("%d calls, %d epochs, from %+v to %+v", calls, n, course.forget[0], course.test[n])
	}
	if _, err := course.Figure().PNG(); err != nil {
		t.Error(err)
	}
}

func TestASurfaceNeedsTwoFeatures(t *testing.T) {
	c := openCase(t, newLab(t), Setting{})
	if _, err := c.Surface(c.Original); err == nil || !strings.Contains(err.Error(), "30") {
		t.Errorf("a surface of 30 features: %v", err)
	}
}

func TestAVerdictFollowsTheIntervalAndTheSide(t *testing.T) {
	half := 0.5
	at := func(low, high float64) stats.Estimate {
		return stats.Estimate{Value: (low + high) / 2, Low: low, High: high, Null: &half}
	}
	for _, c := range []struct {
		r    Reading
		want Verdict
	}{
		{Reading{Estimate: at(0.4, 0.6), Memory: Above}, NoSign},
		{Reading{Estimate: at(0.5, 0.6), Memory: Above}, NoSign},
		{Reading{Estimate: at(0.51, 0.6), Memory: Above}, Remembers},
		{Reading{Estimate: at(0.51, 0.6), Memory: Below}, Overshoots},
		{Reading{Estimate: at(0.4, 0.49), Memory: Above}, Overshoots},
		{Reading{Estimate: at(0.4, 0.49), Memory: Below}, Remembers},
		{Reading{Estimate: at(math.NaN(), 0.6), Memory: Above}, Undecidable},
		{Reading{Estimate: stats.Estimate{Value: 1, Low: 1, High: 1}, Memory: Above}, Undecidable},
	} {
		if got := c.r.Verdict(); got != c.want {
			t.Errorf("[%v, %v], memory %+d: %s, want %s", c.r.Low, c.r.High, c.r.Memory, got, c.want)
		}
	}
	near := Reading{Estimate: at(0.4, 0.62), Floor: stats.Floor{P95: 0.02}}
	if !near.WithinChance() {
		t.Error("0.51 is within 0.02 of 0.5")
	}
	near.Floor.P95 = 0.005
	if near.WithinChance() {
		t.Error("0.51 is not within 0.005 of 0.5")
	}
}

func TestASettingThatMakesNoSenseIsRefused(t *testing.T) {
	l := newLab(t)
	for want, s := range map[string]Setting{
		`no planted group "reef"`: {DataSet: "moons_island", Planted: "reef"},
		"forget fraction 1.5":     {Fraction: 1.5},
		"atlantis":                {DataSet: "atlantis"},
		"0 hidden units":          {Arch: func(f, c int) model.Architecture { return tabular.MLP{Features: f, Outputs: c, Hidden: -1} }},
	} {
		if _, err := l.Case(t.Context(), s); err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(want, "0 ")) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	c := openCase(t, l, Setting{DataSet: "two_moons", MaxRows: 100})
	if _, err := c.Compare(); err == nil {
		t.Error("a table of no models was made")
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
