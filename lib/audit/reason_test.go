package audit

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/stats"
)

// MinRecords is the smallest number at which the most extreme value excludes its null:
// for a sign test, for DeLong's bound at an AUC of 1, and for a signed-rank test.
func TestFewestRecordsIsTheSmallestNumberThatCanShowAnything(t *testing.T) {
	for n := 1; n <= 12; n++ {
		enough := n >= MinRecords
		if p := 2 * math.Pow(0.5, float64(n)); (p <= 0.05) != enough {
			t.Errorf("%d records on one side: p = %v", n, p)
		}
		up, down := make([]float64, n), make([]float64, n)
		for i := range up {
			up[i], down[i] = float64(1+i), float64(-1-i)
		}
		e, err := stats.DeLong(up, append(down, -100, -101, -102), 0.95)
		if err != nil || e.ExcludesNull() != enough {
			t.Errorf("AUC 1 of %d records: %v (%v)", n, e, err)
		}
		w, err := stats.Wilcoxon(up)
		if err != nil || (w.P <= 0.05) != enough {
			t.Errorf("%d differences of one sign: p = %v (%v)", n, w.P, err)
		}
		r, err := SignedAUC("l", "m", attack.Samples{Members: up, Nonmembers: append(down, -100, -101, -102)})
		if err != nil || (r.NoEvidence.Call != TooFew) != enough || r.NoEvidence.Call == CannotTell {
			t.Errorf("%d records: %+v (%v)", n, r.NoEvidence, err)
		}
	}
}

func TestTiedScoresAreNoEvidence(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		of   func() float64
		want bool
	}{
		"constant": {func() float64 { return 3 }, true}, "zeros of both signs": {func() float64 { return math.Copysign(0, rng.NormFloat64()) }, true},
		"noise of float32": {func() float64 { return 1 + 1e-8*rng.NormFloat64() }, true},
		"five values":      {func() float64 { return float64(rng.IntN(5)) }, true}, "nine values": {func() float64 { return float64(rng.IntN(9)) }, true},
		"eight of ten at one value": {func() float64 { return rng.NormFloat64() * float64(rng.IntN(10)/8) }, true},
		"half at one value":         {func() float64 { return rng.NormFloat64() * float64(rng.IntN(2)) }, false},
		"thirty values":             {func() float64 { return float64(rng.IntN(30)) }, false},
		"continuous":                {func() float64 { return rng.NormFloat64() }, false},
		"float16":                   {func() float64 { return math.Round(1024*(1+rng.Float64())) / 1024 }, false},
		"tiny":                      {func() float64 { return 1e-300 * rng.Float64() }, false},
		"huge beside tiny":          {func() float64 { return math.Exp(200 * rng.NormFloat64()) }, false},
	} {
		a, b := make([]float64, 60), make([]float64, 140)
		for i := range b {
			a[i%60], b[i] = c.of(), c.of()
		}
		why := TiedScores(a, b)
		if (why.Call == CannotTell) != c.want || (why.Why != "") != c.want {
			t.Errorf("%s: %+v", name, why)
		}
		if other := TiedScores(b, a); other != why {
			t.Errorf("%s: exchanged %+v, %+v", name, other, why)
		}
		if one := TiedValues(b); (one.Call == CannotTell) != c.want {
			t.Errorf("%s, one sample: %+v", name, one)
		}
		// A scale, or a shift by a power of two of what is coarse, changes nothing.
		for i := range a {
			a[i] *= -4
		}
		for i := range b {
			b[i] *= -4
		}
		if scaled := TiedScores(a, b); scaled != why {
			t.Errorf("%s: scaled %+v, %+v", name, scaled, why)
		}
	}
	// Records of which one group has a value that hardly any other has are told apart, ties and all.
	a, b := make([]float64, 40), make([]float64, 100)
	for i := range b {
		b[i] = 1 + rng.Float64()
	}
	if why := TiedScores(a, b); why.Call != "" {
		t.Errorf("one value against many: %+v", why)
	}
	// An AUC of tied scores knows of them: no interval is a point.
	for distinct := 1; distinct < 40; distinct++ {
		for i := range a {
			a[i] = float64(i % distinct)
		}
		for i := range b {
			b[i] = float64(i % distinct)
		}
		r, err := SignedAUC("l", "m", attack.Samples{Members: a, Nonmembers: b})
		if err != nil || !(r.Low < r.Value && r.Value < r.High) || (r.NoEvidence.Call == CannotTell) != (distinct < 10) {
			t.Errorf("%d values: %v, %+v (%v)", distinct, r.Estimate, r.NoEvidence, err)
		}
	}
}

// Rows are equal where all their values are, whatever the type that holds them.
func TestEqualRowsHaveEqualKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	x := array.New[float64](400, 3)
	for i := range x.Rows {
		for j := range x.Cols {
			x.Row(i)[j] = float64(float32(rng.NormFloat64()))
		}
	}
	copy(x.Row(7), x.Row(3))
	x.Row(8)[0], x.Row(8)[1], x.Row(8)[2] = x.Row(3)[1], x.Row(3)[0], x.Row(3)[2] // another order is another row
	single := array.Convert[float32](x)
	seen := map[uint64]int{}
	theirs := RowHashes(&single)
	for i, k := range RowHashes(&x) {
		if first, twice := seen[k]; twice && (first != 3 || i != 7) || k != theirs[i] {
			t.Errorf("row %d has the key of row %d", i, first)
		}
		seen[k] = i
	}
	if len(seen) != 399 {
		t.Errorf("%d keys of 399 rows", len(seen))
	}
	why := CollapsedRows("rows", &x, []int{0, 1, 2, 3, 4, 5, 6}, []int{7, 8, 9, 10, 11, 12, 13, 14})
	if why.Call != "" {
		t.Errorf("one copy: %+v", why)
	}
	for i := range 12 {
		copy(x.Row(i), x.Row(0))
	}
	all := make([]int, 388)
	for i := range all {
		all[i] = 12 + i
	}
	if why := CollapsedRows("rows", &x, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, all); !strings.Contains(why.Why, "12 records have no two distinct rows") {
		t.Errorf("the forgotten are one row: %+v", why)
	}
	if why := CollapsedRows("rows", nil, nil, nil); why.Call != "" {
		t.Errorf("nothing: %+v", why)
	}
}

// A reason that holds for every model or for several lenses is one note.
func TestAReasonIsNotedOnce(t *testing.T) {
	few, tied := Reason{TooFew, "3 records"}, Reason{CannotTell, "ties"}
	c := &Case{Lenses: []Lens{Outputs{}, AgainstOracle{}}}
	models := []*Model{{Label: "a"}, {Label: "b"}}
	read := func(lens string, why Reason) Reading { return Reading{Lens: lens, NoEvidence: why} }
	for name, c2 := range map[string]struct {
		readings []Reading // model by model
		want     string
	}{
		"none":         {[]Reading{read("x", Reason{}), read("y", Reason{}), read("x", Reason{}), read("y", Reason{})}, ""},
		"all":          {[]Reading{read("x", few), read("y", few), read("x", few), read("y", few)}, "every model by x; every model by y: 3 records."},
		"one":          {[]Reading{read("x", Reason{}), read("y", Reason{}), read("x", Reason{}), read("y", tied)}, "b by y: ties."},
		"two reasons":  {[]Reading{read("x", few), read("y", few), read("x", few), read("y", tied)}, "every model by x; a by y: 3 records.|b by y: ties."},
		"not together": {[]Reading{read("x", few), read("y", Reason{}), read("x", tied), read("y", Reason{})}, "a by x: 3 records.|b by x: ties."},
	} {
		if got := strings.Join(c.withheldNotes(models, c2.readings), "|"); got != c2.want {
			t.Errorf("%s: %q, want %q", name, got, c2.want)
		}
	}
}

func TestOneRecordIsOneRecord(t *testing.T) {
	for n, want := range map[int]string{1: "1 record in the smaller set, and with fewer", 2: "2 records in the smaller set, and with fewer"} {
		if why := TooFewRecords(n, "records in the smaller set").Why; !strings.HasPrefix(why, want) {
			t.Error(why)
		}
	}
}
