package sdepaper

import (
	"bytes"
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// small is a study of seconds; its models have learned next to nothing.
func small() Study {
	return Study{
		Scale: "quick", Fractions: []float64{0.3}, Sizes: []int{10, 20}, Subsets: 6, Draws: 3, Seeds: 2, Checkpoints: []int{10, JudgedAt},
		Settings:         []Setting{{Label: "tiny", DataSet: "glyphs", Images: 100, Held: 120, Net: "small-cnn", Width: 2, Fit: sgd(5, 32, 0.05)}},
		UnlearnFractions: []float64{0.3}, UnlearnSize: 20, Matched: 800,
	}
}

func environment(t *testing.T) *paper.Env {
	t.Helper()
	e, s := enginetest.WithStore(t)
	return &paper.Env{Engine: e, Store: s}
}

// opened is a cell of the small study with its case.
func opened(t *testing.T, e *paper.Env, seed int) *judgeRun {
	t.Helper()
	k := allCells(small())[seed]
	c, err := e.Lab().Case(t.Context(), k.labSetting())
	if err != nil {
		t.Fatal(err)
	}
	return &judgeRun{cell: k, c: c}
}

// f1Of is the F1 of a judge late in training.
func f1Of(ev verdicts, setting, judge string, fraction float64, size int) report.Cell {
	rows := filter(ev.judgedRows(setting, judge, atRoot(fraction, size)), func(j Judged) bool { return j.Training != nil || j.Method == sde.SpreadMatched{}.Name() })
	return ruleCell(ratesOf(rows, Judged.F1))
}

// collected are the rows of measurements of the small study.
func collected[R any](t *testing.T, e *paper.Env, choose func(Study) []cell, measure measurementsOf[R]) *evidence[R] {
	t.Helper()
	p, err := planned(small(), choose)
	if err != nil {
		t.Fatal(err)
	}
	found, err := paper.Collect(t.Context(), e, measure.in(e, p))
	if err != nil {
		t.Fatal(err)
	}
	return &evidence[R]{p.Study, e, found}
}

// variantNamed are activations whose only column names the record: training records
// are 0, 1, ..., test records 1000, 1001, ...
func variantNamed(train, test int) activations {
	a := activations{array.New[float64](train, 1), array.New[float64](test, 1)}
	for i := range train {
		a.train.Data[i] = float64(i)
	}
	for i := range test {
		a.test.Data[i] = float64(1000 + i)
	}
	return a
}

func TestTargetsAndReferencesAreWhoTheProtocolSays(t *testing.T) {
	j := opened(t, environment(t), 1)
	forget, retain := j.c.Forget, j.c.Retain
	c, err := j.drawSets(newLayerData(variantNamed(100, 120)), 20, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.targets.Inside.Subsets) != 6 || len(c.targets.Outside.Subsets) != 6 {
		t.Errorf("%d and %d subsets", len(c.targets.Inside.Subsets), len(c.targets.Outside.Subsets))
	}
	for _, row := range slices.Concat(c.targets.Outside.Subsets...) {
		if !slices.Contains(forget, row) {
			t.Errorf("record %d is judged as forgotten and was not", row)
		}
	}
	for _, row := range slices.Concat(c.targets.Inside.Subsets...) {
		if !slices.Contains(retain, row) || slices.Contains(c.references.In.Data, float64(row)) {
			t.Errorf("record %d is judged as retained and was not, or is in the reference too", row)
		}
	}
	for _, v := range c.references.In.Data {
		if !slices.Contains(retain, int(v)) {
			t.Errorf("record %v is in the reference in training and was not retained", v)
		}
	}
	for _, v := range c.references.Out.Data {
		if v < 1000 {
			t.Errorf("record %v of the training part is in the reference out of training", v)
		}
	}
	again, err := j.drawSets(newLayerData(variantNamed(100, 120)), 20, 0)
	if err != nil || !slices.Equal(again.references.In.Data, c.references.In.Data) {
		t.Errorf("a second cast has another reference (%v)", err)
	}
	other, err := j.drawSets(newLayerData(variantNamed(100, 120)), 20, 1)
	if err != nil || slices.Equal(other.references.In.Data, c.references.In.Data) || slices.Equal(other.references.Out.Data, c.references.Out.Data) ||
		slices.Equal(other.targets.Outside.Subsets[0], c.targets.Outside.Subsets[0]) {
		t.Errorf("another draw has the same references or subsets (%v)", err)
	}
	held, err := j.drawHeldOutSets(newLayerData(variantNamed(100, 120)), 20, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range append(slices.Clone(held.references.In.Data), held.references.Out.Data...) {
		if v < 1000 {
			t.Errorf("record %v of the training part is among the held-out ones", v)
		}
	}
	first, second := slices.Concat(held.targets.Inside.Subsets...), slices.Concat(held.targets.Outside.Subsets...)
	for _, row := range first {
		refs := slices.Concat(held.references.In.Data, held.references.Out.Data)
		if slices.Contains(second, row) || slices.Contains(refs, float64(1000+row)) {
			t.Errorf("held-out record %d is in two of the four sets", row)
		}
	}
}

// cloud are records of a standard normal law, some of them scaled.
func cloud(rows, cols int, seed uint64, scale func(row int) float64) sde.Matrix {
	m, rng := array.New[float64](rows, cols), engine.Root(seed).Stream("cloud")
	for i := range rows {
		for k := range cols {
			m.Row(i)[k] = scale(i) * rng.NormFloat64()
		}
	}
	return m
}

func TestAWiderSpreadOfTheRetainedIsFoundAndNoDifferenceIsAtChance(t *testing.T) {
	j := opened(t, environment(t), 0)
	forget := j.c.Forget
	verdict := func(factor float64, seed int) float64 {
		a := activations{
			train: cloud(100, 8, uint64(seed), func(row int) float64 {
				if slices.Contains(forget, row) {
					return 1
				}
				return factor
			}),
			test: cloud(120, 8, uint64(1000+seed), func(int) float64 { return 1 }),
		}
		j.c.Seed = seed // of the draws
		rows, err := j.judgeAll(t.Context(), []judgeSpec{judgeSpec{data: newLayerData(a), layer: "hp", size: 20}.withMethod(sde.SDE{})})
		if err != nil {
			t.Fatal(err)
		}
		return rows[0].Accuracy().Rule
	}
	var planted, null []float64
	for seed := range 40 {
		planted = append(planted, verdict(2, seed))
		null = append(null, verdict(1, seed))
	}
	if m := stats.MeanInterval(planted, 0.95, "models"); m.Low < 0.7 {
		t.Errorf("planted: accuracy %v", m)
	}
	if m := stats.MeanInterval(null, 0.99, "models"); m.Low > 0.5 || m.High < 0.5 {
		t.Errorf("null: accuracy %v does not hold 0.5", m)
	}
}

func TestVerdictsAreReadAgainAndTheirTablesAreComplete(t *testing.T) {
	e := environment(t)
	parts := []part{partMain, partTrajectory, partLayers, partSpread, partSweep}
	ev := verdicts{collected(t, e, allCells, judgedBy(parts...))}
	if again := collected(t, e, allCells, judgedBy(parts...)); !reflect.DeepEqual(again.Runs, ev.Runs) || !reflect.DeepEqual(again.Rows, ev.Rows) {
		t.Error("a second call computes anew")
	}
	for _, m := range append(sde.Methods(), sde.SpreadMatched{}) {
		if c := f1Of(ev, "tiny", m.Name(), 0.3, 20); c.Value == nil || !(*c.Value >= 0 && *c.Value <= 1) {
			t.Errorf("%s: %+v", m.Name(), c)
		}
	}
	if c := f1Of(ev, "tiny", "nobody", 0.3, 20); c.Missing == "" {
		t.Errorf("a judge that is not there has the cell %+v", c)
	}
	for _, size := range ev.Sizes { // the cell of a column is that of its size
		column := f1Column("", "", func(j Judged) bool { return j.Size == size && isRoot(j) })
		all := ev.line("", ev.Settings[0], judges(sde.SDE{}.Name())[0], anyVerdict)
		all.Models = filter(all.Models, func(j Judged) bool { return j.Percent == JudgedAt && j.Layer == "hp" && j.Training != nil })
		if got, want := column.Cell(all), f1Of(ev, "tiny", sde.SDE{}.Name(), 0.3, size); *got.Value != *want.Value {
			t.Errorf("|S| = %d: %v, not %v", size, *got.Value, *want.Value)
		}
	}
	for _, f := range []interface{ Text() string }{ev.bandwidths().(interface{ Text() string }), ev.layerStrips().(interface{ Text() string })} {
		if !strings.Contains(f.Text(), "tiny") {
			t.Error("a figure does not name its setting")
		}
	}
	third := verdicts{collected(t, e, allCells, judgedBy(partMain, partSweep))} // what Figure 3 is made of
	for _, m := range []sde.Method{sde.SDE{}, sde.SpreadOnly{}} {
		c := third.bandwidthCurve(ev.Settings[0], m, 0.3, 20) // the last size
		if len(c.X) != sweepPoints || c.X[0] != 1 || !slices.IsSorted(c.X) || c.X[0] == c.X[sweepPoints-1] {
			t.Errorf("%s is judged with bandwidths %v", m.Name(), c.X)
		}
		if root := third.judgedRows("tiny", m.Name(), atRoot(0.3, 20)); len(root) != ev.Seeds {
			t.Errorf("%s is judged with sqrt(dim) on %d models of %d", m.Name(), len(root), ev.Seeds)
		}
	}
	panels := []panel{{"original", []string{"retained", "forgotten", "test"}}, {"untrained", []string{"retained", "test"}}}
	drawn := collected(t, e, firstCells, func(e *paper.Env, k cell) []paper.Measurement[Distribution] {
		return []paper.Measurement[Distribution]{distributions(e, k, panels)}
	})
	if len(drawn.Rows) != 5 || drawn.Rows[0].GateP == drawn.Rows[3].GateP || reflect.DeepEqual(drawn.Rows[0].Values, drawn.Rows[3].Values) {
		t.Errorf("%d distributions, or two models have the same", len(drawn.Rows))
	}
	var b bytes.Buffer
	if err := showDistributions(drawn, figure1, panels).Figure.Render(&b, "png"); err != nil || b.Len() == 0 {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
}

func TestEveryVariantOfTableFourIsJudged(t *testing.T) {
	e := environment(t)
	ev := unlearnings{collected(t, e, unlearnedCells(tenth), everyVariant)}
	for seed := range ev.Seeds {
		for k, a := range ev.Variants() {
			row := ev.Rows[seed*len(ev.Variants())+k]
			if row.Seed != seed || row.Variant != a.Label {
				t.Errorf("the row of %s, seed %d, is %+v", a.Label, seed, row)
			}
			if len(row.Out) != len(otrMethods())*len(otrLayers())+2 || len(row.Known) != 2 || row.OTR("sde/h").N != 3 || row.F1("hp").N != 3 || math.IsNaN(row.Retain) {
				t.Errorf("%s: %+v", a.Label, row)
			}
			if (a.Label == NoOp) != (row.Moved == 0) {
				t.Errorf("%s moved the weights by %v", a.Label, row.Moved)
			}
		}
	}
	first, second := ev.Rows[:len(ev.Variants())], ev.Rows[len(ev.Variants()):]
	of := func(rows []Unlearned, variant string) Unlearned {
		return filter(rows, func(u Unlearned) bool { return u.Variant == variant })[0]
	}
	for _, other := range []Unlearned{of(first, OtherSeed), of(second, OtherSeed)} {
		for _, own := range []Unlearned{of(first, Retrain), of(second, Retrain)} {
			if reflect.DeepEqual(other.Out, own.Out) {
				t.Errorf("the retrained model of another seed has the rates of seed %d's own", own.Seed)
			}
		}
	}
	for _, table := range []*report.Table{ev.unlearnedTable(table4), ev.ratesTable(table4b)} {
		if err := table.Check(); err != nil {
			t.Error(err)
		}
	}
	whole := ev.unlearnedTable(table4)
	// A method that diverges is a row that says so, and changes no other.
	a := slices.IndexFunc(ev.Variants(), func(a Variant) bool { return !a.Control })
	ev.Rows[a] = Unlearned{Setting: ev.Rows[a].Setting, Fraction: 0.3, Variant: ev.Rows[a].Variant, Diverged: "diverged in epoch 2: the loss is NaN"}
	lost := ev.unlearnedTable(table4)
	if err := lost.Check(); err != nil {
		t.Error(err)
	}
	for i, row := range lost.Rows {
		switch {
		case i != a && !reflect.DeepEqual(row, whole.Rows[i]):
			t.Errorf("row %d changes beside a method that diverges", i)
		case i == a && (row.Cells[1].Missing != "diverged in 1 of 2" || !strings.Contains(strings.Join(lost.Notes, "\n"), "epoch 2: the loss is NaN")):
			t.Errorf("the row is %+v, the notes %q", row, lost.Notes)
		}
	}
	if err := ev.ratesTable(table4b).Check(); err != nil {
		t.Error(err)
	}
	var b bytes.Buffer
	if err := records(ev.Rows).CSV(&b); err != nil || !strings.Contains(b.String(), "the loss is NaN") {
		t.Errorf("records: %v", err)
	}
}

func TestAMethodThatDivergesIsARowOfItsOwn(t *testing.T) {
	e := environment(t)
	runaway := func(e *paper.Env, k cell) []paper.Measurement[Unlearned] {
		return []paper.Measurement[Unlearned]{k.variant(e, Variant{Label: "runaway", Method: unlearn.RandomLabel{LR: 1e38}})}
	}
	for range 2 {
		if rows := collected(t, e, unlearnedCells(tenth), runaway).Rows; !strings.Contains(rows[0].Diverged, "diverged in epoch 1: ") {
			t.Errorf("%+v", rows)
		}
	}
}

func TestASetLargerThanWhatWasForgottenIsRefused(t *testing.T) {
	j := opened(t, environment(t), 0)
	if _, err := j.drawSets(newLayerData(variantNamed(100, 120)), 31, 0); err == nil || !strings.Contains(err.Error(), "31 images out of 30") {
		t.Errorf("got %v", err)
	}
	if _, err := j.drawHeldOutSets(newLayerData(variantNamed(100, 120)), 31, 1, 0); err == nil || !strings.Contains(err.Error(), "31 images out of 120") {
		t.Errorf("got %v", err)
	}
}

// A study that is stopped while it judges its second model keeps the first one's verdicts, and measures only
// the second when it goes on.
func TestAStoppedStudySaysSoAndKeepsWhatItHas(t *testing.T) {
	e := environment(t)
	e.Workers = 1
	p, err := planned(small(), allCells)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	measured, stopped := map[string]int{}, 1
	all := judgedBy(partTrajectory).in(e, p)
	for i, m := range all {
		all[i].Measure = func(ctx context.Context, c *lab.Case) ([]Judged, error) {
			measured[m.ID]++
			if i == stopped {
				stop()
			}
			return m.Measure(ctx, c)
		}
	}
	if _, err := paper.Collect(ctx, e, all); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	jobs, err := paper.MeasurementJobs(t.Context(), e, all)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if j.Done == strings.HasPrefix(j.ID, all[stopped].ID+"/") {
			t.Errorf("after the stop: %+v", j)
		}
	}
	stopped = -1
	found, err := paper.Collect(t.Context(), e, all)
	if err != nil || measured[all[0].ID] != 1 || measured[all[1].ID] != 2 {
		t.Fatalf("measured %v times, %v", measured, err)
	}
	again, err := all[1].Measure(t.Context(), opened(t, e, 1).c)
	if n := len(again); err != nil || n == 0 || !reflect.DeepEqual(found.Rows[len(found.Rows)-n:], again) {
		t.Errorf("the second model's rows are %+v, not %+v (%v)", found.Rows, again, err)
	}
}

func TestKeptEpochsLieInsideTheTraining(t *testing.T) {
	for _, epochs := range []int{2, 3, 10, 100, 182} {
		p := Setting{Fit: sgd(epochs, 1, 1)}
		kept := p.checkpointEpochs([]int{10, 20, 40, JudgedAt})
		if !slices.IsSorted(kept) || kept[0] < 1 || kept[len(kept)-1] != epochs-1 || len(slices.Compact(slices.Clone(kept))) != len(kept) {
			t.Errorf("%d epochs: %v", epochs, kept)
		}
	}
	if p := (Setting{Fit: sgd(100, 1, 1)}); p.epochAt(80) != 80 || p.epochAt(0) != 1 {
		t.Error("80 % of 100 epochs is not epoch 80")
	}
}

func TestEveryScaleNamesNetworksAndImagesThatExist(t *testing.T) {
	for _, s := range Scales() {
		st, err := StudyAt(s.Name)
		if err != nil || st.Scale != s.Name {
			t.Fatalf("%s: %v", s.Name, err)
		}
		for _, set := range st.Settings {
			network, err := set.imageNetwork()
			if err != nil {
				t.Fatal(err)
			}
			info, err := images.Lookup(set.DataSet)
			if err != nil {
				t.Fatal(err)
			}
			n := set.Images
			if n == 0 {
				n = info.Rows - info.TestRows
			}
			largest := max(slices.Max(st.Sizes), st.UnlearnSize)
			if forgotten := float64(n) * min(slices.Min(st.Fractions), slices.Min(st.UnlearnFractions)); forgotten < float64(largest) {
				t.Errorf("%s, %s: %v forgotten images hold no set of %d", s.Name, set.Label, forgotten, largest)
			}
			a, err := network.ForData(model.Sizes{Features: 3072, Classes: 10, Shape: [3]int{3, 32, 32}})
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Check(); err != nil {
				t.Errorf("%s, %s: %v", s.Name, set.Label, err)
			}
		}
	}
	if _, err := StudyAt("vast"); err == nil || !strings.Contains(err.Error(), "quick, hour, large, standard, paper") {
		t.Errorf("got %v", err)
	}
}

// Table 1 says how well the networks know the images that they are judged on, and where an
// epoch ends with a few of them.
func TestTable1HasTheLossBeforeTheVerdict(t *testing.T) {
	e := environment(t)
	ev := verdicts{collected(t, e, allCells, judgedBy(partMain, partSpread))}
	var want float64
	for seed := range ev.Seeds {
		c := opened(t, e, seed).c
		course, err := c.TrainedModel(t.Context(), c.Oracle())
		if err != nil {
			t.Fatal(err)
		}
		want += course.History[3].Loss / float64(ev.Seeds) // four of five epochs are 80 per cent
	}
	loss := ev.trainingColumn("", "", 3, math.Inf(1), func(t *Training) float64 { return t.Loss })
	cell := loss.Cell(ev.line("", ev.Settings[0], judges(sde.SDE{}.Name())[0], ofFraction(0.3)))
	if cell.Value == nil || *cell.Value != want || cell.Estimate.N != ev.Seeds {
		t.Errorf("the loss is %+v, not %v", cell, want)
	}
	for batch, rest := range map[int]string{32: "", 33: "4 (tiny, R = 30 %)", 35: "", 62: "", 69: "1 (tiny, R = 30 %)"} { // 70 images stay
		ev.Settings[0].Fit.Batch = batch
		for i := range ev.Rows {
			if training := ev.Rows[i].Training; training != nil {
				training.LastBatch = ev.Settings[0].lastBatch(70)
			}
		}
		if notes := strings.Join(ev.restNotes(), "\n"); !strings.Contains(notes, rest) || (rest == "") != (notes == "") {
			t.Errorf("batches of %d: %q", batch, notes)
		}
	}
}
