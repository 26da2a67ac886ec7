package judge

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/stats"
)

// copyOf writes the outputs of a model as those of another, each value changed.
func copyOf(t *testing.T, dir, from, to string, change func(v float32) float64) {
	t.Helper()
	x, err := npy.ReadMatrix(filepath.Join(dir, from, "outputs.npy"))
	must(t, err)
	out := array.New[float64](x.Rows, x.Cols)
	for i, v := range x.Data {
		out.Data[i] = change(float32(v))
	}
	must(t, os.MkdirAll(filepath.Join(dir, to), 0o755))
	must(t, npy.Write(filepath.Join(dir, to, "outputs.npy"), out))
}

// halved is a value in half precision.
func halved(v float32) float64 {
	unit := math.Exp2(math.Floor(math.Log2(math.Abs(float64(v)))) - 10)
	return math.Round(float64(v)/unit) * unit
}

// A copy of a retrained model changes no verdict, whatever its type: it is left out, and said to be.
func TestACopyOfARetrainedModelIsLeftOut(t *testing.T) {
	m := newFixture(71, 60, 120, 120)
	dir := t.TempDir()
	m.write(t, dir, m.all, 0)
	must(t, os.RemoveAll(filepath.Join(dir, "retrained-2")))
	for _, model := range []string{"original", "retrained", "unlearned"} {
		must(t, os.Remove(filepath.Join(dir, model, "embedding.npy")))
	}
	alone := audited(t, dir)
	for name, change := range map[string]func(float32) float64{
		"float64": func(v float32) float64 { return float64(v) }, "rounded": func(v float32) float64 { return float64(v) * (1 + 3e-8) }, "half": halved,
	} {
		copyOf(t, dir, "retrained", "retrained-2", change)
		r := audited(t, dir)
		if len(r.Evidence.ModelsOf(Retrained)) != 1 || !slices.ContainsFunc(r.Evidence.Notes, func(s string) bool {
			return strings.HasPrefix(s, "retrained-2 has the losses of retrained: it is left out")
		}) {
			t.Errorf("%s: %d retrained models, %q", name, len(r.Evidence.ModelsOf(Retrained)), r.Evidence.Notes)
		}
		for k, v := range r.Verdicts {
			if w := alone.Verdicts[k]; v.Call != w.Call || v.reference().Low != w.reference().Low || v.reference().High != w.reference().High {
				t.Errorf("%s: %s is %s beside %v, without the copy %s beside %v", name, v.Name(), v.Call, v.reference().Estimate, w.Call, w.reference().Estimate)
			}
		}
	}
}

// A model is no shadow of itself, and another seed is no copy.
func TestAShadowThatIsTheModelIsLeftOut(t *testing.T) {
	m := newFixture(72, 60, 120, 120)
	dir := t.TempDir()
	m.write(t, dir, m.retained, 6)
	shadows := func() (n int, notes string) {
		e, err := Open(dir)
		must(t, err)
		return len(e.ModelsOf(Shadow)), strings.Join(e.Notes, "\n")
	}
	if n, notes := shadows(); n != 6 || strings.Contains(notes, "left out") {
		t.Fatalf("%d shadow models: %s", n, notes)
	}
	for _, from := range []string{"unlearned", "original", "shadow-ab"} {
		copyOf(t, dir, from, "shadow-aa", func(v float32) float64 { return float64(v) })
		if n, notes := shadows(); n != 5 || strings.Count(notes, "left out") != 1 || !strings.Contains(notes, " has the losses of ") {
			t.Errorf("%s as a shadow: %d shadow models: %s", from, n, notes)
		}
	}
}

// Losses of which one in five is another are not those of one model, nor are few, nor such that are all alike.
func TestWhatACopyIs(t *testing.T) {
	losses := func(n int, of func(i int) float64) *Model {
		m := &Model{}
		for i := range n {
			m.Losses = append(m.Losses, of(i))
		}
		return m
	}
	rising := func(i int) float64 { return 0.1 * float64(i+1) }
	fifth := func(i int) float64 {
		if i%5 == 0 {
			return 1.01 * rising(i)
		}
		return rising(i)
	}
	vanishing := func(factor float64) func(i int) float64 {
		return func(i int) float64 {
			if i >= 40 {
				return 0
			}
			return factor * rising(i)
		}
	}
	for name, c := range map[string]struct {
		a, b *Model
		want bool
	}{
		"the same":  {losses(20, rising), losses(20, rising), true},
		"rounded":   {losses(20, rising), losses(20, func(i int) float64 { return 1.004 * rising(i) }), true},
		"few":       {losses(19, rising), losses(19, rising), false},
		"another":   {losses(20, rising), losses(20, func(i int) float64 { return 1.006 * rising(i) }), false},
		"in part":   {losses(20, rising), losses(20, fifth), false},
		"all alike": {losses(20, func(int) float64 { return 1 }), losses(20, func(int) float64 { return 1 }), false},
		"none":      {&Model{}, &Model{}, false},
		// Two models that fit most records perfectly, and differ in the others.
		"perfect": {losses(400, vanishing(1)), losses(400, vanishing(1.5)), false},
		"a copy":  {losses(400, vanishing(1)), losses(400, vanishing(1)), true},
		"classes": {losses(400, func(i int) float64 { return float64(i % 3) }), losses(400, func(i int) float64 { return float64(i % 3) }), false},
	} {
		if _, got := sameModel(c.a, c.b); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Rows in another order look pushed away: neither that nor anything else is said of them but a memory.
func TestADoubtWithholdsPushedAway(t *testing.T) {
	calls := func(calls ...audit.Call) (out []Verdict) {
		for k, c := range calls {
			lens := []Lens{audit.Loss{}, audit.Neighbours{}, audit.LiRA{}}[k]
			out = append(out, Verdict{Lens: lens, Call: c})
		}
		return out
	}
	for _, c := range []struct {
		verdicts []Verdict
		want     Answer
	}{
		{calls(audit.Beyond), Doubtful},
		{calls(audit.Forgotten), Doubtful},
		{calls(audit.Beyond, audit.Forgotten), Doubtful},
		{calls(audit.Remembered), StillRemembered},
		{calls(audit.Remembered, audit.Beyond), StillRemembered},
		{calls(audit.Between, audit.Beyond), SomeMemory},
		{calls(audit.Between, audit.Beyond, audit.Forgotten), Disagree},
	} {
		if got := doubted(answerOf(c.verdicts), c.verdicts); got != c.want {
			t.Errorf("%v: %s, want %s", c.verdicts, got, c.want)
		}
	}
	h := Headline{Model: "unlearned", Answer: StillRemembered, Doubt: "it is odd"}
	if s := h.String(); !strings.Contains(s, "still remembered") || !strings.Contains(s, "But it is odd.") {
		t.Error(s)
	}
}

// Percentages that were rounded to whole numbers are no logits.
func TestWholePercentagesAreRefused(t *testing.T) {
	m := newFixture(73, 60, 120, 120)
	dir := t.TempDir()
	m.write(t, dir, m.all, 0)
	path := filepath.Join(dir, "unlearned", "outputs.npy")
	z, err := npy.ReadMatrix(path)
	must(t, err)
	x := array.New[float64](z.Rows, z.Cols)
	for i := range z.Rows {
		sum := 0.0
		for _, v := range z.Row(i) {
			sum += math.Exp(float64(v))
		}
		for c, v := range z.Row(i) {
			x.Row(i)[c] = math.Round(100 * math.Exp(float64(v)) / sum)
		}
	}
	must(t, npy.Write(path, x))
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "unlearned/outputs.npy: every row is of whole percentages") {
		t.Error(err)
	}
}

// The interval of a share that is shown ends at 0 and 1, and the verdict knows nothing of it.
func TestAShownReferenceEndsAtTheBounds(t *testing.T) {
	r := audit.Reading{Estimate: stats.Estimate{Value: 0.02, Low: 0.01, High: 0.03, Level: 0.95, Over: "records"}}
	v := Verdict{Lens: audit.Probability{}, Reading: r, Reference: RetrainedReference, Retrained: []audit.Reading{r}}
	if wide, shown := v.reference(), v.shownReference(); wide.Low >= 0 || shown.Low != 0 || shown.High != wide.High || shown.Value != 0.02 {
		t.Errorf("%v is shown as %v", wide.Estimate, shown.Estimate)
	}
}

// Who accuses a model says that records are taken as independent, where no file says which belong together.
func TestAnAccusationWithoutGroupsSaysSo(t *testing.T) {
	m := newFixture(74, 60, 120, 120)
	dir := t.TempDir()
	says := func() bool {
		return strings.Contains(audited(t, dir).beware("unlearned"), "No group.npy says which records belong together")
	}
	m.write(t, dir, m.retained, 0)
	if says() {
		t.Error("of a model that forgot")
	}
	m.write(t, dir, m.all, 0)
	if !says() {
		t.Error("not of a model that remembers")
	}
	own := make([]int, len(m.y))
	for i := range own {
		own[i] = i
	}
	must(t, npy.WriteIndices(filepath.Join(dir, "group.npy"), own))
	if says() {
		t.Error("although there is one")
	}
}
