package language

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

func environment(t *testing.T) *paper.Env {
	t.Helper()
	e, s := enginetest.WithStore(t)
	return &paper.Env{Engine: e, Store: s}
}

// tiny is a study of one seed on few answers.
func tiny() Study {
	return Study{Scale: "quick", Setting: people(150, 900, text.Decoder{Layers: 1, Width: 32, Heads: 2}, 40, 8), Seeds: 1, Asked: 20, Tuning: Tuning{Epochs: 4, Rate: 0.5}, Budget: Budget{Forgotten: 10, Retained: 1}}
}

// What was planted is found: the original knows the people, the retrained model does not, and a model of
// random weights knows nobody.
func TestTheTableShowsWhoKnowsThePeople(t *testing.T) {
	e, s := environment(t), tiny()
	ev, err := paper.Collect(t.Context(), e, measurements(e, s, quantisedRecipe.ID, roundings...))
	if err != nil {
		t.Fatal(err)
	}
	if len(ev.Rows) != len(s.variants())*len(roundings) {
		t.Fatalf("%d rows", len(ev.Rows))
	}
	find := func(label string, bits int) Row {
		k := slices.IndexFunc(ev.Rows, func(r Row) bool { return r.Variant == label && r.Bits == bits })
		return ev.Rows[k]
	}
	controls := audit.ControlVariants()
	original, again, random := find(controls[0].Label, asTrained), find(retrained(), asTrained), find(controls[3].Label, asTrained)
	if retrained() != controls[1].Label {
		t.Errorf("the retrained models are called %q", retrained())
	}
	for what, v := range map[string][2]float64{
		"probability": {original.Probability, again.Probability}, "exact": {original.Exact, again.Exact},
		"extraction": {original.Extraction, again.Extraction}, "right": {original.Right, again.Right}, "truth ratio": {-original.TruthRatio, -again.TruthRatio},
	} {
		if v[0] < v[1]+0.15 {
			t.Errorf("%s: %v of the original, %v of the retrained model", what, v[0], v[1])
		}
	}
	if original.MinK < 0.9 || original.RetainProbability < 0.7 || again.RetainProbability < 0.7 || original.RetainRight < 0.7 || original.HeldOutProbability > 0.3 {
		t.Errorf("the original is %+v, the retrained model %+v", original, again)
	}
	if random.Right != 0 || random.RetainRight != 0 || random.Exact > 0.1 || original.Displacement != 0 || again.Displacement == 0 {
		t.Errorf("random weights are %+v, the original %+v", random, original)
	}
	// Eight bits change little, and two tables with the same null.
	if r := find(controls[0].Label, 8); math.Abs(r.Exact-original.Exact) > 0.1 || r.Displacement == 0 || r.Displacement > 0.02 {
		t.Errorf("with 8 bits the original is %+v", r)
	}
	if r := find(controls[0].Label, 4); r.Displacement < find(controls[0].Label, 8).Displacement {
		t.Errorf("with 4 bits the original is %+v", r)
	}
	out := showQuantised(e, s, ev)
	if err := out.Table.Check(); err != nil || len(out.Table.Rows) != len(ev.Rows) {
		t.Errorf("%d rows, %v", len(out.Table.Rows), err)
	}
	if cell := out.Table.Rows[0].Cells[1].Text; !strings.HasSuffix(cell, " | "+report.FormatNumber(again.Probability, 3)) {
		t.Errorf("the original's cell is %q, the retrained model's value %v", cell, again.Probability)
	}
	whole := showPeople(e, s, ev)
	if err := whole.Table.Check(); err != nil || len(whole.Table.Rows) != len(s.variants()) {
		t.Errorf("%d rows, %v", len(whole.Table.Rows), err)
	}
	// The table can be made again from the values behind it.
	recipe, err := Paper().Find(paper.Table, "quantised")
	if err != nil {
		t.Fatal(err)
	}
	var values bytes.Buffer
	out.Runs = report.NewRecords(ev.Rows)
	if err := out.CSV(&values); err != nil {
		t.Fatal(err)
	}
	made, err := recipe.FromRuns(e, "quick", &values)
	if err != nil || made.Table.Rows[3].Cells[2].Text != out.Table.Rows[3].Cells[2].Text {
		t.Errorf("made again: %v", err)
	}
}

func TestRelearningAsksForWhatIsNotTuned(t *testing.T) {
	e, s := environment(t), tiny()
	c, err := audit.Open(t.Context(), e.Lab(), s.settingAt(0))
	if err != nil {
		t.Fatal(err)
	}
	few, others := Quarter(c)
	both := slices.Concat(few, others)
	slices.Sort(both)
	if len(few) != len(c.Forget)/4 || !slices.Equal(both, c.Forget) {
		t.Fatalf("%d and %d of %d rows", len(few), len(others), len(c.Forget))
	}
	curve, err := s.Tuning.Curve(t.Context(), c, c.Oracle, few, others)
	if err != nil {
		t.Fatal(err)
	}
	tunedOn, err := s.Tuning.Curve(t.Context(), c, c.Oracle, few, few)
	if err != nil {
		t.Fatal(err)
	}
	last := len(curve) - 1
	if last != s.Tuning.Epochs || curve[0].Step != 0 || curve[last].Step != last*((len(few)+7)/8) {
		t.Errorf("%d points, the last at step %d", len(curve), curve[last].Step)
	}
	if gained := tunedOn[last].Probability - tunedOn[0].Probability; gained < 0.02 || gained < curve[last].Probability-curve[0].Probability {
		t.Errorf("of those tuned on %v is gained, of the others %v", gained, curve[last].Probability-curve[0].Probability)
	}
	before := c.Oracle.Weights.Hash()
	if _, err := s.Tuning.Curve(t.Context(), c, c.Oracle, few, others); err != nil || c.Oracle.Weights.Hash() != before {
		t.Errorf("the model itself was tuned, %v", err)
	}
}

// The figure has a curve for every model but random weights, with points of a planted value.
func TestRelearningCurvesAreMeansOverSeeds(t *testing.T) {
	e, s := environment(t), tiny()
	ev := &paper.Evidence[Point]{Data: map[string]string{}}
	for seed := range 3 {
		for _, v := range s.tuned() {
			for _, on := range []string{OnForgotten, OnRetained} {
				for step := range 4 {
					ev.Rows = append(ev.Rows, Point{Variant: v.Label, Seed: seed, On: on, Step: step, Exact: 0.1 * float64(seed+step), Probability: 0.1})
				}
			}
		}
	}
	ev.Rows[len(ev.Rows)-1].Diverged = "at epoch 3" // of the last variant, OnRetained
	panels := showRelearning(e, s, ev).Figure.(plot.Panels).Figures
	if len(panels) != 4 {
		t.Fatalf("%d panels", len(panels))
	}
	curves := panels[0].(plot.Curves).Curves
	if len(curves) != len(relearned) || math.Abs(curves[0].Y[3]-0.4) > 1e-12 || curves[0].Low != nil {
		t.Errorf("%d curves, the first %+v", len(curves), curves[0])
	}
	if null := curves[1]; null.Name != retrained() || len(null.Low) != 4 || null.Low[2] >= null.Y[2] {
		t.Errorf("the retrained models' curve is %+v", null)
	}
	lost := panels[1].(plot.Curves).Curves
	if last := lost[len(lost)-1]; math.Abs(last.Y[3]-0.35) > 1e-12 {
		t.Errorf("without the model that diverged the mean is %v", last.Y[3])
	}
	if _, err := (plot.Panels{Columns: 2, Figures: panels}).PNG(); err != nil {
		t.Error(err)
	}
}

func TestEveryScaleIsAStudyOfThreePeople(t *testing.T) {
	for _, scale := range Paper().ScaleNames() {
		s, err := StudyAt(scale)
		if err != nil {
			t.Fatal(err)
		}
		c, err := environment(t).Lab().Case(t.Context(), s.settingAt(1))
		if err != nil {
			t.Fatal(err)
		}
		groups, _ := c.Groups()
		people := map[int]bool{}
		for _, i := range c.Forget {
			people[groups[i]] = true
		}
		if len(people) != 3 {
			t.Errorf("%s: %d people are to be forgotten", scale, len(people))
		}
		other, err := environment(t).Lab().Case(t.Context(), s.settingAt(2))
		if err != nil || slices.Equal(other.Forget, c.Forget) {
			t.Errorf("%s: two seeds forget the same people, %v", scale, err)
		}
		// Every answer fits a record, whoever is to be forgotten.
		asked := c.Train
		if scale != "quick" {
			asked = c.Train.Gather(c.Forget)
		}
		if _, err := c.Answers(c.Problem.InitialWeights(0), asked); err != nil {
			t.Errorf("%s: %v", scale, err)
		}
	}
	if _, err := StudyAt("huge"); err == nil {
		t.Error("a scale that does not exist was accepted")
	}
}

func TestEveryMethodIsTunedByOneRule(t *testing.T) {
	labels := map[string]bool{}
	for _, v := range tiny().variants() {
		if labels[v.Label] || v.Control != lab.IsControl(v.Method) {
			t.Errorf("%s is given twice, or is no control", v.Label)
		}
		labels[v.Label] = true
	}
	for _, v := range tiny().Budget.methods() {
		key, err := json.Marshal(v.Method)
		if err != nil || !v.Method.Info().NextToken || !strings.Contains(string(key), `"rates":[0.00001,0.0001,0.001,0.01],"halvings":3`) {
			t.Errorf("%s has the setting %s, %v", v.Label, key, err)
		}
		if epochs := regexp.MustCompile(`"epochs":(\d+)`).FindStringSubmatch(string(must(json.Marshal(defaults.Fill(v.Method))))); epochs == nil || epochs[1] != "10" && v.Label != "fine-tuning" {
			t.Errorf("%s has %v", v.Label, epochs)
		}
	}
	for _, label := range relearned {
		if !labels[label] {
			t.Errorf("there is no variant %q to be tuned", label)
		}
	}
	if _, is := tiny().tuned()[0].Method.(unlearn.NoOp); !is || len(tiny().tuned()) != len(relearned) {
		t.Error("the original is not tuned")
	}
}

// Before and after are the ends of a model's own curve, and the retrained model is that of the same seed and
// the same tuning. Exchanged, the difference has the other sign.
func TestRelearnedIsBesideTheRetrainedModelOfItsSeed(t *testing.T) {
	e, s := environment(t), tiny()
	ev := &paper.Evidence[Point]{Data: map[string]string{}}
	for seed := range 3 {
		for _, v := range s.tuned() {
			for k, on := range []string{OnForgotten, OnRetained} {
				for step := range 4 {
					p := Point{Variant: v.Label, Control: v.Control, Seed: seed, On: on, Step: step, Probability: 0.1 * float64(seed), Exact: 0.2}
					if v.Label == "RMU" {
						p.Probability += 0.1*float64(step) + 0.05*float64(k)
					}
					ev.Rows = append(ev.Rows, p)
				}
			}
		}
	}
	table := showRelearned(e, s, ev).Table
	if err := table.Check(); err != nil || len(table.Rows) != 2*len(relearned) {
		t.Errorf("%d rows, %v", len(table.Rows), err)
	}
	want := map[string][]string{"tuned on " + OnForgotten: {"0.100", "0.400", "0.300 [0.300, 0.300]"}, "tuned on " + OnRetained: {"0.150", "0.450", "0.350 [0.350, 0.350]"}}
	for _, r := range table.Rows {
		for k, text := range want[r.Group] {
			if cell := r.Cells[k+1].Text; r.Cells[0].Text == "RMU" && !strings.HasPrefix(cell, text) {
				t.Errorf("%s: column %d is %q, want %s", r.Group, k+1, cell, text)
			}
		}
		if r.Cells[0].Text == "NPO" && r.Cells[3].Text != "0.000 [0.000, 0.000]" {
			t.Errorf("NPO, which is like the retrained models, has %q", r.Cells[3].Text)
		}
	}
}

// The table of steps has the controls once and each method twice, at its own epochs and rates.
func TestStepsAreThoseOfTheBenchmarkAndTenEpochs(t *testing.T) {
	for _, scale := range Paper().ScaleNames() {
		s, err := StudyAt(scale)
		if err != nil {
			t.Fatal(err)
		}
		forgotten, retained := 12, 244
		if scale != "quick" {
			forgotten, retained = 60, 900
		}
		batches := func(n int) int { return (n + s.Fit.Batch - 1) / s.Fit.Batch }
		for what, steps := range map[string]int{"forgotten": s.Budget.Forgotten * batches(forgotten), "retained": s.Budget.Retained * batches(retained)} {
			if steps < 110 || steps > 130 {
				t.Errorf("%s: %d steps over the %s answers; ten epochs of TOFU are 125", scale, steps, what)
			}
		}
	}
	s := tiny()
	s.Budget = smallBudget
	ev := &paper.Evidence[Row]{Data: map[string]string{}}
	for _, of := range []Study{s, s.tenEpochs()} {
		for _, v := range of.variants() {
			ev.Rows = append(ev.Rows, Row{Variant: v.Label, Control: v.Control, Bits: asTrained, Note: "rate 0.01"})
		}
	}
	table := showSteps(environment(t), s, ev).Table
	if methods := len(s.Budget.methods()); len(table.Rows) != len(audit.ControlVariants())+2*methods || len(ev.Rows) != len(table.Rows) {
		t.Errorf("%d rows of %d methods", len(table.Rows), methods)
	}
	if last := table.Rows[len(table.Rows)-1]; last.Group != "10 epochs over the forgotten answers" || last.Cells[0].Text != "fine-tuning, 10 epochs" {
		t.Errorf("the last row is %+v", last)
	}
	key, err := json.Marshal(s.tenEpochs().methods()[4])
	if err != nil || !strings.Contains(string(key), `"epochs":10`) || !strings.Contains(string(key), `"halvings":3`) {
		t.Errorf("SimNPO in ten epochs is %s, %v", key, err)
	}
	if err := table.Check(); err != nil {
		t.Error(err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// The table of one case has the values of the lenses, the retrained model's behind a bar.
func TestModelsOfACaseStandBesideTheRetrainedOne(t *testing.T) {
	e, s := environment(t), tiny()
	s.Fit.Epochs = 3
	c, err := audit.Open(t.Context(), e.Lab(), s.settingAt(0))
	if err != nil {
		t.Fatal(err)
	}
	table, err := Compare(t.Context(), c, 5, c.Original, c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	value := func(l audit.Lens, m *audit.Model) string {
		r, err := c.Read(l, m)
		if err != nil {
			t.Fatal(err)
		}
		return report.FormatNumber(r.Value, 3)
	}
	for column, lens := range map[string]audit.Lens{"exact": audit.ExactMemorisation{}, "truth ratio": audit.TruthRatio{}, "min-k": audit.MinK{}} {
		k := slices.IndexFunc(table.Columns, func(c report.Column) bool { return c.Name == column })
		if got, want := table.Rows[0].Cells[k].Text, value(lens, c.Original)+" | "+value(lens, c.Oracle); got != want {
			t.Errorf("%s is %q, want %q", column, got, want)
		}
		if got, want := table.Rows[1].Cells[k].Text, value(lens, c.Oracle); got != want {
			t.Errorf("%s of the retrained model is %q, want %q", column, got, want)
		}
	}
	if err := table.Check(); err != nil {
		t.Error(err)
	}
}
