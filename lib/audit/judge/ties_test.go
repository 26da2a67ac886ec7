package judge

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/audit"
)

// corruptedReport returns the report on a folder in which the unlearned model is a retrained one, and
// one array is changed.
func corruptedReport(t *testing.T, m *fixture, full, file string, change func(x array.Matrix[float64])) *Report {
	t.Helper()
	d := damaged{t, t.TempDir(), m}
	must(t, os.CopyFS(d.dir, os.DirFS(full)))
	if file != "" {
		d.edit(file, change)
	}
	return audited(t, d.dir)
}

// softmax makes probabilities of logits, in float32 as frameworks save them.
func softmax(scale float64) func(x array.Matrix[float64]) {
	return func(x array.Matrix[float64]) {
		for i := range x.Rows {
			row, sum := x.Row(i), 0.0
			top := slices.Max(row)
			for j, v := range row {
				row[j] = float64(float32(math.Exp(float64(float32(scale * (v - top))))))
				sum += row[j]
			}
			for j := range row {
				row[j] = float64(float32(row[j] / sum))
			}
		}
	}
}

// as copies rows of earlier records, so that so many rows differ.
func as(distinct int) func(x array.Matrix[float64]) {
	return func(x array.Matrix[float64]) {
		for i := distinct; i < x.Rows; i++ {
			copy(x.Row(i), x.Row(i%distinct))
		}
	}
}

func constant(x array.Matrix[float64]) {
	for i := range x.Data {
		x.Data[i] = -1
	}
}

func everyThird(x array.Matrix[float64]) {
	for i := 3; i < x.Rows; i += 3 {
		copy(x.Row(i), x.Row(0))
	}
}

// float16 rounds to float16's eleven bits.
func float16(x array.Matrix[float64]) {
	for i, v := range x.Data {
		if v != 0 {
			unit := math.Exp2(math.Floor(math.Log2(math.Abs(v))) - 10)
			x.Data[i] = math.Round(v/unit) * unit
		}
	}
}

// asksForAThird reports whether a lens compares two retrained models with each other alone.
func asksForAThird(v Verdict) bool {
	return v.Name() == audit.AgainstRetrained{}.Name() && strings.Contains(v.Why, "a third one")
}

// Outputs that are the same for many records make no verdict of anything that is made of
// them, whichever model they are of; a few ties, or many by rounding, change none.
func TestCollapsedOutputsMakeNoVerdict(t *testing.T) {
	m := newFixture(41, 60, 150, 150)
	full := t.TempDir()
	m.write(t, full, m.retained, 10)
	before := corruptedReport(t, m, full, "", nil)
	ofOutputs := func(v Verdict) bool { return v.family() == audit.OutputFamily || v.family() == audit.CalibratedFamily }
	if n := len(before.Verdicts); n != len(audit.ArrayLenses()) {
		t.Fatalf("%d verdicts: %+v", n, before.Skipped)
	}
	for _, model := range []string{"unlearned", "original", "retrained-2"} {
		for name, c := range map[string]func(x array.Matrix[float64]){
			"one row": func(x array.Matrix[float64]) { x.Row(0)[0] = -1; as(1)(x) }, "two rows": as(2), "five rows": as(5), "nine rows": as(9), "saturated": softmax(200),
			"one number": constant,
			"one row of the forgotten": func(x array.Matrix[float64]) {
				for i := range m.forget {
					copy(x.Row(i), x.Row(0))
				}
			},
			"nine rows of ten": func(x array.Matrix[float64]) {
				for i := range x.Rows {
					if i%10 > 0 {
						copy(x.Row(i), x.Row(0))
					}
				}
			},
		} {
			r := corruptedReport(t, m, full, model+"/outputs.npy", c)
			for _, v := range r.Verdicts {
				if got := v.Call == audit.CannotTell; got != ofOutputs(v) && !asksForAThird(v) {
					t.Errorf("%s of %s: %s says %s: %v (%s)", name, model, v.Name(), v.Call, v.Reading.Estimate, v.Why)
				}
				if v.Call == audit.CannotTell && (v.Why == "" || !math.IsNaN(v.Smallest) || !strings.Contains(v.Text(), v.Why)) {
					t.Errorf("%s of %s: %s says why %q, smallest %v", name, model, v.Name(), v.Why, v.Smallest)
				}
			}
			if said := r.Answers()[0]; !strings.Contains(said, "cannot tell by outputs (") {
				t.Errorf("%s of %s: the answer is %s", name, model, said)
			}
		}
	}
	for name, c := range map[string]func(x array.Matrix[float64]){"float16": float16, "a third of the records": everyThird, "fifty rows": as(50), "probabilities": softmax(1)} {
		for _, v := range corruptedReport(t, m, full, "unlearned/outputs.npy", c).Verdicts {
			if v.Call == audit.CannotTell && !asksForAThird(v) {
				t.Errorf("%s: %s cannot tell: %s", name, v.Name(), v.Why)
			}
		}
	}
	for _, v := range corruptedReport(t, m, full, "unlearned/outputs.npy", float16).Verdicts {
		if was := before.verdict(t, v.Name()); v.Call != was.Call {
			t.Errorf("float16: %s says %s, was %s", v.Name(), v.Call, was.Call)
		}
	}
}

// Five embeddings of 200 records are nearest to copies of themselves, which is no memory.
func TestCollapsedEmbeddingsMakeNoVerdict(t *testing.T) {
	m := newFixture(42, 100, 200, 200)
	full := t.TempDir()
	m.write(t, full, m.retained, 0)
	ofEmbeddings := func(v Verdict) bool {
		return v.family() == audit.RepresentationFamily || v.family() == audit.SubsetFamily
	}
	for _, model := range []string{"unlearned", "original", "retrained"} {
		for name, c := range map[string]func(x array.Matrix[float64]){
			"one row": as(1), "five rows": as(5), "zeros": func(x array.Matrix[float64]) { clear(x.Data) },
			"one row of the forgotten": func(x array.Matrix[float64]) {
				for i := range m.forget {
					copy(x.Row(i), x.Row(0))
				}
			},
		} {
			for _, v := range corruptedReport(t, m, full, model+"/embedding.npy", c).Verdicts {
				if got := v.Call == audit.CannotTell; got != ofEmbeddings(v) {
					t.Errorf("%s of %s: %s says %s: %v (%s)", name, model, v.Name(), v.Call, v.Reading.Estimate, v.Why)
				}
			}
		}
	}
	// Thirty embeddings are still copies of each other: it is ties that decide neighbours.
	if v := corruptedReport(t, m, full, "unlearned/embedding.npy", as(30)).verdict(t, "neighbours"); v.Call != audit.CannotTell || !strings.Contains(v.Why, "ties") {
		t.Errorf("thirty rows: neighbours says %s (%s)", v.Call, v.Why)
	}
	// Copies of a tenth of the records, as tables have them, are read.
	few := func(x array.Matrix[float64]) {
		for i := 9; i < x.Rows; i += 10 {
			copy(x.Row(i), x.Row(i-1))
		}
	}
	for name, c := range map[string]func(x array.Matrix[float64]){"float16": float16, "a tenth": few} {
		for _, v := range corruptedReport(t, m, full, "unlearned/embedding.npy", c).Verdicts {
			if v.Call == audit.CannotTell && !asksForAThird(v) {
				t.Errorf("%s: %s cannot tell: %s", name, v.Name(), v.Why)
			}
		}
	}
}

// Shadow models that say the same of everybody calibrate nothing; one of eight may.
func TestCollapsedShadowModelsMakeNoVerdict(t *testing.T) {
	m := newFixture(43, 60, 120, 120)
	full := t.TempDir()
	m.write(t, full, m.retained, 8)
	for collapsed, want := range map[int]bool{1: false, 8: true} {
		d := damaged{t, t.TempDir(), m}
		must(t, os.CopyFS(d.dir, os.DirFS(full)))
		for k := range collapsed {
			d.edit("shadow-a"+string(rune('a'+k))+"/outputs.npy", constant)
		}
		r := audited(t, d.dir)
		for _, name := range []string{"lira", "lira offline", "rmia"} {
			if k := slices.IndexFunc(r.Skipped, func(u Skipped) bool { return u.Name() == name }); k >= 0 {
				continue // refused
			}
			if v := r.verdict(t, name); (v.Call == audit.CannotTell) != want {
				t.Errorf("%d shadow models collapsed: %s says %s (%s)", collapsed, name, v.Call, v.Why)
			}
		}
	}
}

// The target's losses are all one value, the shadow models' are not: what differs between
// the scores is the shadow models'.
func TestTheTargetOfLossesAloneIsLookedAt(t *testing.T) {
	m := newFixture(45, 60, 120, 160)
	d := damaged{t, t.TempDir(), m}
	m.write(t, d.dir, m.retained, 10)
	e, err := Open(d.dir)
	must(t, err)
	for _, model := range e.Models {
		d.remove(model.Name + "/outputs.npy")
		if model.Role == Unlearned {
			for i := range model.Losses {
				model.Losses[i] = 1
			}
		}
		d.vector(model.Name+"/losses.npy", model.Losses)
	}
	r := audited(t, d.dir)
	for _, name := range []string{"lira", "lira offline", "rmia"} {
		if v := r.verdict(t, name); v.Call != audit.CannotTell {
			t.Errorf("%s says %s: %v", name, v.Call, v.Reading.Estimate)
		}
	}
}

// Losses alone, of which many are the same.
func TestTiedLossesMakeNoVerdict(t *testing.T) {
	m := newFixture(44, 60, 120, 120)
	for name, c := range map[string]struct {
		of   func(i int) float64
		want bool
	}{
		"constant": {func(int) float64 { return 2 }, true}, "constant but for rounding": {func(i int) float64 { return 2 + 1e-9*float64(i) }, true},
		"five": {func(i int) float64 { return float64(i % 5) }, true}, "four of five at 0": {func(i int) float64 { return float64(i) * float64(max(0, i%5-3)) }, true},
		"a half at 0":     {func(i int) float64 { return float64((i*7919)%300) * float64(i%2) }, false},
		"three digits":    {func(i int) float64 { return math.Round(1000*math.Mod(float64(i)*0.618, 1)) / 100 }, false},
		"losses below 0":  {func(i int) float64 { return math.Mod(float64(i)*0.618, 1) - 0.9 }, false},
		"tiny, all apart": {func(i int) float64 { return 1e-12 * float64((i*7919)%300) }, false},
	} {
		d := damaged{t, t.TempDir(), m}
		m.write(t, d.dir, m.retained, 0)
		e, err := Open(d.dir)
		must(t, err)
		for _, model := range e.Models {
			losses := model.Losses
			if model.Role == Unlearned {
				for i := range losses {
					losses[i] = c.of(i)
				}
			}
			d.remove(model.Name)
			must(t, os.MkdirAll(d.path(model.Name), 0o755))
			d.vector(model.Name+"/losses.npy", losses)
		}
		must(t, os.CopyFS(d.path("checkpoint-1"), os.DirFS(d.path("unlearned"))))
		r := audited(t, d.dir)
		for _, name := range []string{"loss", "loss threshold"} {
			if v := r.verdict(t, name); (v.Call == audit.CannotTell) != c.want {
				t.Errorf("%s: %s says %s (%s)", name, v.Name(), v.Call, v.Why)
			}
		}
		if v := r.Trajectory.curve(t, "loss of forgotten").Steps[1]; (v.Call == audit.CannotTell) != c.want {
			t.Errorf("%s: the mean loss of checkpoint-1 is called %s (%s)", name, v.Call, v.Why)
		}
	}
}

// A model that answers one class is right on the records of that class, remembered or not.
func TestOneAnswerForAllIsNoAccuracy(t *testing.T) {
	m := newFixture(46, 60, 120, 120)
	for i := range m.forget { // a class is to be forgotten
		m.y[i] = 2
	}
	d := damaged{t, t.TempDir(), m}
	m.write(t, d.dir, m.retained, 0)
	m.model(t, d.path("checkpoint-1"), m.retained)
	before := follow(t, d.dir).curve(t, "right on forgotten").Steps[1]
	d.edit("checkpoint-1/outputs.npy", func(x array.Matrix[float64]) {
		for i := range x.Rows {
			x.Row(i)[2] += 40
		}
	})
	v := follow(t, d.dir).curve(t, "right on forgotten").Steps[1]
	if before.Call == audit.CannotTell || v.Reading.Value != 1 || v.Call != audit.CannotTell || !strings.Contains(v.Why, "class 2") {
		t.Errorf("before %s, then %s: %v (%s)", before.Call, v.Call, v.Reading.Estimate, v.Why)
	}
}

// With fewer than six forgotten or held-out records nothing is placed, whatever the
// numbers are; with six a lens may have a verdict.
func TestFewRecordsAreTooFew(t *testing.T) {
	for n := 1; n <= audit.MinRecords; n++ {
		for _, sizes := range [][3]int{{n, 200, 200}, {100, 200, n}, {n, n, n}} {
			m := newFixture(uint64(50+n), sizes[0], sizes[1], sizes[2])
			m.memory = 40
			dir := t.TempDir()
			m.write(t, dir, m.all, 8)
			m.model(t, filepath.Join(dir, "checkpoint-1"), m.all)
			r := audited(t, dir)
			verdicts := slices.Clone(r.Verdicts)
			for _, c := range r.Trajectory.Curves {
				for _, v := range c.Steps {
					if !c.Cost {
						verdicts = append(verdicts, *v)
					}
				}
			}
			for _, v := range verdicts {
				looks := sizes[0] < audit.MinRecords || sizes[2] < audit.MinRecords && slices.Contains(v.Lens.Info().Needs.Sets, HeldOut)
				if looks && (v.Call != audit.TooFew || v.Why == "") {
					t.Errorf("%v: %s says %s: %v", sizes, v.Name(), v.Call, v.Reading.Estimate)
				}
				if n == audit.MinRecords && v.Name() == "loss" && v.Call == audit.TooFew {
					t.Errorf("%v: %s says too few", sizes, v.Name())
				}
			}
			if n < audit.MinRecords && sizes[0] == n && !strings.Contains(r.Answers()[0], "cannot tell. All lenses that were used say too few") {
				t.Errorf("%v: %s", sizes, r.Answers())
			}
			for _, u := range r.Skipped {
				if looks := sizes[0] < audit.MinRecords; looks && strings.Contains(u.Why, "failed: ") {
					t.Errorf("%v: %s is not made: %s", sizes, u.Name(), u.Why)
				}
			}
			must(t, r.Write(filepath.Join(dir, "report")))
			page, err := os.ReadFile(filepath.Join(dir, "report", "report.html"))
			must(t, err)
			if strings.Contains(string(page), "NaN") {
				t.Errorf("%v: the page holds NaN", sizes)
			}
		}
	}
}
