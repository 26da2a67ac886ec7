package judge

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// Numbers that are large, tiny, negative zeros or all alike, and are let in, are judged to
// the end: every lens that is used has a number, none fails, and the report is written.
func TestExtremeNumbersThatAreLetInAreJudgedToTheEnd(t *testing.T) {
	m := newFixture(41, 20, 40, 80)
	whole := t.TempDir()
	m.write(t, whole, m.all, 4)
	want := audited(t, whole)
	for _, c := range []struct {
		file  string
		value float64
	}{
		{"unlearned/outputs.npy", 1e99}, {"unlearned/outputs.npy", -math.MaxFloat32}, {"unlearned/outputs.npy", 5e-324}, {"original/outputs.npy", 1e99},
		{"shadow-aa/outputs.npy", -1e99}, {"unlearned/embedding.npy", 1e99}, {"unlearned/embedding.npy", 5e-324}, {"retrained/embedding.npy", -math.MaxFloat32},
	} {
		for _, rows := range []string{"one", "half", "column"} {
			if testing.Short() && rows != "half" {
				continue
			}
			d := damaged{t, t.TempDir(), newFixture(41, 20, 40, 80)}
			d.m.write(t, d.dir, d.m.all, 4)
			d.edit(c.file, func(x array.Matrix[float64]) {
				for i := range x.Rows {
					if rows == "one" && i == 3 || rows == "half" && i%2 == 0 {
						x.Row(i)[1] = c.value
					}
					if rows == "column" {
						x.Row(i)[0] = c.value
					}
				}
			})
			r := audited(t, d.dir)
			for _, v := range r.Verdicts {
				if math.IsNaN(v.Reading.Value) || math.IsInf(v.Reading.Value, 0) {
					t.Errorf("%s, %s at %v: %s reads %v", c.file, rows, c.value, v.Name(), v.Reading.Value)
				}
			}
			if len(r.Verdicts) != len(want.Verdicts) {
				for _, u := range r.Skipped {
					if strings.Contains(u.Why, "failed: ") {
						t.Logf("%s: %s", u.Name(), u.Why)
					}
				}
				t.Errorf("%s, %s at %v: %d verdicts, otherwise %d", c.file, rows, c.value, len(r.Verdicts), len(want.Verdicts))
			}
			must(t, r.Write(filepath.Join(d.dir, "report")))
		}
	}
}

// A model that says the same of every record has no memory to show, and no division by
// a spread of zero.
func TestOutputsThatAreAllAlikeAreJudged(t *testing.T) {
	d := damaged{t, t.TempDir(), newFixture(42, 20, 40, 80)}
	d.m.write(t, d.dir, d.m.all, 4)
	same := func(_, j int) float64 { return -float64(j) }
	d.matrix("unlearned/outputs.npy", d.fill(4, same))
	d.matrix("unlearned/embedding.npy", d.fill(6, func(int, int) float64 { return 1 }))
	r := audited(t, d.dir)
	x := r.exposure(t, "entropy", "unlearned")
	if r.verdict(t, "entropy").Reading.Value != 0.5 || x.Rates[2].Value != 0 || !math.IsNaN(x.Records[0].Z) || x.Records[0].AsHigh != 80 || x.Records[19].Rank != 1 {
		t.Errorf("%v, %+v", r.verdict(t, "entropy").Reading.Estimate, x.Records[0])
	}
	must(t, r.Write(d.path("report")))
}
