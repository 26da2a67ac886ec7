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
	"github.com/lethe-ml/lethe/lib/stats"
)

// way writes models on whose path a forgotten record keeps so much of what training
// added to its margin; the last is the unlearned model.
func (m *fixture) way(t testing.TB, dir string, left ...float64) {
	t.Helper()
	m.write(t, dir, m.all, 0)
	for k, share := range left {
		folder := filepath.Join(dir, fmt.Sprintf("checkpoint-%d", k+1))
		if k == len(left)-1 {
			folder = filepath.Join(dir, "unlearned")
		}
		z, e := m.trained(m.retained)
		for i := range m.forget {
			z.Row(i)[m.y[i]] += float32(share * m.memory)
		}
		must(t, os.MkdirAll(folder, 0o755))
		must(t, npy.Write(filepath.Join(folder, "outputs.npy"), z))
		must(t, npy.Write(filepath.Join(folder, "embedding.npy"), e))
	}
}

// curve returns the learning curve of a quantity.
func (t *Trajectory) curve(test testing.TB, name string) Curve {
	test.Helper()
	k := slices.IndexFunc(t.Curves, func(c Curve) bool { return c.Name() == name })
	if k < 0 {
		test.Fatalf("%s was not followed: %+v", name, t.Skipped)
	}
	return t.Curves[k]
}

func (c Curve) calls() (out []audit.Call) {
	for _, v := range c.Steps {
		out = append(out, v.Call)
	}
	return out
}

func follow(t testing.TB, dir string) *Trajectory {
	t.Helper()
	e, err := Open(dir)
	must(t, err)
	along, err := e.Trajectory(t.Context())
	must(t, err)
	return along
}

// A planted path is read as it was planted: remembered, between, forgotten, pushed
// beyond, and at last remembered again.
func TestAPlantedPathIsRead(t *testing.T) {
	m := newFixture(21, 300, 400, 1200)
	dir := t.TempDir()
	m.way(t, dir, 1, 0.5, 0, -1.5, 1)
	along := follow(t, dir)
	for name, half := range map[string]audit.Call{
		"loss": audit.Between, "loss of forgotten": audit.Between, "right on forgotten": audit.Unclear, // shares are coarse, and every seed moves them
	} {
		want := []audit.Call{audit.Remembered, audit.Remembered, half, audit.Forgotten, audit.Beyond, audit.Remembered}
		if got := along.curve(t, name).calls(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for _, text := range along.Sentences() {
		for _, word := range []string{"the first step without visible memory is checkpoint-3 (", "Pushed beyond the retrained model at checkpoint-4.", "The forgetting is reversed: ", "at checkpoint-4, and"} {
			if !strings.Contains(text, word) {
				t.Errorf("%q does not say %q", text, word)
			}
		}
	}
	if n := len(along.Sentences()); n != 3 {
		t.Errorf("%d sentences, want one of each quantity about memory", n)
	}
	var steps []string
	for _, s := range along.Steps {
		steps = append(steps, s.Name)
	}
	if want := []string{"original", "checkpoint-1", "checkpoint-2", "checkpoint-3", "checkpoint-4", "unlearned"}; !slices.Equal(steps, want) {
		t.Errorf("steps %v", steps)
	}
	// Kept and held-out records were not touched.
	for _, name := range []string{"right on retained", "right on held-out", "loss of retained", "loss of held-out"} {
		c := along.curve(t, name)
		if !c.Cost || c.Lens.Name() != name {
			t.Errorf("%s is no cost", name)
		}
		for _, v := range c.Steps {
			if !audit.Alike(v.Reading, *c.reference()) {
				t.Errorf("%s moves: %v", name, v.Reading.Estimate)
			}
		}
	}
}

// The numbers are those of plain definitions.
func TestQuantitiesAreTheirDefinitions(t *testing.T) {
	m := newFixture(22, 40, 90, 60)
	dir := t.TempDir()
	m.way(t, dir, 0.5, 0)
	along := follow(t, dir)
	z, err := npy.ReadMatrix(filepath.Join(dir, "checkpoint-1", "outputs.npy"))
	must(t, err)
	forget, retain, heldOut := m.sets()
	for name, rows := range map[string][]int{"forgotten": forget, "retained": retain, "held-out": heldOut} {
		right, losses := 0.0, []float64{}
		for _, i := range rows {
			sum := 0.0
			for _, v := range z.Row(i) {
				sum += math.Exp(v)
			}
			losses = append(losses, math.Log(sum)-z.Row(i)[m.y[i]])
			if slices.Index(z.Row(i), slices.Max(z.Row(i))) == m.y[i] {
				right++
			}
		}
		w := stats.Wilson(right/float64(len(rows)), len(rows), 0.95)
		if got := along.curve(t, "right on "+name).Steps[1].Reading; got.Value != w.Value || got.Low != w.Low || got.High != w.High || got.N != len(rows) {
			t.Errorf("right on %s: %v, want %v", name, got.Estimate, w)
		}
		s := stats.PositiveMean(losses, 0.95, "records")
		if got := along.curve(t, "loss of "+name).Steps[1].Reading; math.Abs(got.Value-s.Value) > 1e-9 || math.Abs(got.Low-s.Low) > 1e-9 || got.Null != nil {
			t.Errorf("loss of %s: %v, want %v", name, got.Estimate, s)
		}
	}
}

// Who exchanges sets, or the order of checkpoints, gets another story.
func TestAnExchangedPathIsAnother(t *testing.T) {
	m := newFixture(23, 300, 400, 1200)
	straight := t.TempDir()
	m.way(t, straight, 1, 0.5, 0, 0)
	swapped := func(a, b string) *Trajectory {
		d := damaged{t, t.TempDir(), m}
		must(t, os.CopyFS(d.dir, os.DirFS(straight)))
		d.rename(a, "aside")
		d.rename(b, a)
		d.rename("aside", b)
		return follow(t, d.dir)
	}
	before := follow(t, straight)
	if text := before.Sentences()[0]; !strings.Contains(text, "the first step without visible memory is checkpoint-3 (") || strings.Contains(text, "reversed") {
		t.Errorf("straight: %s", text)
	}
	if text := swapped("checkpoint-1", "checkpoint-3").Sentences()[0]; !strings.Contains(text, "the first step without visible memory is checkpoint-1 (") {
		t.Errorf("the first and the third checkpoint exchanged: %s", text)
	}
	if text := swapped("checkpoint-1", "unlearned").Sentences()[0]; !strings.Contains(text, "reversed") {
		t.Errorf("the first checkpoint and the end exchanged: %s", text)
	}
	turned := swapped("forget.npy", "heldout.npy").curve(t, "loss")
	for k, v := range before.curve(t, "loss").Steps {
		if got := turned.Steps[k].Reading.Value; math.Abs(got-(1-v.Reading.Value)) > 1e-12 {
			t.Errorf("step %d: AUC %v after %v", k, got, v.Reading.Value)
		}
	}
	if a, b := before.curve(t, "right on retained"), swapped("retain.npy", "heldout.npy").curve(t, "right on held-out"); a.Steps[1].Reading.Value != b.Steps[1].Reading.Value {
		t.Error("retained and held-out records exchanged change nothing")
	}
}

// Where nothing is unlearned nothing is reported as forgotten; what never had the records
// shows no memory at any step but the original.
func TestThePathOfNothing(t *testing.T) {
	for seed := range uint64(3) {
		m := newFixture(30+seed, 200, 300, 800)
		still, never := t.TempDir(), t.TempDir()
		m.way(t, still, 1, 1, 1)
		m.way(t, never, 0, 0, 0)
		if text := follow(t, still).Sentences()[0]; !strings.Contains(text, "not forgotten at any step") {
			t.Errorf("seed %d, nothing unlearned: %s", seed, text)
		}
		c := follow(t, never).curve(t, "loss")
		for _, v := range c.Steps[1:] {
			if stateOfStep(v) != stepForgotten {
				t.Errorf("seed %d, models that never had the records: %v", seed, c.calls())
			}
		}
	}
}

func TestWhatCannotBeFollowedIsNamed(t *testing.T) {
	m := newFixture(24, 60, 100, 100)
	full := t.TempDir()
	m.way(t, full, 0.5, 0.2, 0)
	for _, c := range []struct {
		remove   []string
		followed []string
		why      string
	}{
		{nil, []string{"loss", "right on forgotten", "loss of held-out"}, ""},
		{[]string{"heldout.npy"}, []string{"right on forgotten", "loss of retained"}, "loss: needs heldout.npy"},
		{[]string{"labels.npy"}, nil, "right on forgotten: needs outputs.npy (and labels.npy)"},
		{[]string{"checkpoint-1/outputs.npy", "checkpoint-2/outputs.npy"}, nil, "loss: needs checkpoints with outputs.npy"},
		{[]string{"checkpoint-1/outputs.npy"}, []string{"loss"}, ""},
		{[]string{"original", "retrained", "retrained-2"}, []string{"loss"}, ""},
	} {
		d := damaged{t, t.TempDir(), m}
		must(t, os.CopyFS(d.dir, os.DirFS(full)))
		for _, name := range c.remove {
			d.remove(name)
		}
		r := audited(t, d.dir)
		for _, name := range c.followed {
			r.Trajectory.curve(t, name)
		}
		why := ""
		for _, u := range r.Trajectory.Skipped {
			why += u.Name() + ": " + u.Why + "\n"
		}
		if !strings.Contains(why, c.why) || len(r.Trajectory.Curves)+len(r.Trajectory.Skipped) != len(TrackedLenses()) {
			t.Errorf("without %v: %q, want %q", c.remove, why, c.why)
		}
		var b bytes.Buffer
		must(t, r.JSON(&b))
		var out struct {
			Trajectory struct {
				Courses []struct{ Steps []any } `json:"courses"`
			} `json:"trajectory"`
		}
		must(t, json.Unmarshal(b.Bytes(), &out))
		for _, one := range out.Trajectory.Courses {
			if len(one.Steps) != len(r.Trajectory.Steps) {
				t.Errorf("without %v: %d steps in JSON, want %d", c.remove, len(one.Steps), len(r.Trajectory.Steps))
			}
		}
		page, err := r.Page()
		must(t, err)
		b.Reset()
		must(t, page.Markdown(&b))
		if !strings.Contains(b.String(), "Along unlearning") {
			t.Errorf("without %v: the page does not show the checkpoints", c.remove)
		}
	}
}

// Without checkpoints they are not mentioned; of two unlearned models it is not known
// to which they lead.
func TestCheckpointsLeadToOneModel(t *testing.T) {
	m := newFixture(25, 40, 60, 60)
	dir := t.TempDir()
	m.write(t, dir, m.all, 0)
	if r := audited(t, dir); r.Trajectory != nil || !strings.Contains(strings.Join(r.Suggestions(), "\n"), "checkpoint-1/") {
		t.Errorf("without checkpoints: %+v", r.Trajectory)
	}
	m.model(t, filepath.Join(dir, "unlearned-2"), m.all)
	m.model(t, filepath.Join(dir, "checkpoint-1"), m.all)
	r := audited(t, dir)
	if len(r.Trajectory.Curves) > 0 || !strings.Contains(r.Trajectory.Skipped[0].Why, "there are 2") {
		t.Errorf("two unlearned models: %+v", r.Trajectory)
	}
	if _, err := r.Page(); err != nil {
		t.Error(err)
	}
}

// The last checkpoint may be the unlearned model; two checkpoints that are the same are odd.
// A configuration gives checkpoints other places and an order.
func TestCheckpointsMayBeTheEnds(t *testing.T) {
	m := newFixture(26, 40, 60, 60)
	d := damaged{t, t.TempDir(), m}
	m.way(t, d.dir, 0.5, 0)
	must(t, os.CopyFS(d.path("checkpoint-2"), os.DirFS(d.path("unlearned"))))
	e, err := Open(d.dir)
	must(t, err)
	if notes := strings.Join(e.Notes, "\n"); strings.Contains(notes, "byte for byte") {
		t.Errorf("the last checkpoint is the unlearned model, and noted is %q", notes)
	}
	must(t, os.CopyFS(d.path("checkpoint-3"), os.DirFS(d.path("checkpoint-1"))))
	e, err = Open(d.dir)
	must(t, err)
	if notes := strings.Join(e.Notes, "\n"); !strings.Contains(notes, "checkpoint-3/outputs.npy is byte for byte checkpoint-1/outputs.npy") {
		t.Errorf("noted is %q", notes)
	}
	d.raw("audit.json", `{"checkpoints": [{"name": "epoch 5", "outputs": "checkpoint-2/outputs.npy"}, {"outputs": "checkpoint-1/outputs.npy"}]}`)
	along := follow(t, d.dir)
	if len(along.Steps) != 4 || along.Steps[1].Name != "epoch 5" || along.Steps[2].Name != "checkpoint-2" {
		t.Errorf("steps %v", along.Steps)
	}
}

// The sentences about a trajectory follow from its verdicts: here readings of an AUC with halves
// of intervals of 0.04, beside a reference of 0.5.
func TestAPathInWords(t *testing.T) {
	reading := func(name string, v float64) audit.Reading {
		null := 0.5
		return audit.Reading{Model: name, Memory: audit.Above, Estimate: stats.Estimate{Value: v, Low: v - 0.04, High: v + 0.04, Null: &null}}
	}
	for _, c := range []struct {
		path  []float64 // of the original, the checkpoints and the unlearned model
		say   []string
		never string
	}{
		{[]float64{0.8, 0.8, 0.78}, []string{"not forgotten at any step; memory is seen at 0, 1, 2."}, "first"},
		{[]float64{0.8, 0.65, 0.51}, []string{"without visible memory is 2 (a distance of less than 0.08"}, "reversed"},
		{[]float64{0.8, 0.51, 0.3}, []string{"without visible memory is 1 ", "Pushed beyond the retrained model at 2, and so to the end."}, "reversed"},
		{[]float64{0.8, 0.3, 0.51}, []string{"Pushed beyond the retrained model at 1, and back at the end."}, "reversed"},
		{[]float64{0.8, 0.55, 0.57}, []string{"Memory is seen again at the end, at 0.570 after 0.550 at 1, which may be chance."}, "reversed"},
		{[]float64{0.8, 0.5, 0.3, 0.52, 0.7}, []string{"without visible memory is 1 ", "The forgetting is reversed: 0.300 at 2, and 0.700 at the end"}, "chance"},
		{[]float64{0.52, 0.51, 0.5}, []string{"cannot tell at any step"}, "first"},
	} {
		curve := Curve{Tracked: TrackedLenses()[0], Retrained: []audit.Reading{reading("retrained", 0.5)}}
		curve.Retrained[0].DrawnAlike, curve.Retrained[0].Contrast = true, true
		original := reading("0", c.path[0])
		for k, v := range c.path {
			step := &Verdict{Lens: audit.Loss{}, Reading: reading(fmt.Sprint(k), v), Original: &original, Retrained: curve.Retrained}
			step.place()
			curve.Steps = append(curve.Steps, step)
		}
		text := curve.sentences()
		for _, word := range c.say {
			if !strings.Contains(text, word) {
				t.Errorf("%v: %q does not say %q", c.path, text, word)
			}
		}
		if strings.Contains(text, c.never) {
			t.Errorf("%v: %q says %q", c.path, text, c.never)
		}
	}
}
