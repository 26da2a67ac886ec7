package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/stats"
)

func TestWhatIsNotThereIsNamed(t *testing.T) {
	m := newFixture(6, 60, 200, 200)
	full := t.TempDir()
	m.write(t, full, m.all, 8)
	for _, c := range []struct {
		remove  []string
		judged  map[string]audit.Call // some of the verdicts
		skipped map[string]string     // and what others need
		settle  string
	}{
		{[]string{"retrained", "retrained-2"}, map[string]audit.Call{"loss": audit.Remembered, "neighbours": Unmoved, "subsets": Unmoved},
			map[string]string{"against the retrained": "needs 2 retrained models with embedding.npy (there is none)"}, "A model retrained without the forget records"},
		{[]string{"retrained-2"}, map[string]audit.Call{"loss": audit.Remembered, "neighbours": audit.Remembered},
			map[string]string{"movement": "needs 2 retrained models with embedding.npy (there is one)"}, "A second retrained model"},
		{[]string{"original"}, map[string]audit.Call{"loss": audit.Remembered}, map[string]string{"movement": "needs an original model with embedding.npy (there is none)"},
			"The original model (original/)"},
		{[]string{"original", "retrained", "retrained-2"}, map[string]audit.Call{"loss": audit.Remembered, "neighbours": Unplaced}, nil, ""},
		{[]string{"heldout.npy"}, map[string]audit.Call{"neighbours": audit.Remembered},
			map[string]string{"loss": "needs heldout.npy: rows of records that no model was trained on", "lira": "needs heldout.npy"}, ""},
		{[]string{"retain.npy"}, map[string]audit.Call{"loss": audit.Remembered}, map[string]string{"neighbours": "needs retain.npy", "loss threshold": "needs retain.npy"}, ""},
		{[]string{"labels.npy"}, map[string]audit.Call{"entropy": audit.Remembered}, map[string]string{
			"loss": "needs outputs.npy (and labels.npy), losses.npy or logprob.npy of the unlearned model", "modified entropy": "needs outputs.npy (and labels.npy)"}, ""},
		{[]string{"unlearned/embedding.npy"}, map[string]audit.Call{"loss": audit.Remembered}, map[string]string{"neighbours": "needs embedding.npy of the unlearned model"}, ""},
		{[]string{"shadow-aa", "shadow-ab", "shadow-ac", "shadow-ad", "shadow-ae", "shadow-af", "shadow-ag"}, nil, map[string]string{
			"lira": "needs 4 shadow models with outputs.npy (and labels.npy), losses.npy or logprob.npy (there is one)"}, ""},
	} {
		d := damaged{t, t.TempDir(), m}
		must(t, os.CopyFS(d.dir, os.DirFS(full)))
		for _, name := range c.remove {
			d.remove(name)
		}
		r := audited(t, d.dir)
		for name, call := range c.judged {
			if v := r.verdict(t, name); v.Call != call {
				t.Errorf("without %v: %s says %s, want %s (%v)", c.remove, name, v.Call, call, v.Reading.Estimate)
			}
		}
		for name, why := range c.skipped {
			k := slices.IndexFunc(r.Skipped, func(u Skipped) bool { return u.Name() == name })
			if k < 0 || !strings.Contains(r.Skipped[k].Why, why) {
				t.Errorf("without %v: %s is not said to need %q: %+v", c.remove, name, why, r.Skipped)
			}
		}
		if !strings.Contains(strings.Join(r.Suggestions(), "\n"), c.settle) {
			t.Errorf("without %v: settle %q", c.remove, r.Suggestions())
		}
		if n := len(r.Evidence.Lenses()); len(r.Verdicts)+len(r.Costs)+len(r.Skipped) != n {
			t.Errorf("without %v: %d verdicts, %d costs and %d not made, of %d", c.remove, len(r.Verdicts), len(r.Costs), len(r.Skipped), n)
		}
		if _, err := r.Page(); err != nil {
			t.Errorf("without %v: %v", c.remove, err)
		}
	}
}

// Named activations are judged like the embedding, each by itself.
func TestEveryLayerGetsItsVerdict(t *testing.T) {
	m := newFixture(7, 60, 200, 100)
	d := damaged{t, t.TempDir(), m}
	m.write(t, d.dir, m.all, 0)
	for _, name := range []string{"original", "retrained", "retrained-2", "unlearned"} {
		must(t, os.MkdirAll(d.path(name+"/activations"), 0o755))
		must(t, os.Rename(d.path(name+"/embedding.npy"), d.path(name+"/activations/conv1.npy")))
		d.matrix(name+"/activations/noise.npy", d.fill(5, func(int, int) float64 { return m.rng.NormFloat64() }))
	}
	r := audited(t, d.dir)
	if v := r.verdict(t, "neighbours at conv1"); v.Call != audit.Remembered {
		t.Errorf("conv1: %s", v.Call)
	}
	if v := r.verdict(t, "neighbours at noise"); v.Memory() {
		t.Errorf("noise: %s", v.Call)
	}
	d.remove("retrained/activations/conv1.npy")
	d.remove("retrained-2/activations/conv1.npy")
	r = audited(t, d.dir)
	k := slices.IndexFunc(r.Skipped, func(u Skipped) bool { return u.Name() == "movement at conv1" })
	if k < 0 || !strings.Contains(r.Skipped[k].Why, "activations/conv1.npy (there is none)") {
		t.Errorf("%+v", r.Skipped)
	}
}

func TestSeveralModelsOfARole(t *testing.T) {
	m := newFixture(8, 60, 200, 100)
	dir := t.TempDir()
	m.write(t, dir, m.all, 0)
	m.model(t, filepath.Join(dir, "unlearned-2"), m.retained)
	must(t, os.Rename(filepath.Join(dir, "retrained"), filepath.Join(dir, "1")))
	must(t, os.Mkdir(filepath.Join(dir, "retrained"), 0o755))
	for from, to := range map[string]string{"1": "1", "retrained-2": "2"} {
		must(t, os.Rename(filepath.Join(dir, from), filepath.Join(dir, "retrained", to)))
	}
	r := audited(t, dir)
	var names []string
	for _, x := range r.Evidence.Models {
		names = append(names, x.Name)
	}
	if want := []string{"unlearned", "unlearned-2", "original", "retrained/1", "retrained/2"}; !slices.Equal(names, want) {
		t.Errorf("models %v, want %v", names, want)
	}
	for _, v := range r.Verdicts {
		blind := v.Call == audit.Blind && v.Name() == audit.Prototypes{}.Name() // 60 records are too few for it
		if v.Name() == (audit.AgainstRetrained{}).Name() {                      // two retrained models have one number between them
			if !asksForAThird(v) {
				t.Errorf("%s says %s", v.Name(), v.Text())
			}
			continue
		}
		if len(v.Retrained) != 2 || !blind && v.Memory() != (v.Reading.Model == "unlearned") {
			t.Errorf("%s of %s: %s beside %d retrained models", v.Name(), v.Reading.Model, v.Call, len(v.Retrained))
		}
		ref := v.reference()
		a, b := v.Retrained[0], v.Retrained[1]
		low, high := min(a.Low, b.Low), max(a.High, b.High)
		squares, mean := (a.Value-b.Value)*(a.Value-b.Value)/2, (a.Value+b.Value)/2
		// The two models leave one degree of freedom, and the widths of intervals over records count for two more.
		quantile, freedom, below, above := 3.182446, 3.0, (2*mean-a.Low-b.Low)/2/1.959964, (a.High+b.High-2*mean)/2/1.959964
		if !a.DrawnAlike || b.DrawnAlike {
			t.Errorf("%s: the losses of the second retrained model tell the sets apart by chance, those of the first do not", v.Name())
		}
		if ref.Coordinates || ref.Over == stats.OverDraws {
			quantile, freedom, below, above = 12.7062, 1, 0, 0
		}
		low = min(low, mean-quantile*math.Sqrt(1.5*(2*below*below+squares)/freedom))
		high = max(high, mean+quantile*math.Sqrt(1.5*(2*above*above+squares)/freedom))
		if ref.Value != (a.Value+b.Value)/2 || math.Abs(ref.Low-low) > 1e-5 || math.Abs(ref.High-high) > 1e-5 {
			t.Errorf("%s: the reference of %v and %v is %v", v.Name(), a.Estimate, b.Estimate, ref.Estimate)
		}
	}
	if answers := r.Answers(); len(answers) != 2 || !strings.Contains(answers[0], "still remembered") || !strings.Contains(answers[1], "no memory is seen") {
		t.Errorf("%q", answers)
	}
	for _, v := range r.verdict(t, "against the retrained").Retrained {
		if v.Value == 0 {
			t.Errorf("%s is compared with itself", v.Model)
		}
	}
}

func TestTheSameFolderGivesTheSameBytes(t *testing.T) {
	m := newFixture(9, 60, 200, 100)
	dir := t.TempDir()
	m.write(t, dir, m.all, 6)
	var first map[string][]byte
	for range 2 {
		out := filepath.Join(dir, "report")
		must(t, audited(t, dir).Write(out))
		got := map[string][]byte{}
		for _, name := range []string{"report.html", "report.md", "report.json"} {
			b, err := os.ReadFile(filepath.Join(out, name))
			must(t, err)
			got[name] = b
			if first != nil && !bytes.Equal(first[name], b) {
				t.Errorf("%s differs", name)
			}
		}
		first = got
	}
	for _, word := range []string{"<script", "http:", "https:", "src=", "NaN", "%!"} {
		if word != "http:" && bytes.Contains(first["report.html"], []byte(word)) {
			t.Errorf("the page holds %q", word)
		}
	}
	var j struct {
		Verdicts []struct {
			Verdict string
			Reading struct{ Value, Low, High *float64 }
		}
		Files []File
	}
	must(t, json.Unmarshal(first["report.json"], &j))
	if len(j.Verdicts) < 8 || j.Verdicts[0].Reading.Value == nil || len(j.Files) != 4+8+18 || len(j.Files[0].SHA256) != 64 {
		t.Errorf("%d verdicts, %d files", len(j.Verdicts), len(j.Files))
	}
	for _, f := range j.Files {
		if !bytes.Contains(first["report.html"], []byte(f.SHA256)) || !bytes.Contains(first["report.md"], []byte(f.SHA256)) {
			t.Errorf("the reports lack the hash of %s", f.Name)
		}
	}
}

func TestAStoppedAuditIsAnError(t *testing.T) {
	m := newFixture(9, 20, 50, 30)
	dir := t.TempDir()
	m.write(t, dir, m.all, 0)
	e, err := Open(dir)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Report(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// The audit.json of the guide is one.
func TestTheGuidesConfigReads(t *testing.T) {
	b, err := os.ReadFile("../../../docs/guide/audit.md")
	must(t, err)
	_, rest, _ := strings.Cut(string(b), "```json\n{\n  \"question\"")
	text, _, found := strings.Cut(rest, "```")
	var c Config
	if err := files.DecodeStrict([]byte("{\"question\""+text), &c); !found || err != nil || len(c.Unlearned) != 1 || len(c.Labels) != 2 || c.HeldOut[0] != Rest {
		t.Errorf("%v, %+v", err, c)
	}
	m := newFixture(15, 20, 50, 30)
	d := damaged{t, t.TempDir(), m}
	m.write(t, d.dir, m.all, 0)
	d.remove("retrained-2")
	d.rename("retrained", "oracle")
	d.rename("unlearned", "scrub")
	for _, model := range []string{"original", "oracle", "scrub"} { // as lethe export writes them, more than the config names
		x, err := npy.ReadMatrix(d.path(model + "/outputs.npy"))
		must(t, err)
		for part, rows := range map[string][2]int{"train": {0, 60}, "test": {60, 100}} {
			some := array.Matrix[float64]{Rows: rows[1] - rows[0], Cols: x.Cols, Data: x.Data[rows[0]*x.Cols : rows[1]*x.Cols]}
			d.matrix(model+"/logits_"+part+".npy", some)
			d.matrix(model+"/embedding_"+part+".npy", some)
			d.rows(model+"/labels_"+part+".npy", m.y[rows[0]:rows[1]])
		}
		d.remove(model + "/outputs.npy")
		d.remove(model + "/embedding.npy")
	}
	for _, set := range []string{"forget", "retain"} {
		d.rename(set+".npy", "scrub/"+set+".npy")
	}
	d.remove("heldout.npy")
	d.remove("labels.npy")
	d.raw("audit.json", "{\"question\""+text)
	if e, err := Open(d.dir); err != nil || len(e.Models) != 3 {
		t.Errorf("the guide's folder: %v", err)
	}
}

// Sets of a record or two are refused by lenses or give little, and never a panic.
func TestTinyFoldersAreJudgedOrSayWhyNot(t *testing.T) {
	for _, n := range [][3]int{{1, 1, 1}, {1, 2, 4}, {2, 1, 5}, {3, 3, 3}, {5, 1, 1}} {
		m := newFixture(11, n[0], n[1], n[2])
		dir := t.TempDir()
		m.write(t, dir, m.all, 5)
		r := audited(t, dir)
		if len(r.Verdicts)+len(r.Costs)+len(r.Skipped) != len(r.Evidence.Lenses()) {
			t.Errorf("%v: %d verdicts, %d costs and %d not made", n, len(r.Verdicts), len(r.Costs), len(r.Skipped))
		}
		for _, u := range r.Skipped {
			if u.Why == "" {
				t.Errorf("%v: %s does not say why not", n, u.Name())
			}
		}
		must(t, r.Write(filepath.Join(dir, "report")))
	}
}

// A model of losses alone, without classes, is judged by what needs no more.
func TestLossesAreEnough(t *testing.T) {
	m := newFixture(12, 60, 200, 150)
	d := damaged{t, t.TempDir(), m}
	m.write(t, d.dir, m.all, 0)
	want := audited(t, d.dir).verdict(t, "loss")
	e, err := Open(d.dir)
	must(t, err)
	for _, model := range e.Models {
		d.vector(model.Name+"/losses.npy", model.Losses)
		d.remove(model.Name + "/outputs.npy")
		d.remove(model.Name + "/embedding.npy")
	}
	d.remove("labels.npy")
	r := audited(t, d.dir)
	if got := r.verdict(t, "loss"); got.Reading.Value != want.Reading.Value || got.Call != want.Call {
		t.Errorf("by losses %v, by outputs %v", got.Reading.Estimate, want.Reading.Estimate)
	}
	if r.verdict(t, "loss threshold").Call != audit.Remembered || len(r.Verdicts) != 2 {
		t.Errorf("%d verdicts", len(r.Verdicts))
	}
}

// A config that is named relative to where one is, beside a folder that is not.
func TestAConfigIsReadFromWhereItLies(t *testing.T) {
	m := newFixture(13, 20, 50, 30)
	d := damaged{t, t.TempDir(), m}
	m.write(t, d.dir, m.all, 0)
	elsewhere := t.TempDir()
	t.Chdir(elsewhere)
	must(t, os.Rename(d.path("labels.npy"), filepath.Join(elsewhere, "y.npy")))
	must(t, os.WriteFile("mine.json", []byte(`{"labels": "y.npy"}`), 0o644))
	for _, config := range []string{"mine.json", filepath.Join(elsewhere, "mine.json")} {
		if e, err := OpenWith(d.dir, Options{Config: config}); err != nil || e.Labels == nil {
			t.Errorf("%s: %v", config, err)
		}
	}
}

// Names come from a folder that anybody wrote: none may close a cell, or be markup.
func TestNamesDoNotBreakTheReport(t *testing.T) {
	m := newFixture(14, 20, 50, 30)
	d := damaged{t, t.TempDir(), m}
	m.write(t, d.dir, m.all, 0)
	const name = "a|b `c` ``` *d* <i>&"
	config, err := json.Marshal(map[string]any{
		"question":  "What of " + name + "?\n| forged |",
		"unlearned": map[string]any{"name": name, "outputs": "unlearned/outputs.npy", "activations": map[string]string{name: "unlearned/embedding.npy"}},
	})
	must(t, err)
	must(t, os.WriteFile(d.path("audit.json"), config, 0o644))
	must(t, audited(t, d.dir).Write(d.path("report")))
	page, err := os.ReadFile(d.path("report/report.html"))
	must(t, err)
	if text := string(page); strings.Contains(text, "<i>") || !strings.Contains(text, "&lt;i&gt;&amp;") {
		t.Error("a name is markup in the page")
	}
	text, err := os.ReadFile(d.path("report/report.md"))
	must(t, err)
	before, rows := 0, 0
	for _, line := range strings.Split(string(text), "\n") {
		bars := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if !strings.HasPrefix(line, "|") {
			before = 0
			continue
		}
		if before > 0 && bars != before {
			t.Errorf("%d cells below %d: %s", bars-1, before-1, line)
		}
		before, rows = bars, rows+1
	}
	if rows < 20 || strings.Contains(string(text), "\n| forged") || strings.Count(string(text), "\n```")%2 != 0 {
		t.Errorf("%d rows of tables in\n%s", rows, text)
	}
}

// Who waits for report.json finds the other two of the same report beside it.
func TestReportJSONIsWrittenLast(t *testing.T) {
	m := newFixture(15, 20, 50, 30)
	dir := t.TempDir()
	m.write(t, dir, m.all, 0)
	r, out := audited(t, dir), filepath.Join(t.TempDir(), "report")
	for _, name := range []string{"report.html", "report.md"} { // a folder in its place: the file cannot be written
		must(t, os.MkdirAll(filepath.Join(out, name), 0o755))
		if err := r.Write(out); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(out, "report.json")); err == nil {
			t.Errorf("report.json stands without %s", name)
		}
		must(t, os.Remove(filepath.Join(out, name)))
	}
	must(t, r.Write(out))
}

// The guide explains every verdict that a report may have.
func TestTheGuideExplainsEveryVerdict(t *testing.T) {
	b, err := os.ReadFile("../../../docs/guide/audit.md")
	must(t, err)
	for _, call := range []audit.Call{
		audit.Blind, audit.Forgotten, audit.Remembered, audit.Between, audit.Beyond, audit.Backwards, audit.Unclear, audit.CannotTell, audit.TooFew,
		Unseen, Unmoved, Moved, Unplaced,
	} {
		if !strings.Contains(string(b), "\n| *"+string(call)+"* | ") {
			t.Errorf("the guide does not explain %q", call)
		}
	}
}

// Two retrained models have one number between them where a lens compares record by record: their mean similarity
// is the same from either side. The list of lenses says that a verdict needs three, and the report asks for the third
// where nothing else is missing.
func TestAThirdRetrainedModelIsAskedFor(t *testing.T) {
	const third = "A third retrained model (retrained-3/)"
	lens := audit.AgainstRetrained{}
	if needs := FilesFor(lens.Info().Needs); needs != "embedding.npy; retain.npy; 2 retrained models; for a verdict 3 retrained models" {
		t.Errorf("%s needs %q", lens.Name(), needs)
	}
	m := newFixture(16, 60, 200, 300)
	d := damaged{t, t.TempDir(), m}
	m.write(t, d.dir, m.retained, 0)
	r := audited(t, d.dir)
	for _, v := range r.Verdicts {
		want := v.Lens.Info().Needs.Verdict > 2
		if got := v.Call == audit.CannotTell && strings.Contains(v.Why, "a third one does"); got != want {
			t.Errorf("beside two retrained models %s says %s: %s", v.Name(), v.Call, v.Why)
		}
	}
	if said := strings.Join(r.Suggestions(), "\n"); !strings.Contains(said, third) || !strings.Contains(said, "no verdict by against the retrained.") {
		t.Errorf("beside two retrained models: %s", said)
	}
	m.model(t, d.path("retrained-3"), m.retained)
	r = audited(t, d.dir)
	if v := r.verdict(t, lens.Name()); v.Call == audit.CannotTell {
		t.Errorf("beside three retrained models %s says %s: %s", v.Name(), v.Call, v.Why)
	}
	for _, remove := range [][]string{{}, {"retrained-2", "retrained-3"}, {"retrained"}} {
		for _, folder := range remove {
			d.remove(folder)
		}
		if said := strings.Join(audited(t, d.dir).Suggestions(), "\n"); strings.Contains(said, third) {
			t.Errorf("after the removal of %v: %s", remove, said)
		}
	}
	few := damaged{t, t.TempDir(), newFixture(16, 5, 200, 300)}
	few.m.write(t, few.dir, few.m.retained, 0)
	if said := strings.Join(audited(t, few.dir).Suggestions(), "\n"); strings.Contains(said, third) {
		t.Errorf("with five records to forget: %s", said)
	}
}
