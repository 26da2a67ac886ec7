package audit

import (
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/plot"
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
		Data: lab.Table{Set: "moons_island"}, Forget: lab.Planted("island"), Fit: train.Config{Epochs: 100, Optimizer: nn.Adam{LR: 5e-3}},
		Model: tabular.MLP{Hidden: 32},
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
	own, err := c.Read(AgainstOracle{}, c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(own.Value) > 1e-12 {
		t.Errorf("the oracle against itself: %v", own.Value)
	}
	first, err := c.Read(AgainstOracle{}, c.Original)
	if err != nil {
		t.Fatal(err)
	}
	if first.High >= 0 {
		t.Errorf("the original against the oracle: %v [%v, %v]", first.Value, first.Low, first.High)
	}
}

// The null of a lens may lie where the original is and not where the oracle is,
// as on the island through the outputs. A reader must not take the oracle for a
// model that overshoots, nor the original for one that remembers nothing.
func TestTheTableForPeoplePlacesModelsBetweenTheOriginalAndTheOracle(t *testing.T) {
	c := openCase(t, newLab(t), island())
	table, err := c.Compare(c.Original, c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	seeing := 0
	for k, lens := range DefaultLenses() {
		first, last := words(table.Rows[0].Cells[1+k].Text), words(table.Rows[1].Cells[1+k].Text)
		if first == string(Blind) && last == first {
			continue
		}
		seeing++
		if first != string(Remembered) || last != string(Forgotten) {
			t.Errorf("%s: the original is %q and the oracle %q", lens.Name(), first, last)
		}
	}
	if seeing < 2 {
		t.Errorf("%d lenses see the island", seeing)
	}
	notes := strings.Join(table.Notes, "\n")
	if !strings.Contains(notes, "remembered: like the original") || !strings.Contains(notes, "forgotten: like the oracle") || strings.Contains(notes, "beyond") {
		t.Errorf("the words of the table are explained, and no others: %s", notes)
	}
}

// words are what stands behind the interval of a cell.
func words(cell string) string { return strings.TrimSpace(cell[strings.Index(cell, "]")+1:]) }

func TestEveryCallIsExplained(t *testing.T) {
	for _, c := range []Call{Blind, Forgotten, Remembered, Between, Beyond, Backwards, Unclear} {
		if c.About() == "" {
			t.Errorf("%s is not explained", c)
		}
	}
}

// screen keeps what is drawn on it.
type screen struct{ drawn []plot.Figure }

func (s *screen) Due() bool            { return true }
func (s *screen) Figure(f plot.Figure) { s.drawn = append(s.drawn, f) }

func TestAnUnlearningIsDrawnEpochByEpochBetweenItsControls(t *testing.T) {
	c := openCase(t, newLab(t), island())
	method := unlearn.NegGrad{Epochs: 3}
	for name, draw := range map[string]func(Screen) error{
		"accuracies": func(s Screen) error { return c.DrawTrajectory(t.Context(), s, method) },
		"M2 and M4":  func(s Screen) error { return c.DrawRULER(t.Context(), s, method) },
	} {
		var s screen
		if err := draw(&s); err != nil {
			t.Fatal(err)
		}
		if len(s.drawn) != 4 {
			t.Errorf("%s: %d pictures of three epochs and the end", name, len(s.drawn))
		}
		if _, err := s.drawn[len(s.drawn)-1].PNG(); err != nil {
			t.Error(err)
		}
	}
	var s screen
	if err := c.DrawRULER(t.Context(), &s, method); err != nil {
		t.Fatal(err)
	}
	panels := s.drawn[3].(plot.Panels).Figures
	original, err := c.RULERValues(c.Original)
	if err != nil {
		t.Fatal(err)
	}
	oracle, err := c.RULERValues(c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range [][2]float64{{original.M2.Value, 0}, {original.M4.Value, oracle.M4.Value}} {
		curves := panels[k].(plot.Curves).Curves
		if len(curves) != 3 || curves[0].Y[0] != want[0] || curves[1].Y[0] != want[0] || math.Abs(curves[2].Y[0]-want[1]) > 1e-12 {
			t.Errorf("panel %d: %+v, want it to start at %v and the oracle at %v", k, curves, want[0], want[1])
		}
	}
}

func TestAForestOfRULERShowsTheMetricAskedFor(t *testing.T) {
	c := openCase(t, newLab(t), island())
	m4, err := c.RULERValues(c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.RULERForest("M4", []float64{0.6}, c.Original, c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	if f.Rows[1].Estimate.Value != m4.M4.Value || *f.Rows[0].Paper != 0.6 || f.Rows[1].Paper != nil || f.Null.Low == nil {
		t.Errorf("%+v, null %+v", f.Rows, f.Null)
	}
	if f, err = c.RULERForest("M1", nil, c.Original); err != nil || f.Null != nil {
		t.Errorf("M1 has no null: %+v, %v", f.Null, err)
	}
	if _, err := c.RULERForest("M5", nil, c.Original); err == nil || !strings.Contains(err.Error(), `"M5"`) {
		t.Errorf("M5: %v", err)
	}
}

func TestEveryLensReadsEveryModel(t *testing.T) {
	c := openCase(t, newLab(t), island())
	c.Lenses = Lenses()
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
		if r.Null == nil || !(r.Low <= r.Value && r.Value <= r.High) {
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

func TestATrajectoryStartsWithTheOriginalAndEndsWithTheResult(t *testing.T) {
	c := openCase(t, newLab(t), island())
	calls := 0
	trajectory, last, err := c.Track(t.Context(), unlearn.NegGrad{}, func(k *Trajectory) error {
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
	n := len(trajectory.epochs) - 1
	if calls != 10 || n != 10 || trajectory.forget[0] != first.Forget || trajectory.test[n] != end.Test {
		t.Errorf("%d calls, %d epochs, from %+v to %+v", calls, n, trajectory.forget[0], trajectory.test[n])
	}
	if _, err := trajectory.Figure().PNG(); err != nil {
		t.Error(err)
	}
}

func TestASurfaceNeedsTwoFeatures(t *testing.T) {
	c := openCase(t, newLab(t), lab.Setting{})
	if _, err := c.Surface(c.Original); err == nil || !strings.Contains(err.Error(), "30") {
		t.Errorf("a surface of 30 features: %v", err)
	}
}

func TestAReadingNearTheNullIsWithinChance(t *testing.T) {
	half := 0.5
	at := func(low, high float64) stats.Estimate {
		return stats.Estimate{Value: (low + high) / 2, Low: low, High: high, Null: &half}
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
		`no planted group "reef"`: {Data: lab.Table{Set: "moons_island"}, Forget: lab.Planted("reef")},
		"forget fraction 1.5":     {Forget: lab.Random{Fraction: 1.5}},
		"atlantis":                {Data: lab.Table{Set: "atlantis"}},
		"0 hidden units":          {Model: tabular.MLP{Hidden: -1}},
	} {
		if _, err := Open(t.Context(), l, s); err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(want, "0 ")) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	c := openCase(t, l, lab.Setting{Data: lab.Table{Set: "two_moons", MaxRows: 100}})
	if _, err := c.Compare(); err == nil {
		t.Error("a table of no models was made")
	}
}

func TestGroupsHoldTheRecordsOfTheirRole(t *testing.T) {
	c := openCase(t, newLab(t), island())
	logits, err := c.LogitGroups(c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	known, err := c.Accuracy(c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	lensNames, err := c.Oracle.Outputs()
	if err != nil {
		t.Fatal(err)
	}
	judged := c.EvalRows()
	unseen := train.Accuracy(lensNames.Test.Logits().Gather(judged), c.Test.Gather(judged).Y)
	// The oracle is wrong on the island alone, so that exchanged groups show.
	for name, g := range map[string]struct {
		m    array.Matrix[float64]
		rows int
		y    func(i int) int
		want float64
	}{
		"retained":  {logits.Retained, len(c.Retain), func(i int) int { return c.Train.Y[c.Retain[i]] }, known.Retain.Value},
		"forgotten": {logits.Forgotten, len(c.Forget), func(i int) int { return c.Train.Y[c.Forget[i]] }, known.Forget.Value},
		"held out":  {logits.HeldOut, c.Test.X.Rows / 2, func(i int) int { return c.Test.Y[judged[i]] }, unseen},
	} {
		right := 0
		for i := range g.m.Rows {
			if (g.m.Row(i)[1] > g.m.Row(i)[0]) == (g.y(i) == 1) {
				right++
			}
		}
		if g.m.Rows != g.rows || math.Abs(float64(right)/float64(g.rows)-g.want) > 1e-9 {
			t.Errorf("%s: %d records, %d right, want %d and a share of %v", name, g.m.Rows, right, g.rows, g.want)
		}
	}
	hidden, err := c.EmbeddingGroups(c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.Embedding(c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	if hidden.Forgotten.Row(3)[2] != all.Row(c.Forget[3])[2] {
		t.Error("the embedding of a forgotten record is another one")
	}
}
