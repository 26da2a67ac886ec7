package audit

import (
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

func newLab(t *testing.T) *lab.Lab {
	t.Helper()
	e, s := enginetest.WithStore(t)
	return &lab.Lab{Engine: e, Store: s}
}

// island is a small case in which there is something to forget.
func island() lab.Setting {
	return lab.Setting{
		DataSet: "moons_island", Planted: "island", Fit: train.Config{Epochs: 100, Optimizer: nn.Adam{LR: 5e-3}},
		Arch: func(f, c int) model.Architecture { return tabular.MLP{Features: f, Outputs: c, Hidden: 32} },
	}
}

func openCase(t *testing.T, l *lab.Lab, s lab.Setting) *Case {
	t.Helper()
	c, err := Open(t.Context(), l, s)
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
	c := openCase(t, newLab(t), lab.Setting{})
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
	for want, s := range map[string]lab.Setting{
		`no planted group "reef"`: {DataSet: "moons_island", Planted: "reef"},
		"forget fraction 1.5":     {Fraction: 1.5},
		"atlantis":                {DataSet: "atlantis"},
		"0 hidden units":          {Arch: func(f, c int) model.Architecture { return tabular.MLP{Features: f, Outputs: c, Hidden: -1} }},
	} {
		if _, err := Open(t.Context(), l, s); err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(want, "0 ")) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	c := openCase(t, l, lab.Setting{DataSet: "two_moons", MaxRows: 100})
	if _, err := c.Compare(); err == nil {
		t.Error("a table of no models was made")
	}
}
