package ruler

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/stats"
)

// all returns M1 to M4 of evidence, each a function with intervals.
func all(t *testing.T, e Evidence) map[string]*stats.Estimate {
	t.Helper()
	r, err := Measure(e, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*stats.Estimate{"M1": r.M1, "M2": r.M2, "M2Mean": r.M2Mean, "M3": r.M3, "M4": r.M4}
}

func groupEvidence(rng *rand.Rand, n, p int) Evidence {
	return Evidence{Unlearned: gaussian(rng, n, p), Oracle: gaussian(rng, n, p), Original: gaussian(rng, n, p)}
}

// copies returns every row of a matrix twice, one copy below the other.
func copies(m *matrix) *matrix {
	out := *m
	out.Rows, out.Data = 2*m.Rows, append(slices.Clone(m.Data), m.Data...)
	return &out
}

func TestGroupsOfOneRecordChangeNothing(t *testing.T) {
	e := groupEvidence(rand.New(rand.NewPCG(1, 1)), 90, 4)
	e.Forget, e.Retain = intRange(0, 30), intRange(30, 90)
	want := all(t, e)
	e.Groups, e.GroupUnit = rand.New(rand.NewPCG(2, 2)).Perm(90), "authors"
	for name, got := range all(t, e) {
		if w := want[name]; got.Low != w.Low || got.High != w.High || got.Value != w.Value || got.Clustered != nil {
			t.Errorf("%s: %v, want %v", name, got, w)
		}
	}
}

// Copies of the forget records in their groups are worth no more than the originals.
func TestCopiesInGroupsChangeNothing(t *testing.T) {
	e := groupEvidence(rand.New(rand.NewPCG(3, 1)), 90, 4)
	e.Forget, e.Retain = intRange(0, 30), intRange(30, 90)
	want := all(t, e)
	twice := Evidence{
		Unlearned: copies(e.Unlearned.(*matrix)), Oracle: copies(e.Oracle.(*matrix)), Original: copies(e.Original.(*matrix)),
		Forget: concat(intRange(0, 30), intRange(90, 120)), Retain: e.Retain, GroupUnit: "authors",
	}
	for i := range 180 {
		twice.Groups = append(twice.Groups, i%90)
	}
	for name, got := range all(t, twice) {
		checkClose(t, name+" value", got.Value, want[name].Value, 1e-12)
		checkClose(t, name+" low", got.Low, want[name].Low, 1e-12)
		checkClose(t, name+" high", got.High, want[name].High, 1e-12)
		if got.Over != "authors" || got.N != 30 || got.Clustered.Records != 60 || got.Clustered.DesignEffect < 1.1 {
			t.Errorf("%s: %+v, %+v", name, got, got.Clustered)
		}
	}
}

func TestASingleGroupHasNoInterval(t *testing.T) {
	e := groupEvidence(rand.New(rand.NewPCG(4, 1)), 90, 4)
	e.Forget, e.Retain, e.Groups, e.GroupUnit = intRange(0, 30), intRange(30, 90), make([]int, 90), "authors"
	for i := 30; i < 90; i++ {
		e.Groups[i] = i / 5
	}
	for name, got := range all(t, e) {
		if got.HasInterval() || got.Clustered == nil || got.Clustered.Smallest != 1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestGroupsThatDoNotFitAreRefused(t *testing.T) {
	e := groupEvidence(rand.New(rand.NewPCG(5, 1)), 20, 3)
	e.Forget, e.Retain, e.Groups = intRange(0, 8), intRange(8, 20), []int{1, 2, 3}
	if _, err := Measure(e, Options{}); err == nil || !strings.Contains(err.Error(), "3 groups and unlearned embeddings of 20 records") {
		t.Errorf("%v", err)
	}
}
