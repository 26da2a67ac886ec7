package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

func (r *Report) exposure(t *testing.T, lens, model string) Exposure {
	t.Helper()
	for _, x := range r.exposuresOf(lens) {
		if x.Model == model {
			return x
		}
	}
	t.Fatalf("no exposure of %s by %s", model, lens)
	return Exposure{}
}

// The list is what counting by hand gives.
func TestTheMostExposedRecordsAreCountedByHand(t *testing.T) {
	got := rankExposed([]int{7, 3, 9, 5}, []float64{2, 5, 5, 1}, []float64{1, 2, 3, 4})
	// Mean 2.5, standard deviation sqrt(5/3).
	z := func(v float64) float64 { return (v - 2.5) / math.Sqrt(5.0/3) }
	want := []Exposed{{3, 5, 1, 0, z(5)}, {9, 5, 1, 0, z(5)}, {7, 2, 3, 3, z(2)}, {5, 1, 4, 4, z(1)}}
	for i := range want {
		if math.Abs(got[i].Z-want[i].Z) > 1e-12 {
			t.Errorf("record %d: z %v, want %v", i, got[i].Z, want[i].Z)
		}
		got[i].Z, want[i].Z = 0, 0
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if got = rankExposed([]int{0}, []float64{3}, []float64{2, 2}); !math.IsNaN(got[0].Z) || got[0].AsHigh != 0 {
		t.Errorf("held-out records that do not differ: %+v", got)
	}
}

// Every lens that scores records has an exposure for every model that it compares,
// of as many records as its reading is over.
func TestEveryScoringLensShowsItsRecords(t *testing.T) {
	m := newFixture(31, 60, 200, 150)
	dir := t.TempDir()
	m.write(t, dir, m.all, 12)
	r := audited(t, dir)
	scorers := 0
	for _, v := range r.Verdicts {
		if (v.Reading.Scores != nil) != v.Lens.Info().PerRecord {
			t.Errorf("%s: scores of records %v, said is %v", v.Name(), v.Reading.Scores != nil, v.Lens.Info().PerRecord)
		}
		if v.Reading.Scores == nil {
			continue
		}
		scorers++
		for _, name := range []string{"unlearned", "original", "retrained", "retrained-2"} {
			x := r.exposure(t, v.Name(), name)
			if x.Forget+x.HeldOut != v.Reading.N || len(x.Rates) != 3 || len(x.JointLow) != 3 {
				t.Errorf("%s by %s: %d and %d records, the reading is over %d", name, v.Name(), x.Forget, x.HeldOut, v.Reading.N)
			}
		}
		again, err := v.Lens.Read(&r.Evidence.Evidence, r.Evidence.ModelsOf(Unlearned)[0])
		must(t, err)
		if again.Value != v.Reading.Value || again.Low != v.Reading.Low {
			t.Errorf("%s alone reads %v, in the report %v", v.Name(), again.Value, v.Reading.Value)
		}
	}
	if scorers != 6 || r.comparisons() != 18 {
		t.Errorf("%d lenses score records, %d comparisons", scorers, r.comparisons())
	}
	x := r.exposure(t, "loss", "unlearned")
	if !math.IsNaN(x.Rates[0].Value) || math.IsNaN(x.Rates[1].Value) || x.Rates[0].High >= 1 {
		t.Errorf("150 held-out records cannot show 0.1 %%, and can 1 %%: %v", x.Rates)
	}
	for _, o := range x.Records {
		if o.Row >= 60 || o.Score != -r.Evidence.ModelsOf(Unlearned)[0].Losses[o.Row] {
			t.Errorf("row %d, score %v", o.Row, o.Score)
		}
	}
	var b bytes.Buffer
	must(t, r.JSON(&b))
	var j struct {
		Exposures []struct {
			Judgement, Model string
			Heldout          int
			Rates            []struct {
				FPR        float64
				TPR        *float64
				High       float64
				Measurable bool
			} `json:"tpr_at_fpr"`
			Records []struct {
				Row    int
				Rank   int
				AsHigh int `json:"heldout_as_high"`
				Z      *float64
			} `json:"most_exposed"`
		}
	}
	must(t, json.Unmarshal(b.Bytes(), &j))
	if len(j.Exposures) != 24 || j.Exposures[0].Rates[0].TPR != nil || j.Exposures[0].Rates[0].Measurable || j.Exposures[0].Rates[0].FPR != 0.001 ||
		len(j.Exposures[0].Records) != 60 || j.Exposures[0].Records[0].Z == nil || len(j.Exposures[1].Records) != 0 {
		t.Errorf("%d exposures, the first %+v", len(j.Exposures), j.Exposures[0])
	}
	page := pageOf(t, r)
	for _, word := range []string{"not measurable, at most", "fewer than 1000 held-out", "The most exposed forgotten records", "false positive rate", "<dt>AUC</dt>", "What to do"} {
		if !strings.Contains(page, word) {
			t.Errorf("the page does not hold %q", word)
		}
	}
}

func pageOf(t *testing.T, r *Report) string {
	t.Helper()
	p, err := r.Page()
	must(t, err)
	var b strings.Builder
	must(t, p.HTML(&b))
	return b.String()
}

// Twelve of two hundred records are remembered, the others are forgotten: the mean hides them, and
// the report does not.
func TestAFewRecordsThatStandOutAreNamed(t *testing.T) {
	m := newFixture(32, 200, 300, 2000)
	dir := t.TempDir()
	few := func(i int) bool { return m.retained(i) }
	m.write(t, dir, few, 0)
	write := func(model string, kept bool) {
		z, _ := m.trained(few)
		for i := range 12 {
			if kept {
				z.Row(i)[m.y[i]] += 20
			}
		}
		must(t, npy.Write(filepath.Join(dir, model, "outputs.npy"), z))
	}
	write("unlearned", true)
	r := audited(t, dir)
	v := r.verdict(t, "loss")
	if v.Memory() {
		t.Fatalf("the AUC sees it by itself: %v", v.Reading.Estimate)
	}
	out := r.StandOut("unlearned")
	if len(out) == 0 || !strings.Contains(out[0], "by loss") {
		t.Errorf("nothing stands out: %v, %v", out, r.exposure(t, "loss", "unlearned").Rates)
	}
	x := r.exposure(t, "loss", "unlearned")
	for _, o := range x.Records[:12] {
		if o.Row >= 12 || o.AsHigh != 0 {
			t.Errorf("among the first 12 is %+v", o)
		}
	}
	if r.Answer("unlearned") != SomeStandOut || !strings.Contains(pageOf(t, r), report.KeepNumbers(out[0][:40])) {
		t.Errorf("the summary calls it %q", r.Answer("unlearned"))
	}
	pairs := make([]int, 2500)
	for i := range pairs {
		pairs[i] = i / 2
	}
	must(t, npy.WriteIndices(filepath.Join(dir, "group.npy"), pairs))
	if out := audited(t, dir).StandOut("unlearned"); len(out) == 0 || !strings.Contains(out[0], "false positives at least 0.0") {
		t.Errorf("of records in pairs there are bounds, and these say %v", out)
	}
	must(t, os.Remove(filepath.Join(dir, "group.npy")))
	write("unlearned", false)
	if out := audited(t, dir).StandOut("unlearned"); out != nil {
		t.Errorf("of a model that never had the records: %v", out)
	}
}

// Twelve of 150 records below the loss of each of 450 that no model has seen: with a retrained model beside and
// without, counted, and of nobody in a model that never had them.
func TestTwelveRecordsBeyondAllHeldOutOnesAreCounted(t *testing.T) {
	m := newFixture(36, 150, 200, 450)
	dir := t.TempDir()
	few := func(i int) bool { return m.retained(i) }
	m.write(t, dir, few, 0)
	z, _ := m.trained(few)
	for i := range 12 { // and as many the other way, so that a mean shows nothing
		z.Row(i)[m.y[i]] += 20
		z.Row(12 + i)[m.y[12+i]] -= 4
		z.Row(24 + i)[m.y[24+i]] -= 4
	}
	must(t, npy.Write(filepath.Join(dir, "unlearned", "outputs.npy"), z))
	for _, alone := range []bool{false, true} {
		if alone {
			must(t, os.RemoveAll(filepath.Join(dir, "retrained")))
			must(t, os.RemoveAll(filepath.Join(dir, "retrained-2")))
		}
		r := audited(t, dir)
		out := r.StandOut("unlearned")
		if r.verdict(t, "loss").Memory() || len(out) == 0 || !strings.Contains(out[0], "of 150 forgotten records stand out more than any of the 450 held-out ones (by chance 0.3; p = ") {
			t.Errorf("alone %v: %v, the loss says %v", alone, out, r.verdict(t, "loss").Reading.Estimate)
		}
		if c := r.exposure(t, "loss", "unlearned").Counts[0]; c.Above < 12 || c.Above > 14 || c.P > 1e-7 {
			t.Errorf("counted %+v", c)
		}
		least, err := stats.LeastTop(150, 450, 0, r.jointLevel())
		want := fmt.Sprintf("Fewer than %d of the 150 forgotten records above all of the 450 held-out ones would not be seen", least)
		more := "; beside retrained models that have such records too, more are needed"
		if page := pageOf(t, r); err != nil || !strings.Contains(page, want) || strings.Contains(page, more) == alone {
			t.Errorf("alone %v: the page does not say %q", alone, want)
		}
	}
}

// One in a hundred of 2,900 are 29, though 0.01 times 2,900 is a little less in floating point.
func TestShareOfHeldOutRecordsIsExact(t *testing.T) {
	heldOut := make([]float64, 2900)
	for i := range heldOut {
		heldOut[i] = float64(i)
	}
	c, err := countTop([]float64{2871, 2869}, heldOut, 0.01)
	if err != nil || c.Spared != 29 || c.Threshold != 2870 || c.Above != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

// What a retrained model shows as well is no memory: there the records are easy by themselves.
func TestRecordsThatRetrainedModelsShowTooDoNotStandOut(t *testing.T) {
	m := newFixture(36, 150, 200, 450)
	dir := t.TempDir()
	m.write(t, dir, m.retained, 0)
	for _, model := range []string{"unlearned", "retrained"} {
		z, _ := m.trained(m.retained)
		for i := range 12 {
			z.Row(i)[m.y[i]] += 20
		}
		must(t, npy.Write(filepath.Join(dir, model, "outputs.npy"), z))
	}
	r := audited(t, dir)
	if out := r.StandOut("unlearned"); out != nil {
		t.Error(out)
	}
	if c := r.exposure(t, "loss", "unlearned").Counts[0]; c.P > 1e-7 || !c.explained {
		t.Errorf("%+v", c)
	}
}

// Records that were pushed away are exposed by low scores.
func TestPushedRecordsAreReadFromTheOtherSide(t *testing.T) {
	m := newFixture(33, 60, 200, 300)
	dir := t.TempDir()
	m.write(t, dir, m.retained, 0)
	z, _ := m.trained(m.retained)
	for i := range 60 {
		z.Row(i)[m.y[i]] -= 6
	}
	must(t, npy.Write(filepath.Join(dir, "unlearned", "outputs.npy"), z))
	r := audited(t, dir)
	x := r.exposure(t, "loss", "unlearned")
	if !x.Reversed || x.Rates[2].Low < 0.3 || x.Records[0].Score > x.Records[1].Score || !strings.Contains(pageOf(t, r), "unlearned (low scores)") {
		t.Errorf("reversed %v, %v", x.Reversed, x.Rates)
	}
}

// A long curve is drawn as well by a few hundred of its points.
func TestThinnedCurvesStayNearTheWholeOne(t *testing.T) {
	const n = 200000
	var whole ROC
	for i := range n + 1 {
		f := float64(i) / n
		whole.FPR, whole.TPR = append(whole.FPR, f), append(whole.TPR, math.Sqrt(f))
	}
	few := whole.thinned()
	if len(few.FPR) > 600 || few.FPR[0] != 0 || few.FPR[len(few.FPR)-1] != 1 {
		t.Errorf("%d points, %v to %v", len(few.FPR), few.FPR[0], few.FPR[len(few.FPR)-1])
	}
	for i := 2; i < len(few.FPR); i++ {
		if few.FPR[i-1] > 1e-3 && few.FPR[i]/few.FPR[i-1] > 1.06 || few.TPR[i] != math.Sqrt(few.FPR[i]) {
			t.Fatalf("from %v to %v", few.FPR[i-1], few.FPR[i])
		}
	}
}

// The summary has what was asked, the model and its day, the answer, how sure, what to beware of, what to do.
func TestTheSummaryIsFiveSentencesForEachModel(t *testing.T) {
	m := newFixture(34, 40, 120, 100)
	d := damaged{t, t.TempDir(), m}
	m.write(t, d.dir, m.all, 0)
	m.model(t, d.path("unlearned-2"), m.retained)
	d.raw("audit.json", `{"question": "Is customer 17 gone?", "date": "2026-05-17"}`)
	parts := audited(t, d.dir).Summary()
	if len(parts) != 6 {
		t.Fatalf("%d parts for two models", len(parts))
	}
	first, answer, last := parts[0].(report.Terms), parts[1].(report.Strong), parts[2].(report.Terms)
	if first[0].Meaning != "Is customer 17 gone?" || !strings.Contains(first[1].Meaning, "unlearned, of 2026-05-17, compared with the model before unlearning, 2 models retrained") {
		t.Errorf("%+v", first)
	}
	if !strings.HasPrefix(string(answer), "unlearned: No: the records are still remembered") || !strings.HasPrefix(string(parts[4].(report.Strong)), "unlearned-2: No sign") {
		t.Errorf("%q, %q", answer, parts[4])
	}
	if last[0].Word != "How sure" || !strings.Contains(last[0].Meaning, "see a memory") || last[1].Word != "Beware" ||
		!strings.Contains(last[1].Meaning, "No group.npy") || !strings.Contains(last[2].Meaning, "Do not treat") {
		t.Errorf("%+v", last)
	}
	d.raw("audit.json", `{"date": "yesterday"}`)
	if _, err := Open(d.dir); err == nil || !strings.Contains(err.Error(), "2006-01-02") {
		t.Errorf("a date that is none: %v", err)
	}
}

func TestRatesOfTinySamplesSayThatTheyCannotBeMeasured(t *testing.T) {
	m := newFixture(35, 5, 20, 10)
	dir := t.TempDir()
	m.write(t, dir, m.all, 0)
	r := audited(t, dir)
	if got := r.leastSeen(); !strings.HasPrefix(got, "Fewer than 5 of the 5 forgotten records above all of the 10 held-out ones would not be seen") {
		t.Error(got)
	}
	tiny := Report{Evidence: r.Evidence, Exposures: []Exposure{{Forget: 2, HeldOut: 10, Counts: []Count{{}}}}}
	if got := tiny.leastSeen(); !strings.HasPrefix(got, "Even if all 2 forgotten records stood out more than the 10 held-out ones") {
		t.Error(got)
	}
	for _, row := range r.RatesTable().Rows {
		for _, c := range row.Cells[1:4] {
			if c.Missing == "" {
				t.Errorf("ten held-out records show a rate: %+v", c)
			}
		}
	}
}

// Models that never had the records stand out by chance in fewer than one report of twenty.
func TestNothingStandsOutOfModelsThatNeverHadTheRecords(t *testing.T) {
	const reports = 60
	found := 0
	for k := range reports {
		m := newFixture(uint64(100+k), 60, 60, 200)
		dir := t.TempDir()
		m.write(t, dir, m.retained, 0)
		if k%2 == 0 { // without a retrained model chance alone explains
			must(t, os.RemoveAll(filepath.Join(dir, "retrained")))
			must(t, os.RemoveAll(filepath.Join(dir, "retrained-2")))
		}
		e, err := Open(dir)
		must(t, err)
		r, err := e.ReportBy(t.Context(), audit.Loss{}, audit.Entropy{}, audit.ModifiedEntropy{})
		must(t, err)
		if len(r.StandOut("unlearned")) > 0 {
			found++
		}
	}
	if found > 6 { // 0.1 % of the draws of a fair one in twenty
		t.Errorf("%d of %d reports", found, reports)
	}
}

// A shadow model that fits better what its in.npy leaves out is noted, and no other.
func TestShadowModelsWithExchangedRecordsAreNoted(t *testing.T) {
	m := newFixture(41, 60, 120, 120)
	dir := t.TempDir()
	m.write(t, dir, m.all, 3)
	name := filepath.Join(dir, "shadow-ab", "in.npy")
	said := func() string {
		e, err := Open(dir)
		must(t, err)
		return strings.Join(e.Notes, "\n")
	}
	if notes := said(); strings.Contains(notes, "other way round") {
		t.Errorf("as they are: %s", notes)
	}
	rows, err := npy.ReadIndices(name)
	must(t, err)
	var others []int
	for i := range len(m.y) {
		if !slices.Contains(rows, i) {
			others = append(others, i)
		}
	}
	must(t, npy.WriteIndices(name, others))
	if notes := said(); strings.Count(notes, "other way round") != 1 || !strings.Contains(notes, "shadow-ab fits records better that are not in its in.npy") {
		t.Errorf("exchanged: %s", notes)
	}
}

// Five of 150 records stand out. One retrained model without them is too few to tell that it is not by its seed alone, so that
// nothing is cleared; three are enough. More retrained models never make less of a record that none of them shows.
func TestFewRecordsThatStandOutNeedRetrainedModels(t *testing.T) {
	m := newFixture(47, 150, 400, 450)
	dir := t.TempDir()
	m.write(t, dir, m.retained, 0)
	z, _ := m.trained(m.retained)
	for i := range 5 {
		z.Row(i)[m.y[i]] += 20
	}
	must(t, npy.Write(filepath.Join(dir, "unlearned", "outputs.npy"), z))
	must(t, os.RemoveAll(filepath.Join(dir, "retrained-2")))
	if r := audited(t, dir); r.Answer("unlearned") != SomeMayStandOut || r.StandOut("unlearned") != nil {
		t.Errorf("beside one retrained model: %s, %v, %+v", r.Answer("unlearned"), r.StandOut("unlearned"), r.exposure(t, "loss", "unlearned").Counts)
	}
	for _, more := range []string{"retrained-2", "retrained-3"} {
		m.model(t, filepath.Join(dir, more), m.retained)
	}
	if r := audited(t, dir); r.Answer("unlearned") != SomeStandOut {
		t.Errorf("beside three retrained models: %s, %+v", r.Answer("unlearned"), r.exposure(t, "loss", "unlearned").Counts)
	}
	must(t, npy.Write(filepath.Join(dir, "retrained", "outputs.npy"), z))
	if r := audited(t, dir); r.Answer("unlearned") == SomeStandOut || r.Answer("unlearned") == SomeMayStandOut {
		t.Errorf("where a retrained model shows the same records: %s", r.Answer("unlearned"))
	}
}
