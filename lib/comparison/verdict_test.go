package comparison

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/stats"
)

// seed are the readings of a seed: of the original, both retrained models, and a method.
type seed struct{ original, oracle, other, method float64 }

// overAll is a result of one lens with these readings, and the verdict "blind" in every single seed.
func overAll(t *testing.T, seeds ...seed) *Result {
	t.Helper()
	r := &Result{Study: Study{Lab: engineOnly(t), Lenses: Lenses()[:1]}, Name: "people"}
	for i, s := range seeds {
		run := Run{Seed: i, Forget: 50}
		for _, m := range []struct {
			label   string
			control bool
			value   float64
		}{{"original", true, s.original}, {oracleLabel, true, s.oracle}, {otherSeed, true, s.other}, {"scrub", false, s.method}} {
			reading := audit.Reading{Lens: "loss", Model: m.label, Memory: audit.Above, Membership: true,
				Estimate: stats.Estimate{Value: m.value, Low: m.value - 0.3, High: m.value + 0.3, N: 50, Over: "records"}}
			run.Models = append(run.Models, Model{Label: m.label, Control: m.control, Readings: []audit.Reading{reading}, Calls: []audit.Call{audit.Blind}})
		}
		r.Runs = append(r.Runs, run)
	}
	return r
}

// Where single seeds cannot tell, their differences can: what records do to all models of a seed is no noise. The verdict is that
// of the model's place.
func TestSeedsTogetherTellWhatOneCannot(t *testing.T) {
	shared := []float64{-0.2, 0.25, 0.05, -0.1, 0.15} // what the held-out records of a seed do to every model
	noise := []float64{0.01, -0.02, 0.015, 0, -0.01}
	at := func(original, method float64) *Result {
		var seeds []seed
		for i, s := range shared {
			n := noise[i]
			seeds = append(seeds, seed{0.5 + s + original + n, 0.5 + s - n, 0.5 + s + noise[(i+2)%5], 0.5 + s + method + noise[(i+1)%5]})
		}
		return overAll(t, seeds...)
	}
	for _, of := range []struct {
		original, method float64
		call             audit.Call
	}{
		{0.2, 0.2, audit.Remembered}, {0.2, 0, audit.Forgotten}, {0.2, 0.1, audit.Between}, {0.2, -0.1, audit.Beyond}, {0.2, 0.4, audit.Backwards},
		{0, 0, audit.Blind}, {-0.2, -0.2, audit.Blind}, // nothing to forget; away from memory
		{0, 0.2, audit.Backwards},
	} {
		r := at(of.original, of.method)
		if v := r.verdict("scrub", 0); v.Call != of.call || v.Seeds != 5 || !v.Paired() {
			t.Errorf("original %+.1f, method %+.1f: %+v, want %s", of.original, of.method, v, of.call)
		}
		want := audit.Blind
		if of.original > 0 {
			want = audit.Remembered
		}
		if v := r.verdict("original", 0); v.Call != want {
			t.Errorf("the original %+.1f: %+v", of.original, v)
		}
		for _, label := range []string{oracleLabel, otherSeed} {
			if v := r.verdict(label, 0); v.Call.Found() {
				t.Errorf("original %+.1f: %s: %+v", of.original, label, v)
			}
		}
	}
}

// The difference is the mean over seeds of the reading minus the mean of both retrained ones. For the differences 0.1, 0.2, 0.3 SciPy
// 1.16's t.interval(0.95, 2, 0.2, 0.1/sqrt(3)) is [-0.048414, 0.448414]. A retrained model is compared with the other.
func TestADifferenceIsWithinSeeds(t *testing.T) {
	r := overAll(t, seed{0.9, 0.4, 0.6, 0.6}, seed{0.8, 0.3, 0.5, 0.6}, seed{0.7, 0.2, 0.4, 0.6})
	d := r.verdict("scrub", 0).Difference
	if math.Abs(d.Value-0.2) > 1e-12 || math.Abs(d.Low+0.048414) > 1e-6 || math.Abs(d.High-0.448414) > 1e-6 || d.Over != "seeds" || d.N != 3 {
		t.Errorf("%+v", d)
	}
	for label, want := range map[string]float64{oracleLabel: -0.2, otherSeed: 0.2, "original": 0.4} {
		if d := r.verdict(label, 0).Difference; math.Abs(d.Value-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", label, d.Value, want)
		}
	}
	if said := strings.Join(r.Answers(), "\n"); !strings.Contains(said, "scrub: unclear (loss, 0.200 [\u22120.048, 0.448] above the retrained models).") {
		t.Error(said)
	}
	table := r.Table()
	if err := table.Check(); err != nil || table.Columns[2].Name != "minus retrained" || table.Rows[3].Cells[1].Text != "0.600" ||
		table.Rows[3].Cells[2].Text != "0.200 [\u22120.048, 0.448] unclear" || table.Rows[3].Cells[2].Verdict != "unclear" || table.Rows[0].Cells[2].Verdict != "remembered" {
		t.Errorf("%v: %+v", err, table.Rows)
	}
	panel := r.Figure().Figures[0].(plot.Forest)
	if panel.Null.Value != 0 || math.Abs(panel.Rows[3].Estimate.Value-0.2) > 1e-12 || !strings.HasSuffix(panel.Meta.Title, "minus the retrained models") ||
		!strings.HasPrefix(panel.X.Label, "difference of: signed AUC") {
		t.Errorf("the figure: %+v", panel)
	}
}

// Of a method that leaves no memory, 25 of 1,000 are called so at most, however large the noise that its seed shares with the others.
func TestOverSeedsPerfectMethodsAreSeldomAccused(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for _, n := range []int{3, 5, 10} {
		accused, found := 0, 0
		const studies = 2000
		for range studies {
			var seeds []seed
			for range n {
				shared := 0.3 * rng.NormFloat64()
				at := func(memory float64) float64 { return 0.5 + shared + memory + 0.05*rng.NormFloat64() }
				seeds = append(seeds, seed{at(0.2), at(0), at(0), at(0)})
			}
			r := overAll(t, seeds...)
			if c := r.verdict("scrub", 0).Call; c == audit.Remembered || c == audit.Between || c == audit.Backwards {
				accused++
			}
			if r.verdict("original", 0).Call == audit.Remembered {
				found++
			}
		}
		t.Logf("%d seeds: accused %d, found %d of %d", n, accused, found, studies)
		if rate := float64(accused) / studies; rate > 0.035 {
			t.Errorf("%d seeds: %v of perfect methods are accused", n, rate)
		}
		if rate := float64(found) / studies; rate < 0.6 {
			t.Errorf("%d seeds: %v of the originals are found", n, rate)
		}
	}
}

// Too few seeds, a lens that compares coordinates, and seeds without evidence leave the verdict to single seeds.
func TestVerdictsOfSingleSeeds(t *testing.T) {
	clear := seed{0.9, 0.5, 0.5, 0.9}
	for name, of := range map[string]struct {
		seeds  int
		change func(run *Run)
	}{
		"two seeds":   {2, func(*Run) {}},
		"coordinates": {5, func(run *Run) { run.Models[3].Readings[0].Coordinates = true }},
		"no evidence": {5, func(run *Run) {
			run.Models[2].Readings[0].NoEvidence = audit.Reason{Call: audit.CannotTell, Why: "ties"}
		}},
		"too few records":       {5, func(run *Run) { run.Models[0].Readings[0].N = 5 }},
		"no second retrained":   {5, func(run *Run) { run.Models[2].Missing = "it diverged" }},
		"no number":             {5, func(run *Run) { run.Models[run.Seed%3].Readings[0].Value = math.NaN() }},
		"diverged in most":      {5, func(run *Run) { run.Models[3].Missing = map[bool]string{true: "it diverged"}[run.Seed > 0] }},
		"evidence in two seeds": {4, func(run *Run) { run.Models[1].Readings[0].N = map[bool]int{true: 5, false: 50}[run.Seed > 1] }},
	} {
		var seeds []seed
		for range of.seeds {
			seeds = append(seeds, clear)
		}
		r := overAll(t, seeds...)
		for i := range r.Runs {
			of.change(&r.Runs[i])
		}
		if v := r.verdict("scrub", 0); v.Paired() || v.Call != audit.Blind {
			t.Errorf("%s: %+v", name, v)
		}
		if err := r.Table().Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		r.Answers()
		r.Figure()
	}
	r := overAll(t, clear, clear, clear)
	r.Runs[0].Models[3].Missing = "it diverged"
	if v := r.verdict("scrub", 0); v.Paired() || v.Call != audit.Blind {
		t.Errorf("a method in two of three seeds: %+v", v)
	}
	if cell := r.Table().Rows[3].Cells[2]; cell.Missing != "blind in 2 of 2 seeds" {
		t.Errorf("%+v", cell)
	}
	if row := r.Figure().Figures[0].(plot.Forest).Rows[3]; row.Missing != "too few seeds" {
		t.Errorf("in the figure: %+v", row)
	}
	if err := r.Write(t.TempDir()); err != nil {
		t.Error(err)
	}
}

// Where some seeds have no evidence, value and difference are of the same seeds, and the numbers of seeds are said; numbers of records that
// differ between seeds too.
func TestSeedsWithoutEvidenceAreLeftOut(t *testing.T) {
	r := overAll(t, seed{0.9, 0.4, 0.6, 0.6}, seed{0.8, 0.3, 0.5, 0.6}, seed{0.7, 0.2, 0.4, 0.6}, seed{0.5, 0.5, 0.5, 0.1})
	for k := range r.Runs[3].Models {
		r.Runs[3].Models[k].Readings[0].N = 5
	}
	r.Runs[2].Forget, r.Runs[1].Copies = 41, 3
	row := r.Table().Rows[3]
	if row.Cells[1].Text != "0.600" || row.Cells[2].Text != "0.200 [\u22120.048, 0.448] (3 of 4 seeds) unclear" {
		t.Errorf("%q and %q", row.Cells[1].Text, row.Cells[2].Text)
	}
	said := strings.Join(r.Answers(), "\n")
	for _, want := range []string{"above the retrained models (3 of 4 seeds)", "Of the 41 to 50 forgotten records 0 to 3 (by the seed) can be found"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %s", want, said)
		}
	}
	if title := r.Title(); !strings.Contains(title, "50 forgotten records") {
		t.Error(title)
	}
}

// engineOnly is a lab that computes nothing: tables name its engine.
func engineOnly(t *testing.T) *lab.Lab {
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	return &lab.Lab{Engine: e}
}
