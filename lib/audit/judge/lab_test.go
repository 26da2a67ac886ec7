package judge

import (
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
)

// What the lab knows of a case is what an audit finds in the folder that it writes.
func TestAnExportedCaseIsJudgedAsTheLabDoes(t *testing.T) {
	engine, store := enginetest.WithStore(t)
	c, err := audit.Open(t.Context(), &lab.Lab{Engine: engine, Store: store}, lab.Setting{Data: lab.Table{Set: "moons_island"}, Forget: lab.Planted("island"), Fit: train.Config{Epochs: 30, Optimizer: nn.Adam{LR: 5e-3}}})
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
	read := 0
	for _, l := range audit.ArrayLenses() {
		want, err := c.Read(l, c.Original)
		must(t, err)
		if want.Absent != "" || l.Name() == (audit.Subsets{}).Name() { // which draws by the seed of the audit
			continue
		}
		read++
		if got := r.verdict(t, l.Name()).Original; math.Abs(got.Value-want.Value) > 1e-9 || math.Abs(got.Low-want.Low) > 1e-9 || got.N != want.N {
			t.Errorf("%s: %v of the folder, %v of the case", l.Name(), got.Estimate, want.Estimate)
		}
	}
	if read != 8 {
		t.Errorf("%d lenses read the case and the folder", read)
	}
	losses, err := c.Losses(c.Original)
	must(t, err)
	for k, i := range r.Evidence.Forget {
		if got := r.Evidence.ModelsOf(Original)[0].Losses[i]; math.Abs(got-losses.Forgotten[k]) > 1e-5 {
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
		j                   Lens
		m, original, oracle *audit.Reading
		want                audit.Call
		by                  Reference
	}{
		{audit.Loss{}, at(0.8), at(0.8), at(0.5), audit.Remembered, RetrainedReference},
		{audit.Loss{}, at(0.52), at(0.8), nil, audit.Forgotten, NullReference},
		{audit.Loss{}, at(0.52), nil, nil, Unseen, NullReference},
		{audit.Loss{}, at(0.8), nil, at(0.5), audit.Remembered, RetrainedReference},
		{audit.Loss{}, at(0.2), nil, nil, audit.Beyond, NullReference},
		{audit.Loss{}, at(0.2), at(0.52), nil, audit.Beyond, NullReference},
		{audit.Loss{}, at(0.8), at(0.52), nil, audit.Backwards, NullReference},
		{audit.Loss{}, at(0.52), at(0.52), nil, audit.Blind, NullReference},
		{audit.Loss{}, at(0.2), at(0.2), at(0.5), audit.Remembered, RetrainedReference},
		{audit.Neighbours{}, at(0.8), at(0.8), nil, Unmoved, NoReference},
		{audit.Neighbours{}, at(0.5), at(0.8), nil, Moved, NoReference},
		{audit.Neighbours{}, at(0.5), nil, nil, Unplaced, NoReference},
		{audit.Movement{}, at(0.2), at(0.2), at(0.5), audit.CannotTell, RetrainedReference}, // what a seed does is not known
		// Their intervals overlap, and their difference is more than chance makes.
		{audit.Loss{}, at(0.66), at(0.9), at(0.5), audit.Between, RetrainedReference},
		// A retrained model away from the null: another seed may lie as far again.
		{audit.Loss{}, at(0.45), at(0.9), at(0.2), audit.Forgotten, RetrainedReference},
		{audit.Loss{}, at(0.45), at(0.5), at(0.2), audit.Blind, RetrainedReference},
		{audit.Loss{}, at(0.6), at(0.9), at(0.2), audit.Between, RetrainedReference},
	} {
		if _, is := c.j.(audit.Movement); is { // whose readings say so themselves
			c.m.Coordinates, c.original.Coordinates = true, true
		}
		if c.oracle != nil {
			c.oracle.DrawnAlike, c.oracle.Contrast = c.oracle.LikeNull(), true
		}
		v := Verdict{Lens: c.j, Reading: *c.m, Original: c.original}
		if c.oracle != nil {
			v.Retrained = []audit.Reading{*c.oracle}
		}
		v.place()
		if v.Call != c.want || v.Reference != c.by || len(v.Text()) < 20 {
			t.Errorf("%s at %v beside %v and %v: %s by the %s (%s), want %s by the %s", c.j.Name(), c.m.Value, c.original, c.oracle, v.Call, v.Reference,
				v.Text(), c.want, c.by)
		}
	}
	v := Verdict{Lens: audit.Loss{}, Reading: audit.Reading{Estimate: stats.Estimate{Value: 1, Low: math.NaN(), High: math.NaN()}}}
	if v.place(); v.Call != Unplaced || !math.IsNaN(v.Smallest) {
		t.Errorf("without an interval: %s, %v", v.Call, v.Smallest)
	}
}
