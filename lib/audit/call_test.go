package audit

import (
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/stats"
)

func reading(low, high float64) Reading {
	return Reading{Estimate: stats.Estimate{Value: (low + high) / 2, Low: low, High: high}}
}

func TestACallPlacesAModelBetweenOriginalAndOracle(t *testing.T) {
	original, oracle := reading(0.4, 0.6), reading(0.0, 0.1)
	for _, c := range []struct {
		m    Reading
		want Call
	}{
		{reading(0.45, 0.7), Remembered},
		{reading(0.05, 0.15), Forgotten},
		{reading(0.2, 0.3), Between},
		{reading(-0.3, -0.1), Beyond},
		{reading(0.8, 0.9), Backwards},
		{reading(0.05, 0.5), Unclear},
		{original, Remembered},
		{oracle, Forgotten},
	} {
		if got := CallOf(c.m, original, oracle); got != c.want {
			t.Errorf("[%v, %v]: %s, want %s", c.m.Low, c.m.High, got, c.want)
		}
		// The same picture in a mirror has the same calls.
		mirror := func(r Reading) Reading { return reading(-r.High, -r.Low) }
		if got := CallOf(mirror(c.m), mirror(original), mirror(oracle)); got != c.want {
			t.Errorf("mirrored [%v, %v]: %s, want %s", c.m.Low, c.m.High, got, c.want)
		}
	}
	if got := CallOf(reading(0.45, 0.65), reading(0.4, 0.6), reading(0.5, 0.7)); got != Blind {
		t.Errorf("original and oracle alike: %s", got)
	}
	for memory, want := range map[Side]Call{Above: Remembered, Below: Beyond} {
		m := reading(5, 6)
		m.Memory = memory
		if got := CallOf(m, reading(0.4, 0.6), reading(0.5, 0.7)); got != want {
			t.Errorf("original and oracle alike and a model unlike both, memory on side %d: %s", memory, got)
		}
	}
}

func TestAgreementNamesTheLensesThatDisagree(t *testing.T) {
	lenses := Lenses()
	for _, c := range []struct {
		calls []Call
		want  string
	}{
		{[]Call{Blind, Unclear, Blind, Blind}, "no lens can tell"},
		{[]Call{Forgotten, Blind, Forgotten, Blind}, "forgotten (outputs, neighbours)"},
		{[]Call{Forgotten, Remembered, Blind, Remembered}, "disagree: outputs: forgotten; against the oracle, subsets: remembered"},
	} {
		if got := Agreement(lenses, c.calls); got != c.want {
			t.Errorf("%v: %q, want %q", c.calls, got, c.want)
		}
	}
}

// What a set looks like to SDE is the spread of its embeddings: a set drawn from
// the retained records themselves is judged "in" no more often than a coin says
// heads, and a set spread wider than either is judged by its spread.
func TestSubsetsOfAModelThatNeverTrainedAreAtChance(t *testing.T) {
	c := openCase(t, newLab(t), lab.Setting{DataSet: "two_moons", MaxRows: 300, Fraction: 0.2})
	models, err := c.Controls(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	random := models[len(models)-1]
	r, err := Subsets{Draws: 60}.Look(c, random)
	if err != nil {
		t.Fatal(err)
	}
	if r.N != 60 || r.Value < 0.25 || r.Value > 0.75 {
		t.Errorf("random weights: %+v", r.Estimate)
	}
	again, err := Subsets{Draws: 60}.Look(c, random)
	if err != nil || again.Value != r.Value {
		t.Errorf("the second look gives %v after %v (%v)", again.Value, r.Value, err)
	}
	if _, err := (Subsets{Size: 3}).Look(c, random); err == nil {
		t.Error("sets of two records were judged")
	}
}

// A copy of the original has all of the memory, one of the oracle none, through
// every lens that is not blind; the two themselves are not in the picture.
func TestThePictureOfLensesHasTheOriginalAtOne(t *testing.T) {
	c := openCase(t, newLab(t), island())
	p, err := c.Place(c.Original, c.Oracle, c.Model("like the original", c.Original.Weights), c.Model("like the oracle", c.Oracle.Weights))
	if err != nil {
		t.Fatal(err)
	}
	h := p.Map("island")
	if len(h.Rows) != 2 {
		t.Fatalf("rows %v", h.Rows)
	}
	seen := 0
	for k := range h.Columns {
		if h.Missing[0][k] != "" {
			continue
		}
		seen++
		if math.Abs(h.Values[0][k]-1) > 1e-9 || math.Abs(h.Values[1][k]) > 1e-9 {
			t.Errorf("%s: %v of the memory in a copy of the original, %v in one of the oracle", h.Columns[k], h.Values[0][k], h.Values[1][k])
		}
	}
	if seen < 2 {
		t.Errorf("%d lenses see the island", seen)
	}
	if _, err := h.PNG(); err != nil {
		t.Error(err)
	}
}
