package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
)

// population makes half of the held-out records strangers to every shadow model too.
func (m *made) dealt(i int) bool { return i < m.forget+m.retain+m.heldOut/2 }

// Every judgement of the list is made of this folder, and every one must see what was
// planted: an unlearned model that is the original, or a retrained one.
func TestKnownTruthsComeOut(t *testing.T) {
	m := newMade(1, 150, 400, 300)
	for want, unlearned := range map[audit.Call]func(int) bool{audit.Remembered: m.all, audit.Forgotten: m.retained} {
		dir := t.TempDir()
		m.write(t, dir, unlearned, 24)
		r := audited(t, dir)
		if len(r.Undone) > 0 {
			t.Errorf("not judged: %+v", r.Undone)
		}
		if len(r.Verdicts) != len(All()) {
			t.Errorf("%d verdicts of %d judgements", len(r.Verdicts), len(All()))
		}
		for _, v := range r.Verdicts {
			// Another draw of the original may differ from it and is remembered nevertheless.
			if v.Memory() != (want == audit.Remembered) || !v.Memory() && v.Call != want {
				t.Errorf("%s: %s, want %s: %v, original %v, retrained %v", v.Name(), v.Call, want, v.Reading.Estimate, v.Original.Estimate, v.Retrained[0].Estimate)
			}
			if v.Reading.Lens != v.Judgement.Name() || v.Reading.Model != "unlearned" || v.Original.Model != "original" || v.Retrained[0].Model != "retrained" {
				t.Errorf("%s: readings of %q: %q, %q, %q", v.Name(), v.Reading.Lens, v.Reading.Model, v.Original.Model, v.Retrained[0].Model)
			}
		}
	}
}

// Whoever exchanges two roles gets another answer, and is told so where it can be seen.
func TestExchangedRolesChangeTheAnswer(t *testing.T) {
	m := newMade(2, 150, 400, 300)
	dir := t.TempDir()
	m.write(t, dir, m.retained, 24)
	straight := audited(t, dir)
	swap := func(a, b string) *Report {
		t.Helper()
		other := t.TempDir()
		must(t, os.CopyFS(other, os.DirFS(dir)))
		x, y := filepath.Join(other, a), filepath.Join(other, b)
		must(t, errors.Join(os.Rename(x, x+"~"), os.Rename(y, x), os.Rename(x+"~", y)))
		return audited(t, other)
	}
	for _, c := range []struct {
		a, b string
		same []string // judgements that do not look at what is exchanged
		note string
	}{
		{"unlearned", "original", nil, "are the two models exchanged?"},
		{"forget.npy", "heldout.npy", nil, ""},
		{"original", "retrained", nil, "are the two models exchanged?"},
		{"retain.npy", "heldout.npy", []string{"movement"}, "are the two sets exchanged?"},
	} {
		r := swap(c.a, c.b)
		for _, v := range r.Verdicts {
			before := straight.verdict(t, v.Name())
			if slices.Contains(c.same, v.Name()) {
				continue
			}
			if v.Call == before.Call && v.Reading.Value == before.Reading.Value && v.Original.Value == before.Original.Value {
				t.Errorf("%s and %s exchanged: %s still says %s, %v", c.a, c.b, v.Name(), v.Call, v.Reading.Estimate)
			}
		}
		if notes := strings.Join(r.Evidence.Notes, "\n"); !strings.Contains(notes, c.note) {
			t.Errorf("%s and %s exchanged: noted %q, want %q", c.a, c.b, notes, c.note)
		}
	}
	if len(straight.Evidence.Notes) > 0 {
		t.Errorf("nothing is exchanged, and noted is %q", straight.Evidence.Notes)
	}
	// The signed AUC of forget against held out is turned round.
	turned := swap("forget.npy", "heldout.npy").verdict(t, "loss").Original.Value
	if want := 1 - straight.verdict(t, "loss").Original.Value; math.Abs(turned-want) > 1e-12 {
		t.Errorf("AUC of the original %v, want %v", turned, want)
	}
}

func TestReadingsAreThoseOfTheLibrary(t *testing.T) {
	m := newMade(4, 40, 90, 60)
	dir := t.TempDir()
	m.write(t, dir, m.all, 0)
	z, err := npy.ReadMatrix(filepath.Join(dir, "unlearned", "outputs.npy"))
	must(t, err)
	forget, retain, heldOut := m.sets()
	loss := func(i int) float64 {
		sum := 0.0
		for _, v := range z.Row(i) {
			sum += math.Exp(v)
		}
		return math.Log(sum) - z.Row(i)[m.y[i]]
	}
	of := func(rows []int) (out []float64) {
		for _, i := range rows {
			out = append(out, loss(i))
		}
		return out
	}
	r := audited(t, dir)
	auc, err := stats.DeLong(negated(of(forget)), negated(of(heldOut)), 0.95)
	must(t, err)
	if got := r.verdict(t, "loss").Reading.Estimate; math.Abs(got.Value-auc.Value) > 1e-12 || math.Abs(got.Low-auc.Low) > 1e-9 || *got.Null != 0.5 || got.N != 100 {
		t.Errorf("loss %v, want %v", got, auc)
	}
	want, err := attack.LossThreshold{}.Run(attack.Losses{Retained: of(retain), Forgotten: of(forget), HeldOut: of(heldOut)})
	must(t, err)
	if got := r.verdict(t, "loss threshold").Reading; got.Value != want.BalancedAccuracy.Value || got.Floor != want.Chance {
		t.Errorf("loss threshold %v, want %v", got.Estimate, want.BalancedAccuracy)
	}
	right := 0.0
	for _, i := range forget {
		if slices.Index(z.Row(i), slices.Max(z.Row(i))) == m.y[i] {
			right++
		}
	}
	if got := share(r.Evidence.Of(Unlearned)[0].Correct, forget); got != right/40 {
		t.Errorf("%v are right, want %v", got, right/40)
	}
}

func negated(x []float64) []float64 {
	for i := range x {
		x[i] = -x[i]
	}
	return x
}

// Probabilities, logits, other types, masks in place of rows and parts of files are the
// same evidence.
func TestOtherFormsOfTheSameEvidence(t *testing.T) {
	m := newMade(5, 40, 90, 60)
	dir := t.TempDir()
	m.write(t, dir, m.all, 0)
	want := audited(t, dir)
	d := damaged{t, t.TempDir(), m}
	must(t, os.CopyFS(d.dir, os.DirFS(dir)))
	forget, retain, _ := m.sets()
	mask := make([]bool, len(m.y))
	for _, i := range forget {
		mask[i] = true
	}
	d.remove("forget.npy")
	d.mask("forgotten.npy", mask)
	d.remove("heldout.npy")
	d.edit("original/outputs.npy", func(z array.Matrix[float64]) {
		for i := range z.Rows {
			sum := 0.0
			for _, v := range z.Row(i) {
				sum += math.Exp(v)
			}
			for j, v := range z.Row(i) {
				z.Row(i)[j] = math.Exp(v) / sum
			}
		}
	})
	for _, name := range []string{"outputs", "embedding"} {
		x, err := npy.ReadMatrix(d.path("unlearned/" + name + ".npy"))
		must(t, err)
		top, bottom := make([]int, 70), make([]int, x.Rows-70)
		for i := range top {
			top[i] = i
		}
		for i := range bottom {
			bottom[i] = 70 + i
		}
		d.matrix("parts/"+name+"_train.npy", x.Gather(top))
		d.matrix("parts/"+name+"_test.npy", x.Gather(bottom))
	}
	d.remove("unlearned")
	d.rows("labels_train.npy", m.y[:100])
	d.rows("labels_test.npy", m.y[100:])
	d.remove("labels.npy")
	d.rows("retain.npy", retain)
	d.raw("audit.json", `{"question": "Is customer 17 gone?", "forget": "forgotten.npy", "heldout": "rest",
		"labels": ["labels_train.npy", "labels_test.npy"],
		"unlearned": {"outputs": ["parts/outputs_train.npy", "parts/outputs_test.npy"], "embedding": ["parts/embedding_train.npy", "parts/embedding_test.npy"]}}`)
	got := audited(t, d.dir)
	if len(got.Verdicts) != len(want.Verdicts) || got.Evidence.question() != "Is customer 17 gone?" {
		t.Fatalf("%d verdicts, %+v", len(got.Verdicts), got.Undone)
	}
	for k, v := range want.Verdicts {
		g := got.Verdicts[k]
		if g.Name() != v.Name() || g.Call != v.Call || math.Abs(g.Reading.Value-v.Reading.Value) > 1e-9 || math.Abs(g.Original.Value-v.Original.Value) > 1e-6 {
			t.Errorf("%s: %s %v, original %v, want %s %v, %v", g.Name(), g.Call, g.Reading.Value, g.Original.Value, v.Call, v.Reading.Value, v.Original.Value)
		}
	}
}

func TestWhatIsNotThereIsNamed(t *testing.T) {
	m := newMade(6, 60, 200, 200)
	full := t.TempDir()
	m.write(t, full, m.all, 8)
	for _, c := range []struct {
		remove []string
		judged map[string]audit.Call // some of the verdicts
		undone map[string]string     // and what others need
		settle string
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
			"loss": "needs outputs.npy (and labels.npy), or losses.npy of the unlearned model", "modified entropy": "needs outputs.npy (and labels.npy)"}, ""},
		{[]string{"unlearned/embedding.npy"}, map[string]audit.Call{"loss": audit.Remembered}, map[string]string{"neighbours": "needs embedding.npy of the unlearned model"}, ""},
		{[]string{"shadow-aa", "shadow-ab", "shadow-ac", "shadow-ad", "shadow-ae", "shadow-af", "shadow-ag"}, nil, map[string]string{
			"lira": "needs 4 shadow models with outputs.npy (and labels.npy), or losses.npy (there is one)"}, ""},
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
		for name, why := range c.undone {
			k := slices.IndexFunc(r.Undone, func(u Undone) bool { return u.Name() == name })
			if k < 0 || !strings.Contains(r.Undone[k].Why, why) {
				t.Errorf("without %v: %s is not said to need %q: %+v", c.remove, name, why, r.Undone)
			}
		}
		if !strings.Contains(strings.Join(r.Settle(), "\n"), c.settle) {
			t.Errorf("without %v: settle %q", c.remove, r.Settle())
		}
		if len(r.Verdicts)+len(r.Undone) != len(All()) {
			t.Errorf("without %v: %d verdicts and %d not made, of %d", c.remove, len(r.Verdicts), len(r.Undone), len(All()))
		}
		if _, err := r.Page(); err != nil {
			t.Errorf("without %v: %v", c.remove, err)
		}
	}
}

// Named activations are judged like the embedding, each by itself.
func TestEveryLayerGetsItsVerdict(t *testing.T) {
	m := newMade(7, 60, 200, 100)
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
	k := slices.IndexFunc(r.Undone, func(u Undone) bool { return u.Name() == "movement at conv1" })
	if k < 0 || !strings.Contains(r.Undone[k].Why, "activations/conv1.npy (there is none)") {
		t.Errorf("%+v", r.Undone)
	}
}

func TestSeveralModelsOfARole(t *testing.T) {
	m := newMade(8, 60, 200, 100)
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
		if len(v.Retrained) != 2 || v.Memory() != (v.Reading.Model == "unlearned") {
			t.Errorf("%s of %s: %s beside %d retrained models", v.Name(), v.Reading.Model, v.Call, len(v.Retrained))
		}
		ref := v.reference()
		if a, b := v.Retrained[0], v.Retrained[1]; ref.Value != (a.Value+b.Value)/2 || ref.Low != min(a.Low, b.Low) || ref.High != max(a.High, b.High) {
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
	m := newMade(9, 60, 200, 100)
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
	m := newMade(9, 20, 50, 30)
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

// What is said to be seen in four audits of five is: losses are shifted until their AUC is
// off one half by as much.
func TestThePowerIsWhatItSays(t *testing.T) {
	const trials = 2000
	rng := rand.New(rand.NewPCG(1, 5))
	for _, n := range [][2]int{{30, 100}, {60, 60}, {200, 300}} {
		floor := stats.ChanceFloor(n[0], n[1])
		null := 0.5
		reading := audit.Reading{Estimate: stats.Estimate{Value: 0.5, Low: 0.4, High: 0.6, Null: &null}, Floor: stats.Floor{P95: floor.P95 / 2}}
		smallest, _ := power(reading, &audit.Reading{Estimate: stats.Estimate{Value: 0.5, Low: 0.5, High: 0.5}}, ByNull)
		shift := math.Sqrt2 * quantile(0.5+smallest) // of two normal laws with that AUC
		seen := 0
		for range trials {
			a, b := make([]float64, n[0]), make([]float64, n[1])
			for i := range a {
				a[i] = shift + rng.NormFloat64()
			}
			for i := range b {
				b[i] = rng.NormFloat64()
			}
			e, err := stats.DeLong(a, b, 0.95)
			must(t, err)
			if e.Low > 0.5 {
				seen++
			}
		}
		if p := float64(seen) / trials; p < 0.75 || p > 0.88 {
			t.Errorf("%v records: a distance of %.3f is seen in %.3f of the audits", n, smallest, p)
		}
	}
}

// quantile of the normal law, by bisection.
func quantile(p float64) float64 {
	low, high := -9.0, 9.0
	for range 80 {
		if mid := (low + high) / 2; math.Erfc(-mid/math.Sqrt2)/2 < p {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// A model that was retrained is called anything but forgotten, or undecided, in few cases.
func TestARetrainedModelIsSeldomAccused(t *testing.T) {
	const trials = 60
	accused := map[string]int{}
	quick := []Judgement{Loss{}, Threshold{}, Entropy{}, Neighbours{}}
	for k := range trials {
		m := newMade(uint64(100+k), 40, 80, 120)
		dir := t.TempDir()
		m.write(t, dir, m.retained, 0)
		e, err := Open(dir)
		must(t, err)
		for _, retrained := range []bool{true, false} {
			if !retrained {
				e.Models = slices.DeleteFunc(e.Models, func(m *Model) bool { return m.Role == Retrained })
			}
			r, err := e.ReportBy(t.Context(), quick...)
			must(t, err)
			for _, v := range r.Verdicts {
				if v.Memory() || v.Call == audit.Beyond {
					accused[v.Name()+" by the "+string(v.Reference)]++
				}
			}
		}
	}
	for name, n := range accused {
		if limit := 0.05 + 3*math.Sqrt(0.05*0.95/trials); float64(n)/trials > limit {
			t.Errorf("%s: %d of %d retrained models are accused", name, n, trials)
		}
	}
}

// The manual's audit.json is one.
func TestTheManualsConfigReads(t *testing.T) {
	b, err := os.ReadFile("../../../MANUAL.md")
	must(t, err)
	_, rest, _ := strings.Cut(string(b), "```json\n{\n  \"question\"")
	text, _, found := strings.Cut(rest, "```")
	var c Config
	if err := strict([]byte("{\"question\""+text), &c); !found || err != nil || len(c.Unlearned) != 1 || len(c.Labels) != 2 || c.HeldOut[0] != Rest {
		t.Errorf("%v, %+v", err, c)
	}
}

// What the lab knows of a case is what an audit finds in the folder that it writes.
func TestAnExportedCaseIsJudgedAsTheLabDoes(t *testing.T) {
	engine, store := enginetest.WithStore(t)
	c, err := audit.Open(t.Context(), &lab.Lab{Engine: engine, Store: store}, lab.Setting{DataSet: "moons_island", Planted: "island", Fit: train.Config{Epochs: 30, Optimizer: nn.Adam{LR: 5e-3}}})
	must(t, err)
	models, err := c.Controls(t.Context())
	must(t, err)
	dir := t.TempDir()
	must(t, Export(dir, c, c.Original, c.Oracle, models[2]))
	r := audited(t, dir)
	readings, err := c.Readings(c.Original, c.Oracle)
	must(t, err)
	v := r.verdict(t, "neighbours")
	if want := readings[2]; v.Original.Value != want.Value || v.Original.Low != want.Low || v.Retrained[0].Value != readings[5].Value {
		t.Errorf("neighbours %v and %v, the lab has %v and %v", v.Original.Estimate, v.Retrained[0].Estimate, want.Estimate, readings[5].Estimate)
	}
	if v := r.verdict(t, "against the retrained"); v.Original.Value != readings[1].Value {
		t.Errorf("against the retrained %v, the lab has %v", v.Original.Estimate, readings[1].Estimate)
	}
	losses, err := c.Losses(c.Original)
	must(t, err)
	for k, i := range r.Evidence.Forget {
		if got := r.Evidence.Of(Original)[0].Losses[i]; math.Abs(got-losses.Forgotten[k]) > 1e-5 {
			t.Fatalf("record %d: loss %v, the lab has %v", i, got, losses.Forgotten[k])
		}
	}
	parts := r.Parts()
	if _, text := parts[0].(string); !text || len(parts) < 3 {
		t.Errorf("%d parts for a notebook", len(parts))
	}
}

// The calls that package audit does not make, and the one that it makes otherwise.
func TestVerdictsBesideThoseOfTheLab(t *testing.T) {
	at := func(value float64) *audit.Reading {
		null := 0.5
		return &audit.Reading{Memory: audit.Above, Estimate: stats.Estimate{Value: value, Low: value - 0.1, High: value + 0.1, Null: &null}}
	}
	for _, c := range []struct {
		j                   Judgement
		m, original, oracle *audit.Reading
		want                audit.Call
		by                  Reference
	}{
		{Loss{}, at(0.8), at(0.8), at(0.5), audit.Remembered, ByRetrained},
		{Loss{}, at(0.52), at(0.8), nil, audit.Forgotten, ByNull},
		{Loss{}, at(0.52), nil, nil, Unseen, ByNull},
		{Loss{}, at(0.8), nil, at(0.5), audit.Remembered, ByRetrained},
		{Loss{}, at(0.2), nil, nil, audit.Beyond, ByNull},
		{Loss{}, at(0.2), at(0.52), nil, audit.Beyond, ByNull},
		{Loss{}, at(0.8), at(0.52), nil, audit.Remembered, ByNull},
		{Loss{}, at(0.52), at(0.52), nil, audit.Blind, ByNull},
		{Loss{}, at(0.2), at(0.2), at(0.5), audit.Remembered, ByRetrained},
		{Neighbours{}, at(0.8), at(0.8), nil, Unmoved, ByNobody},
		{Neighbours{}, at(0.5), at(0.8), nil, Moved, ByNobody},
		{Neighbours{}, at(0.5), nil, nil, Unplaced, ByNobody},
		{Movement{}, at(0.2), at(0.2), at(0.5), audit.Blind, ByRetrained},
		// Their intervals overlap, and their difference is more than chance makes.
		{Loss{}, at(0.66), at(0.9), at(0.5), audit.Between, ByRetrained},
	} {
		v := Verdict{Judgement: c.j, Reading: *c.m, Original: c.original}
		if c.oracle != nil {
			v.Retrained = []audit.Reading{*c.oracle}
		}
		v.place()
		if v.Call != c.want || v.Reference != c.by || len(v.Says()) < 20 {
			t.Errorf("%s at %v beside %v and %v: %s by the %s (%s), want %s by the %s", c.j.Name(), c.m.Value, c.original, c.oracle, v.Call, v.Reference,
				v.Says(), c.want, c.by)
		}
	}
	v := Verdict{Judgement: Loss{}, Reading: audit.Reading{Estimate: stats.Estimate{Value: 1, Low: math.NaN(), High: math.NaN()}}}
	if v.place(); v.Call != Unplaced || !math.IsNaN(v.Smallest) {
		t.Errorf("without an interval: %s, %v", v.Call, v.Smallest)
	}
}

// Sets of a record or two make judgements that cannot be made, or say little, and no panic.
func TestTinyFoldersAreJudgedOrSayWhyNot(t *testing.T) {
	for _, n := range [][3]int{{1, 1, 1}, {1, 2, 4}, {2, 1, 5}, {3, 3, 3}, {5, 1, 1}} {
		m := newMade(11, n[0], n[1], n[2])
		dir := t.TempDir()
		m.write(t, dir, m.all, 5)
		r := audited(t, dir)
		if len(r.Verdicts)+len(r.Undone) != len(All()) {
			t.Errorf("%v: %d verdicts and %d not made", n, len(r.Verdicts), len(r.Undone))
		}
		for _, u := range r.Undone {
			if u.Why == "" {
				t.Errorf("%v: %s does not say why not", n, u.Name())
			}
		}
		must(t, r.Write(filepath.Join(dir, "report")))
	}
}

// A model of losses alone, without classes, is judged by what needs no more.
func TestLossesAreEnough(t *testing.T) {
	m := newMade(12, 60, 200, 150)
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
	m := newMade(13, 20, 50, 30)
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
