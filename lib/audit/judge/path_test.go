package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Losses of the forgotten records that move away from the original's with a spread that
// grows are never again called remembered, and their intervals stay above 0; those that
// come back are.
func TestAWiderIntervalDoesNotLeadBack(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 9))
		m := newFixture(70+seed, 40, 80, 80)
		d := damaged{t, t.TempDir(), m}
		m.write(t, d.dir, m.all, 0)
		e, err := Open(d.dir)
		must(t, err)
		original := e.ModelsOf(Original)[0].Losses
		for _, model := range e.Models {
			d.remove(model.Name + "/outputs.npy")
			d.vector(model.Name+"/losses.npy", model.Losses)
		}
		spread := []float64{0.5, 1, 1.5, 2, 2.5, 3} // of the logarithm
		for k, s := range spread {
			losses := slices.Clone(original)
			for i := range m.forget {
				losses[i] += math.Exp(float64(k)) * math.Exp(s*rng.NormFloat64()-s*s/2)
			}
			must(t, os.MkdirAll(d.path(fmt.Sprintf("checkpoint-%d", k+1)), 0o755))
			d.vector(fmt.Sprintf("checkpoint-%d/losses.npy", k+1), losses)
		}
		along := follow(t, d.dir)
		c := along.curve(t, "loss of forgotten")
		left := false
		for k, v := range c.Steps {
			if v.Reading.Low < 0 {
				t.Errorf("seed %d, step %d: %v", seed, k, v.Reading.Estimate)
			}
			farthest := 0.0
			for _, w := range c.Steps[:k] {
				farthest = max(farthest, w.Reading.Value)
			}
			if left && v.Call == audit.Remembered && v.Reading.Value >= farthest {
				t.Errorf("seed %d, step %d is remembered again, at %v", seed, k, v.Reading.Estimate)
			}
			left = left || v.Call != audit.Remembered
		}
		if end := c.Steps[len(c.Steps)-1]; !left || end.Call != audit.Remembered { // the unlearned model is an original
			t.Errorf("seed %d: calls %v; the last is as good as the original", seed, c.calls())
		}
	}
}

// By hand: what is called of readings whose intervals widen, for both sides of memory.
func TestThePathByHand(t *testing.T) {
	type step struct{ value, half float64 }
	for name, c := range map[string]struct {
		steps []step
		want  []audit.Call
	}{
		"wider and farther":     {[]step{{0.8, 0.04}, {0.65, 0.04}, {0.64, 0.3}, {0.6, 0.5}}, []audit.Call{audit.Remembered, audit.Between, audit.Forgotten, audit.Forgotten}},
		"back":                  {[]step{{0.8, 0.04}, {0.65, 0.04}, {0.78, 0.04}}, []audit.Call{audit.Remembered, audit.Between, audit.Remembered}},
		"past the end":          {[]step{{0.8, 0.04}, {0.3, 0.04}, {0.2, 0.6}}, []audit.Call{audit.Remembered, audit.Beyond, audit.Beyond}},
		"the other way":         {[]step{{0.8, 0.04}, {0.95, 0.02}, {0.97, 0.6}}, []audit.Call{audit.Remembered, audit.Backwards, audit.Backwards}},
		"the same value, wider": {[]step{{0.8, 0.04}, {0.65, 0.04}, {0.65, 0.6}}, []audit.Call{audit.Remembered, audit.Between, audit.Between}},
	} {
		for _, side := range []audit.Side{audit.Above, audit.Below} {
			reading := func(s step) audit.Reading {
				v := 0.5 + float64(side)*(s.value-0.5)
				return audit.Reading{Memory: side, Estimate: stats.Estimate{Value: v, Low: v - s.half, High: v + s.half}}
			}
			p, original := newHistory(), reading(step{0.8, 0.04})
			for k, s := range c.steps {
				v := &Verdict{Lens: audit.MeanLoss{Set: Forget}, Reading: reading(s), Original: &original, Retrained: []audit.Reading{reading(step{0.5, 0.04})}}
				if v.placeAs(p.likeness(v)); v.Call != c.want[k] {
					t.Errorf("%s, memory on side %+d, step %d: %s, want %s", name, side, k, v.Call, c.want[k])
				}
			}
		}
	}
}

// The end of a trajectory and the table of verdicts say the same of the unlearned model:
// what a wide interval would call remembered was told from the original at a step before.
func TestOneModelHasOneVerdict(t *testing.T) {
	verdict := func(call audit.Call) Verdict { return Verdict{Lens: audit.Loss{}, Call: call} }
	end := verdict(audit.Between)
	r := &Report{
		Verdicts: []Verdict{verdict(audit.Remembered), {Lens: audit.Loss{}, Layer: "conv1", Call: audit.Remembered}, {Lens: audit.Entropy{}, Call: audit.Remembered}},
		Trajectory: &Trajectory{Curves: []Curve{
			{Tracked: TrackedLenses()[0], Steps: []*Verdict{nil, &end}}, {Tracked: Tracked{Lens: audit.Entropy{}}, Steps: []*Verdict{nil}},
		}},
	}
	r.adoptTrajectoryVerdicts()
	for k, want := range []audit.Call{audit.Between, audit.Remembered, audit.Remembered} {
		if r.Verdicts[k].Call != want {
			t.Errorf("verdict %d is %s, want %s", k, r.Verdicts[k].Call, want)
		}
	}
	m := newFixture(77, 60, 120, 120)
	dir := t.TempDir()
	m.way(t, dir, 0.5, 0.4)
	folder := audited(t, dir)
	steps := folder.Trajectory.curve(t, "loss").Steps
	if a, b := folder.verdict(t, "loss"), steps[len(steps)-1]; a.Call != b.Call || a.Reading.Value != b.Reading.Value {
		t.Errorf("the table says %s, the trajectory %s", a.Call, b.Call)
	}
}
