package judge

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
)

// Retained records beside the forgotten ones that are answered wrongly are a cost, and change neither verdicts
// nor answer.
func TestDamageNearTheForgottenRecordsIsACost(t *testing.T) {
	m := newFixture(401, 60, 400, 120)
	dir := t.TempDir()
	m.write(t, dir, m.retained, 0)
	x := array.New[float32](len(m.y), 3)
	for i := range m.y {
		for j := range 3 {
			x.Row(i)[j] = float32(m.rng.NormFloat64())
		}
		if i < m.forget+50 { // the first 50 retained records lie beside the forgotten ones
			x.Row(i)[0] += 8
		}
	}
	must(t, npy.Write(filepath.Join(dir, "inputs.npy"), x))
	before := audited(t, dir)
	if len(before.Costs) != 1 || before.Costs[0].Outcome() != AsRetrained {
		t.Fatalf("%v", before.Costs)
	}
	outputs, err := npy.ReadMatrix(filepath.Join(dir, "unlearned", "outputs.npy"))
	must(t, err)
	for i := m.forget; i < m.forget+40; i++ {
		y := m.y[i]
		other := (y + 1) % fixtureClasses
		outputs.Row(i)[y], outputs.Row(i)[other] = outputs.Row(i)[other], outputs.Row(i)[y]
	}
	must(t, npy.Write(filepath.Join(dir, "unlearned", "outputs.npy"), outputs))
	after := audited(t, dir)
	if after.Costs[0].Outcome() != Damaged || !strings.Contains(after.Costs[0].String(), "Over-unlearned") {
		t.Errorf("%v", after.Costs[0])
	}
	if a, b := before.verdict(t, "loss"), after.verdict(t, "loss"); a.Call != b.Call {
		t.Errorf("the verdict was %s and is %s", a.Call, b.Call)
	}
	if slices.ContainsFunc(after.Verdicts, func(v Verdict) bool { return v.Lens.Info().Cost }) {
		t.Error("a cost has a verdict")
	}
	var b, md bytes.Buffer
	must(t, after.JSON(&b))
	var out struct{ Costs []struct{ Outcome string } }
	must(t, json.Unmarshal(b.Bytes(), &out))
	if len(out.Costs) != 1 || out.Costs[0].Outcome != "damaged" {
		t.Errorf("%+v", out)
	}
	p, err := after.Page()
	must(t, err)
	must(t, p.Markdown(&md))
	if !strings.Contains(md.String(), "What unlearning cost") {
		t.Error("the page has no costs")
	}
}

// Without a retrained model, and from numbers that are no evidence, nothing is said of a cost.
func TestACostNeedsARetrainedModel(t *testing.T) {
	m := newFixture(402, 30, 100, 60)
	dir := t.TempDir()
	m.write(t, dir, m.all, 0)
	r := audited(t, withoutRetrained(t, dir))
	if c := r.Costs[0]; c.Outcome() != NotComparable || !strings.Contains(c.String(), "without a retrained model") {
		t.Errorf("%v", c)
	}
	c := r.Costs[0]
	c.Retrained = []audit.Reading{c.Reading}
	if c.Outcome() != AsRetrained {
		t.Errorf("beside itself it is %s", c.Outcome())
	}
	c.Retrained[0].Value, c.Retrained[0].Low, c.Retrained[0].High = c.Reading.Value-0.5, c.Reading.Value-0.51, c.Reading.Value-0.49
	if c.Outcome() != Better {
		t.Errorf("far above a retrained model it is %s", c.Outcome())
	}
	c.Reading.NoEvidence = audit.Reason{Call: audit.CannotTell, Why: "collapsed"}
	if c.Outcome() != NotComparable || !strings.Contains(c.String(), "collapsed") {
		t.Errorf("%v", c)
	}
	c.Reading.NoEvidence, c.Reading.Low, c.Reading.High = audit.Reason{}, math.NaN(), math.NaN()
	if c.Outcome() != NotComparable {
		t.Errorf("without an interval it is %s", c.Outcome())
	}
}
