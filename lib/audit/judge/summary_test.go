// Tests of summary.go.

package judge

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
)

// Where the records stand out more than in the original, nothing says less.
func TestAMemoryThatGrewIsNotCalledLess(t *testing.T) {
	m := newFixture(11, 150, 400, 300)
	dir := t.TempDir()
	m.write(t, dir, m.all, 0)
	faint, err := npy.ReadMatrix(filepath.Join(dir, "retrained", "outputs.npy"))
	must(t, err)
	damaged{t, dir, m}.edit("original/outputs.npy", func(x array.Matrix[float64]) { // it remembers little
		for i, z := range faint.Data {
			x.Data[i] = 0.3*x.Data[i] + 0.7*z
		}
	})
	r := audited(t, dir)
	if v := r.verdict(t, "loss"); v.Call != audit.Backwards {
		t.Fatalf("loss: %s: %v, original %v", v.Call, v.Reading.Estimate, v.Original.Estimate)
	}
	if says := r.headline(r.Evidence.ModelsOf(Unlearned)[0]); !strings.HasPrefix(says, "No:") || strings.Contains(says, "less than") {
		t.Errorf("the first sentence: %s", says)
	}
}

// Lenses that are blind are not quoted for what they would have missed.
func TestABlindLensHasNoPowerToQuote(t *testing.T) {
	m := newFixture(2, 150, 400, 300)
	dir := t.TempDir()
	m.write(t, dir, m.retained, 0)
	d := damaged{t, dir, m}
	d.remove("original")
	d.remove("retrained-2")
	m.model(t, d.path("original"), m.retained) // which never had the records
	r := audited(t, dir)
	for k := range r.Verdicts {
		if v := &r.Verdicts[k]; v.Name() == "neighbours" { // the only one that tells the two apart
			o := *v.Original
			o.Value, o.Low, o.High = o.Value+1, o.Low+1, o.High+1
			v.Original, v.Call, v.Smallest = &o, audit.Forgotten, 0.25
		} else if v.Call != audit.Blind && v.Name() != (audit.Subsets{}).Name() { // which needs two retrained models
			t.Fatalf("%s: %s", v.Name(), v.Call)
		}
	}
	if s := r.confidenceText("unlearned"); !strings.Contains(s, "smaller than 0.25 on the scale of neighbours would often be missed") {
		t.Errorf("%s", s)
	}
}
