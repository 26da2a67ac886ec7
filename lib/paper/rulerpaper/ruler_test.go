package rulerpaper

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/lab/labtest"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/progress/progresstest"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// tiny is a scale that needs no file and takes seconds in the plain build.
func tiny() Scale {
	images := ImageSize{Train: 60, Test: 20, Width: 2, Hidden: 6}
	return Scale{Name: "tiny", DataSets: []string{"breast_cancer", "two_moons"}, Seeds: 2, SideSeeds: 2, ForgetSeeds: 2, ForgetSetSeeds: 2, LearningRateSeeds: 1, MaxRows: 60, RowCap: 40, Diagnostic: []string{"two_moons"},
		Images: ImageScale{Sets: []string{"glyphs"}, CNN: images, ResNet: images, Epochs: 2},
		Faces:  FaceScale{Set: "sketches", Side: 8, Width: 2, Epochs: 1, Seeds: 2},
		Texts: TextScale{Set: "generated_reports", Documents: 40, Tokens: 12, Vocabulary: 120, Layers: 1, Width: 8, Epochs: 2, Rate: 1e-3,
			Fractions: []float64{0.2}, Seeds: 2}}
}

func newEnv(t *testing.T, dir string, workers int) *Env {
	t.Helper()
	t.Setenv("LETHE_DATA", t.TempDir()) // no real data: only what is built in
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return envOf(&paper.Env{Engine: e, Store: s, Workers: workers})
}

func jsonOf(t *testing.T, tab *report.Table) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tab.JSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// oneSet is the smallest study with everything in it.
func oneSet() Study {
	s := mainStudy(tiny())
	s.DataSets, s.Fractions = []string{"breast_cancer"}, []float64{0.05}
	return s
}

func TestTheSameTableComesFromAnyStoreAndNumberOfWorkers(t *testing.T) {
	var got [][]byte
	for _, workers := range []int{1, 3} {
		e := newEnv(t, t.TempDir(), workers)
		out, err := table1.Run(context.Background(), e, Scale{Name: "tiny", DataSets: []string{"two_moons", "breast_cancer"}, Seeds: 2, MaxRows: 120})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, jsonOf(t, out.Table))
	}
	if !bytes.Equal(got[0], got[1]) {
		t.Error("tables differ between one worker and three")
	}
}

func TestTheOracleIsThePerfectUnlearner(t *testing.T) {
	e := newEnv(t, t.TempDir(), 0)
	c, err := e.Collect(context.Background(), oneSet())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rowsOf(c.Rows, Oracle, 0.05) {
		if math.Abs(r.M1-1) > 1e-12 || math.Abs(r.M2) > 1e-12 || r.DeltaM4() != 0 {
			t.Errorf("seed %d: M1 %v, M2 %v, ΔM4 %v", r.Seed, r.M1, r.M2, r.DeltaM4())
		}
	}
	for _, r := range rowsOf(c.Rows, NoOp, 0.05) {
		if r.M3 != 0 || r.Displacement != 0 {
			t.Errorf("seed %d: doing nothing shifted M3 by %v and the weights by %v", r.Seed, r.M3, r.Displacement)
		}
	}
	same, other := rowsOf(c.Rows, NoOp, 0.05)[0], rowsOf(c.Rows, OtherOracle, 0.05)[0]
	if same.M1 < 0.9 || other.M1 > 0.8 {
		t.Errorf("cosine to the oracle: same seed %.3f, other seed %.3f; pairing of seeds is lost", same.M1, other.M1)
	}
}

// problemCell prepares the first cell of oneSet with its models.
func problemCell(t *testing.T, e *Env) *cell {
	t.Helper()
	c := openCell(t, e)
	if err := c.trainEnds(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// open prepares a cell without training anything.
func (e *Env) open(ctx context.Context, s Study, k cellKey) (*cell, error) {
	c, err := e.Lab().Case(ctx, s.setting(k))
	return &cell{cellKey: k, Case: c, study: s}, err
}

// openCell is problemCell before anything is trained: to be forgotten are the
// first 22 records.
func openCell(t *testing.T, e *Env) *cell {
	t.Helper()
	c, err := e.open(t.Context(), oneSet(), oneSet().cells()[0])
	if err != nil {
		t.Fatal(err)
	}
	every := indices(c.Problem.Train.X.Rows)
	c.Forget, c.Retain = every[:22], every[22:]
	return c
}

func TestTheStoredOracleIsWhatRetrainMakes(t *testing.T) {
	e := newEnv(t, t.TempDir(), 0)
	c := problemCell(t, e)
	r, err := c.Request(t.Context(), unlearn.Retrain{})
	if err != nil {
		t.Fatal(err)
	}
	weights, _, err := unlearn.Apply(t.Context(), unlearn.Retrain{}, r)
	if err != nil {
		t.Fatal(err)
	}
	if weights.Hash() != c.oracle.Hash() {
		t.Error("unlearn.Retrain and the recipe's oracle differ")
	}
	if weights.Hash() == c.original.Hash() {
		t.Error("the oracle is the original")
	}
}

func TestTheOracleNeverSawAForgetRow(t *testing.T) {
	want := problemCell(t, newEnv(t, t.TempDir(), 0))
	c := openCell(t, newEnv(t, t.TempDir(), 0))
	for _, i := range want.Forget {
		for j := range c.Problem.Train.X.Row(i) {
			c.Problem.Train.X.Row(i)[j] = 1e6
		}
		c.Train.Y[i] = 1 - c.Train.Y[i]
	}
	oracle, _, err := c.Weights(t.Context(), unlearn.Retrain{})
	if err != nil {
		t.Fatal(err)
	}
	if oracle.Hash() != want.oracle.Hash() {
		t.Error("the oracle changed with the forget rows")
	}
	// Two trainings may land on the same float32 here and there; weights that
	// were handed on would be equal all over.
	equal := 0
	for i, w := range oracle {
		for k, v := range w.Data {
			if v == want.original[i].Data[k] {
				equal++
			}
		}
	}
	if equal > oracle.Size()/1000 {
		t.Errorf("%d of %d weights are bit-equal to the original's", equal, oracle.Size())
	}
}

func TestEveryRecipeRunsAndPrintsInEveryFormat(t *testing.T) {
	e := newEnv(t, t.TempDir(), 0)
	s := tiny()
	var all []lab.Job
	for _, r := range Recipes() {
		before, err := r.Jobs(t.Context(), e, s)
		if err != nil {
			t.Fatalf("%s: %v", r.ID, err)
		}
		out, err := r.Run(context.Background(), e, s)
		if err != nil {
			t.Fatalf("%s: %v", r.ID, err)
		}
		after, err := r.Jobs(t.Context(), e, s)
		if err != nil {
			t.Fatalf("%s: %v", r.ID, err)
		}
		checkJobs(t, r, before, after)
		all = append(all, after...)
		if r.Doc == "" || out.Table == nil && out.Figure == nil {
			t.Errorf("%s makes nothing or says nothing", r.ID)
		}
		if out.Table != nil {
			checkTable(t, r, out.Table)
		}
		if r.ID == copies.ID {
			checkRuns(t, out)
		}
		if out.Figure != nil {
			if _, err := out.Figure.PNG(); err != nil {
				t.Errorf("%s: %v", r.ID, err)
			}
		}
	}
	labtest.CheckRunsListed(t, e.Store, all)
}

func checkTable(t *testing.T, r Recipe, tab *report.Table) {
	t.Helper()
	var text, md bytes.Buffer
	if err := tab.Text(&text); err != nil {
		t.Errorf("%s: %v", r.ID, err)
	}
	if err := tab.Markdown(&md); err != nil {
		t.Errorf("%s: %v", r.ID, err)
	}
	if !json.Valid(jsonOf(t, tab)) {
		t.Errorf("%s: JSON is not valid", r.ID)
	}
	if r.ID != pairwise.ID && r.ID != claims.ID && r.ID != recordClaims.ID && !strings.Contains(text.String(), NoOp) {
		t.Errorf("%s has no control row or column %q", r.ID, NoOp)
	}
	if tab.Provenance.Kernel == "" || len(tab.Provenance.Data) == 0 || tab.Provenance.RunsHash == "" {
		t.Errorf("%s: provenance has gaps: %+v", r.ID, tab.Provenance)
	}
}

// checkRuns computes a column of a table again from the runs that are handed out
// beside it, as an unknown file would.
func checkRuns(t *testing.T, out *Output) {
	t.Helper()
	var b bytes.Buffer
	if err := out.Records().JSON(&b); err != nil {
		t.Fatal(err)
	}
	var runs []Row
	if err := json.Unmarshal(b.Bytes(), &runs); err != nil {
		t.Fatal(err)
	}
	for _, row := range out.Table.Rows {
		of := filter(runs, func(r Row) bool {
			return r.DataSet == row.Cells[0].Text && percent(r.Fraction) == row.Cells[1].Text && r.Variant == Oracle
		})
		if got, want := mean(values(of, m4.Value)), *row.Cells[3].Value; len(of) == 0 || got != want {
			t.Errorf("%s, %s: M4 of the oracle is %v in the table and %v over %d runs", row.Cells[0].Text, row.Cells[1].Text, want, got, len(of))
		}
	}
}

func TestQuickScaleStandsInForMissingFilesAndSaysSo(t *testing.T) {
	t.Setenv("LETHE_DATA", t.TempDir())
	quick, err := ScaleByName("quick")
	if err != nil {
		t.Fatal(err)
	}
	s, err := quick.withStandIns(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.DataSets, " "); got != "breast_cancer tabular_outliers blobs_duplicates" {
		t.Errorf("quick scale without files uses %s", got)
	}
	e := newEnv(t, t.TempDir(), 0)
	s.Seeds, s.DataSets = 1, []string{"breast_cancer", "tabular_outliers"}
	c := &Collected{Study: mainStudy(s), Evidence: paper.Evidence[Row]{Synthetic: []string{"tabular_outliers"}}}
	if notes := strings.Join(e.table(table1, s, c).Notes, " "); !strings.Contains(notes, "tabular_outliers") {
		t.Errorf("the notes do not name the generated data: %s", notes)
	}
}

func TestMissingDataAtPaperScaleSaysHowToGetThem(t *testing.T) {
	e := newEnv(t, t.TempDir(), 0)
	full, err := ScaleByName("paper")
	if err != nil {
		t.Fatal(err)
	}
	_, err = table1.Run(context.Background(), e, full)
	if err == nil || !strings.Contains(err.Error(), "adult") || !strings.Contains(err.Error(), "lethe data get") {
		t.Errorf("error %v", err)
	}
}

func TestAStoppedSweepKeepsWhatItHasAndGoesOn(t *testing.T) {
	dir := t.TempDir()
	e := newEnv(t, dir, 1)
	ctx, stop := context.WithCancel(context.Background())
	shown, cells := progresstest.Record(t), 0
	shown.OnDraw = func(s progress.State) {
		if strings.Contains(s.What[len(s.What)-1], "fraction") { // a cell begins
			if cells++; cells == 2 {
				stop()
			}
		}
	}
	if _, err := e.Collect(ctx, oneSet()); err == nil {
		t.Fatal("a cancelled sweep returned no error")
	}
	finished, err := e.Store.List()
	if err != nil || len(finished) == 0 {
		t.Fatalf("nothing is in the store: %v", err)
	}
	again := newEnv(t, dir, 1)
	shown.OnDraw = nil
	shown.Forget()
	if _, err := again.Collect(context.Background(), oneSet()); err != nil {
		t.Fatal(err)
	}
	var last progress.State
	for _, s := range shown.States() {
		if s.Share < last.Share {
			t.Errorf("after %+v comes %+v", last, s)
		}
		last = s
	}
	if !last.Ended || last.Share != 1 {
		t.Errorf("the bar ends at %+v", last)
	}
}

func TestPairedOrderIsAnotherStudyThanShuffled(t *testing.T) {
	a, b := miniBatchStudy(tiny(), train.Shuffled), miniBatchStudy(tiny(), train.Paired)
	if a.Name == b.Name || a.Fit.Order == b.Fit.Order {
		t.Error("the two studies of Table 6 are the same")
	}
}

func TestScaledEpochsKeepRateTimesEpochs(t *testing.T) {
	for _, lr := range learningRates {
		for _, a := range learningRateStudy(tiny(), lr, true).Variants[:4] {
			var epochs int
			switch m := a.Method.(type) {
			case unlearn.GradientAscent:
				epochs = 2 * m.Epochs
			case unlearn.NegGrad:
				epochs = m.Epochs
			case unlearn.FineTuning:
				epochs = m.Epochs
			case unlearn.SCRUB:
				epochs = m.Epochs
			}
			if lr == mainRate {
				epochs = 10 // the zero values: 5 for Gradient Ascent, 10 for the others
			}
			if got := float64(epochs) * lr; math.Abs(got-0.005) > 0.0011 {
				t.Errorf("%s at %g: epochs x rate = %g", a.Label, lr, got)
			}
		}
	}
}

func TestEffectIsTheMixedModelOfTheRows(t *testing.T) {
	var rows []Row
	for d, name := range []string{"a", "b", "c"} {
		for seed := range 4 {
			rows = append(rows, Row{DataSet: name, Seed: seed, M2: float64(d) + 0.1*float64(seed%2)})
		}
	}
	e := newEffect(rows, m2)
	// Means 0.05, 1.05, 2.05; MSB = 4 * 1 = 4; SE = sqrt(4/12); z = 1.05/SE.
	if math.Abs(e.mean()-1.05) > 1e-12 || math.Abs(e.Mixed.Z-1.05/math.Sqrt(4.0/12)) > 1e-9 {
		t.Errorf("mean %v, z %v", e.mean(), e.Mixed.Z)
	}
	if len(e.DataSets) != 3 || e.Wilcoxon != nil {
		t.Errorf("%d data sets; a signed-rank test on three is %v", len(e.DataSets), e.Wilcoxon)
	}
}

func TestAnEffectThatCannotBeComputedSaysWhy(t *testing.T) {
	e := newEffect([]Row{{DataSet: "a", M2: math.NaN()}, {DataSet: "b", M2: 1}}, m2)
	if got := e.cells(3)[0].Missing; !strings.Contains(got, "NaN") {
		t.Errorf("the cell says %q", got)
	}
}

// tested is a study of some data sets with two seeds, in which no method differs from another but by noise.
func tested(dataSets int) *Collected {
	c := &Collected{Study: Study{Fractions: []float64{0.05}}}
	for d := range dataSets {
		set := fmt.Sprintf("set %d", d)
		c.Study.DataSets = append(c.Study.DataSets, set)
		for k, a := range append(methods(), controls()...) {
			for seed := range 2 {
				noise := math.Sin(float64(1 + d + 17*k + 101*seed))
				c.Rows = append(c.Rows, Row{DataSet: set, Variant: a.Label, Seed: seed, Fraction: 0.05, M2: noise, M2Mean: noise, M4: 0.5 + noise/10,
					MIA: 0.5 + noise/10, RetainAcc: 0.9 + noise/100})
			}
		}
	}
	return c
}

// The signed-rank test is not run on fewer than five data sets (section 4.3): what was not tested is neither without a
// difference nor insignificant.
func TestWhatWasNotTestedIsNotCounted(t *testing.T) {
	for sets, want := range map[int][]string{
		3: {untested + ", open", untested + ", open", "method against no unlearning on M2: " + untested},
		6: {"18 of 18 tests without a difference, yes", "0 of 4 tests, no", "method against no unlearning on M2: different (p < 0.05, uncorrected) in 0 of 4"},
	} {
		c := tested(sets)
		got, err := c.claimPairs()
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range got {
			if text := x.here + ", " + string(x.reproduced); text != want[i] {
				t.Errorf("%d data sets: %q, want %q", sets, text, want[i])
			}
		}
		if got[0].control != want[2] {
			t.Errorf("%d data sets: %q", sets, got[0].control)
		}
		if growth := c.claimGrowth(); (growth.reproduced == open) != (sets == 3) {
			t.Errorf("%d data sets: %s, %s", sets, growth.here, growth.reproduced)
		}
		tests := map[int]string{3: untested, 6: "0 of 4 with the median, 0 of 4 with the mean"}[sets]
		if note := table5Finding(c); !strings.HasPrefix(note, "Significant by Wilcoxon at 5 %: "+tests+"; the sign") {
			t.Errorf("%d data sets: %s", sets, note)
		}
	}
}

// Some tests only were run: the others do not count.
func TestTestsThatWereRunAreCounted(t *testing.T) {
	for runs, want := range map[int]string{0: untested, 4: "3 of 4 tests"} {
		if got := ofTests(3, runs, " tests"); got != want {
			t.Errorf("%d tests: %q", runs, got)
		}
	}
	c := tested(6)
	for i, r := range c.Rows {
		if r.Variant == GA || r.Variant == NG {
			c.Rows[i].MIA = 0.5 // their attacks do not differ
		}
	}
	if got, err := c.claimPairs(); err != nil || got[0].here != "17 of 17 tests without a difference" {
		t.Errorf("%v, %v", got, err)
	}
}
