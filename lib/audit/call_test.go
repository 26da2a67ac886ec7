package audit

import (
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/report"
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
	// Retrained models that differ much hold a model that is nearer the original: nobody can tell.
	for m, want := range map[Reading]Call{reading(0.25, 0.35): Unclear, reading(0.15, 0.25): Forgotten, reading(0.44, 0.54): Remembered} {
		if got := CallOf(m, original, reading(-0.45, 0.45)); got != want {
			t.Errorf("%v between the original and retrained models that differ much: %s, want %s", m.Value, got, want)
		}
	}
	if got := CallOf(reading(0.45, 0.65), reading(0.4, 0.6), reading(0.5, 0.7)); got != Blind {
		t.Errorf("original and oracle alike: %s", got)
	}
	for memory, want := range map[Side]Call{Above: Backwards, Below: Beyond} {
		m := reading(5, 6)
		m.Memory = memory
		if got := CallOf(m, reading(0.4, 0.6), reading(0.5, 0.7)); got != want {
			t.Errorf("original and oracle alike and a model unlike both, memory on side %d: %s", memory, got)
		}
	}
}

// A value that is how like a retrained model the model is has nothing beyond retrained models: a model from the same initial
// weights as one of them is nearer to it than another seed is, and never had the records.
func TestAModelNearerToARetrainedOneThanTheyAreToEachOtherIsLikeThem(t *testing.T) {
	towards := func(r Reading) Reading { r.Towards, r.Coordinates, r.Memory = true, true, Below; return r }
	original, oracle := towards(reading(0, 0)), towards(reading(0.3, 0.4))
	for m, want := range map[Reading]Call{
		reading(0.68, 0.7): Forgotten, reading(0.32, 0.42): Forgotten, reading(0.1, 0.2): Between, reading(-0.3, -0.2): Backwards, reading(-0.05, 0.05): Remembered,
	} {
		if got := CallOf(towards(m), original, oracle); got != want {
			t.Errorf("%v: %s, want %s", m.Value, got, want)
		}
	}
	if got := CallOf(towards(reading(0.68, 0.7)), original, towards(reading(-0.4, 0.6))); got != Blind {
		t.Errorf("retrained models that differ so much that the original is like them: %s", got)
	}
}

// By hand: halves of 3 and 4 make 5. The intervals of a difference of 6 overlap, and it is
// more than chance makes; a null has no width of its own.
func TestAlikeIsATestOfTheDifference(t *testing.T) {
	at := func(value, low, high float64) Reading {
		return Reading{Estimate: stats.Estimate{Value: value, Low: value - low, High: value + high}}
	}
	for _, c := range []struct {
		a, b Reading
		want bool
	}{
		{at(0, 0, 3), at(5, 4, 0), true}, {at(0, 0, 3), at(5.01, 4, 0), false}, {at(0, 0, 3), at(6, 4, 0), false},
		{at(0, 100, 3), at(6, 4, 100), false}, {at(0, 0, 0), at(4, 4, 0), true}, {at(0, 0, 0), at(4.01, 4, 0), false}, {at(2, 0, 0), at(2, 0, 0), true},
	} {
		if got, back := Alike(c.a, c.b), Alike(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%v and %v: %v, and the other way round %v, want %v", c.a.Estimate, c.b.Estimate, got, back, c.want)
		}
	}
}

// A lens whose original is on the side away from memory sees something else, but for a model that stands
// out on the side of memory.
func TestAContraryOriginalMakesALensBlind(t *testing.T) {
	original, oracle := reading(0.4, 0.6), reading(-0.05, 0.05)
	for _, c := range []struct {
		m           Reading
		coordinates bool
		want        Call
	}{
		{reading(0.4, 0.5), false, Blind}, {reading(0.4, 0.5), true, Blind}, // like the original
		{oracle, false, Blind}, {oracle, true, Blind},
		{reading(0.2, 0.25), false, Blind}, {reading(0.8, 0.9), false, Blind}, // between, and farther away
		{reading(-0.9, -0.8), false, Backwards}, {reading(-0.9, -0.8), true, Blind},
	} {
		m, original, oracle := c.m, original, oracle
		for _, r := range []*Reading{&m, &original, &oracle} {
			r.Memory, r.Coordinates, r.Membership = Below, c.coordinates, !c.coordinates
		}
		if got := CallOf(m, original, oracle); got != c.want {
			t.Errorf("%v, coordinates %v: %s, want %s", m.Estimate, c.coordinates, got, c.want)
		}
		if c.coordinates {
			continue
		}
		m.Memory, original.Memory, oracle.Memory = Above, Above, Above // what it was is a memory on the other side
		if got := CallOf(m, original, oracle); got == Blind {
			t.Errorf("%v: blind with the original on the side of memory", m.Estimate)
		}
		m.Memory, original.Memory, oracle.Memory = Below, Below, Below
		original.Membership = false // of another lens
		if got := CallOf(m, original, oracle); got == Blind {
			t.Errorf("%v: a lens that is not of membership is blind", m.Estimate)
		}
	}
}

func TestAReadingWithoutEvidenceIsNotPlaced(t *testing.T) {
	m, original, oracle := reading(0.45, 0.7), reading(0.4, 0.6), reading(0, 0.1)
	original.Model = "the original"
	tied := Reason{CannotTell, "all are tied"}
	for _, c := range []struct {
		corrupt func(m, original, oracle *Reading)
		want    Call
		why     string
	}{
		{func(m, _, _ *Reading) { m.NoEvidence = tied }, CannotTell, "all are tied"},
		{func(_, original, _ *Reading) { original.NoEvidence = tied }, CannotTell, "the original: all are tied"},
		{func(_, _, oracle *Reading) { oracle.N, oracle.Over = 5, "records" }, TooFew, ": 5 records, and"},
		{func(m, original, _ *Reading) { m.N, m.Over, original.NoEvidence = 5, "records", tied }, TooFew, "5 records, and"},
		{func(m, _, _ *Reading) { m.N = 6 }, Remembered, ""},
		{func(m, _, _ *Reading) { m.Absent = "no backdoor" }, NotAsked, ""},
	} {
		a, b, o := m, original, oracle
		c.corrupt(&a, &b, &o)
		if got, why := CallOf(a, b, o), WithheldReason(a, b, o).Why; got != c.want || !strings.HasPrefix(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s for %q, want %s for %q", got, why, c.want, c.why)
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
		{[]Call{TooFew, CannotTell, NotAsked, Unclear}, "no lens can tell"},
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
	c := openCase(t, newLab(t), lab.Setting{Data: lab.Table{Set: "two_moons", MaxRows: 300}, Forget: lab.Random{Fraction: 0.2}})
	models, err := c.Controls(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	random := models[len(models)-1]
	r, err := c.Read(Subsets{Draws: 60}, random)
	if err != nil {
		t.Fatal(err)
	}
	if r.N != 60 || r.Value < 0.25 || r.Value > 0.75 {
		t.Errorf("random weights: %+v", r.Estimate)
	}
	again, err := c.Read(Subsets{Draws: 60}, random)
	if err != nil || again.Value != r.Value {
		t.Errorf("the second look gives %v after %v (%v)", again.Value, r.Value, err)
	}
	if _, err := c.Read(Subsets{Size: 3}, random); err == nil {
		t.Error("sets of two records were judged")
	}
}

// A copy of the original has all of the memory, one of the oracle none, through
// every lens that is not blind; the two themselves are not in the picture.
func TestThePictureOfLensesHasTheOriginalAtOne(t *testing.T) {
	c := openCase(t, newLab(t), island())
	p, err := c.Place(c.Original, c.Oracle, c.NewModel("like the original", c.Original.Weights), c.NewModel("like the oracle", c.Oracle.Weights))
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

// fixedReadings is a lens with given readings, by label.
type fixedReadings struct {
	Loss
	of map[string]Reading
}

func (l fixedReadings) Read(_ *Evidence, m *Arrays) (*Reading, error) {
	r := l.of[m.Name]
	return &r, nil
}

// By hand: the reading of the second oracle, 0.3, makes the reference 0.15 -+ 0.48, which holds a model at
// 0.35. Beside the oracle alone, 0 -+ 0.16, the second oracle is unlike it, and so is a copy of it.
func TestModelsArePlacedBesideBothOracles(t *testing.T) {
	c := openCase(t, newLab(t), island())
	second, err := c.secondOracle()
	if err != nil {
		t.Fatal(err)
	}
	copied, model := c.NewModel("a copy", second.Weights), c.NewModel("a model", c.Problem.InitialWeights(3))
	at := map[string]Reading{c.Original.Label: reading(0.9, 1.1), c.Oracle.Label: reading(-0.05, 0.05), second.Label: reading(0.25, 0.35),
		model.Label: reading(0.3, 0.4)}
	place := func(coordinates bool) [][]Call {
		for label, r := range at {
			r.Coordinates = coordinates
			at[label] = r
		}
		c.Lenses = []Lens{fixedReadings{of: at}}
		calls, _, err := c.Calls(c.Original, c.Oracle, second, copied, model)
		if err != nil {
			t.Fatal(err)
		}
		return calls
	}
	for k, want := range []Call{Remembered, Forgotten, Between, Between, Forgotten} {
		if got := place(false)[k][0]; got != want {
			t.Errorf("model %d is called %s, want %s", k, got, want)
		}
	}
	// Of coordinates, one oracle shows nothing of seeds, and two make a wide interval.
	for k, want := range []Call{Blind, Blind, CannotTell, CannotTell, Blind} {
		if got := place(true)[k][0]; got != want {
			t.Errorf("coordinates: model %d is called %s, want %s", k, got, want)
		}
	}
	// Of a memory that cannot be told from another seed nobody has a share, wherever else the model is.
	at[c.Original.Label], at[model.Label] = reading(0.1, 0.3), reading(2.9, 3.1)
	place(false)
	p, err := c.Place(model)
	if err != nil {
		t.Fatal(err)
	}
	if share := p.Shares()[0][0]; !math.IsNaN(share) || p.calls[0][0] != Beyond {
		t.Errorf("%v of no memory, called %s", share, p.calls[0][0])
	}
}

// Every call has a mark and a colour in tables.
func TestEveryCallIsKnownAsAVerdict(t *testing.T) {
	for call := range calls {
		if !report.IsVerdict(string(call)) {
			t.Errorf("%q has no mark: add it to report's verdicts", call)
		}
	}
}
