package audit_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/audit"
)

// inMemory is a matrix in memory.
type inMemory struct{ x *array.Matrix[float64] }

func (m inMemory) Read() (array.Rows, error) { return m.x, nil }

func (m inMemory) Width() int { return m.x.Cols }

// The sizes of evidence with copies.
const copyForget, copyRetain, copyHeld = 60, 300, 80

// copyEvidence has sets and no inputs yet.
func copyEvidence() *audit.Evidence {
	e := &audit.Evidence{Records: copyForget + copyRetain + copyHeld}
	for i := range e.Records {
		switch {
		case i < copyForget:
			e.Forget = append(e.Forget, i)
		case i < copyForget+copyRetain:
			e.Retain = append(e.Retain, i)
		default:
			e.HeldOut = append(e.HeldOut, i)
		}
	}
	return e
}

// vectorEvidence draws vectors in columns of very different scales.
func vectorEvidence(seed uint64) (*audit.Evidence, *array.Matrix[float64]) {
	e, rng := copyEvidence(), rand.New(rand.NewPCG(seed, 21))
	x := array.New[float64](e.Records, 5)
	for i := range e.Records {
		for j := range 5 {
			x.Row(i)[j] = math.Pow(10, float64(j)) * rng.NormFloat64()
		}
	}
	e.Inputs = inMemory{&x}
	return e, &x
}

func copiesOf(t *testing.T, e *audit.Evidence) *audit.Copies {
	t.Helper()
	c, err := e.Copies()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Planted copies are found, identical and nearly so, and named; held-out records that the models were
// trained on too.
func TestPlantedCopiesAreFound(t *testing.T) {
	e, x := vectorEvidence(1)
	for k, i := range []int{3, 17, 40} {
		copy(x.Row(e.Forget[i]), x.Row(e.Retain[10*k]))
	}
	for k, i := range []int{5, 50} {
		copy(x.Row(e.Forget[i]), x.Row(e.Retain[10*k+7]))
		for j := range 5 {
			x.Row(e.Forget[i])[j] *= 1 + 1e-4*float64(1+j)
		}
	}
	copy(x.Row(e.HeldOut[2]), x.Row(e.Retain[4]))
	copy(x.Row(e.HeldOut[9]), x.Row(e.Forget[30]))
	c := copiesOf(t, e)
	if !slices.Equal(c.IdenticalRows, []int{3, 17, 40}) || math.Abs(c.Identical.Value-0.05) > 1e-12 || !(c.Identical.Low < 0.05 && c.Identical.High > 0.05) {
		t.Errorf("identical: %v, %+v", c.IdenticalRows, c.Identical)
	}
	if !slices.Contains(c.NearRows, 5) || !slices.Contains(c.NearRows, 50) || len(c.NearRows) > 5 || slices.Contains(c.NearRows, 3) {
		t.Errorf("near: %v, %+v", c.NearRows, c.Near)
	}
	if !slices.Equal(c.HeldOutRows, []int{e.HeldOut[2], e.HeldOut[9]}) {
		t.Errorf("held-out records in training: %v", c.HeldOutRows)
	}
	if c.Searched != copyRetain || c.Compared != copyForget || c.Chance != 0.01 {
		t.Errorf("%+v", c)
	}
}

// Without a copy none is identical, and as many are near as the measure says.
func TestWithoutCopiesAsManyAreNearAsChanceSays(t *testing.T) {
	near, all := 0, 0
	for seed := range uint64(30) {
		e, _ := vectorEvidence(100 + seed)
		c := copiesOf(t, e)
		if len(c.IdenticalRows)+len(c.HeldOutRows) > 0 {
			t.Errorf("identical: %v, %v", c.IdenticalRows, c.HeldOutRows)
		}
		near, all = near+len(c.NearRows), all+c.Compared
	}
	if share := float64(near) / float64(all); share < 0.004 || share > 0.02 {
		t.Errorf("%.4f of the records are near by chance, the measure says 0.01", share)
	}
}

// Texts of planted copies: whole, with a token exchanged, and short ones.
func TestPlantedTextsAreFound(t *testing.T) {
	e, rng := copyEvidence(), rand.New(rand.NewPCG(2, 22))
	for range e.Records {
		text := make([]int, 60+rng.IntN(40))
		for k := range text {
			text[k] = rng.IntN(50)
		}
		e.Texts = append(e.Texts, text)
	}
	e.Texts[4] = slices.Clone(e.Texts[e.Retain[8]])
	e.Texts[6] = slices.Clone(e.Texts[e.Retain[11]])
	e.Texts[6][30] = 1000 // 5 of about 75 shingles
	e.Texts[7] = slices.Clone(e.Texts[e.Retain[12]])
	for k := 2; k < len(e.Texts[7]); k += 10 {
		e.Texts[7][k] = 1000 + k // half of the shingles: too many
	}
	e.Texts[9], e.Texts[e.Retain[20]] = []int{1, 2}, []int{1, 2}
	e.Texts[10], e.Texts[e.Retain[21]] = []int{3, 4}, []int{3, 4, 4}
	c := copiesOf(t, e)
	if !slices.Equal(c.IdenticalRows, []int{4, 9}) || !slices.Equal(c.NearRows, []int{6}) || c.Chance != 0 {
		t.Errorf("identical %v, near %v", c.IdenticalRows, c.NearRows)
	}
	by := func(a, b []int) float64 { // Jaccard's index, text by text
		sets := [2]map[[5]int]bool{{}, {}}
		for s, text := range [][]int{a, b} {
			for k := range len(text) - 4 {
				sets[s][[5]int(text[k:k+5])] = true
			}
		}
		common := 0
		for k := range sets[0] {
			if sets[1][k] {
				common++
			}
		}
		return float64(common) / float64(len(sets[0])+len(sets[1])-common)
	}
	if a, b := by(e.Texts[6], e.Texts[e.Retain[11]]), by(e.Texts[7], e.Texts[e.Retain[12]]); a < 0.8 || b >= 0.8 {
		t.Errorf("the planted texts share %.2f and %.2f", a, b)
	}
}

// Shares are over groups, where records are of groups.
func TestSharesOfCopiesAreOverGroups(t *testing.T) {
	e, x := vectorEvidence(3)
	for i := range e.Records {
		e.Groups = append(e.Groups, i/10)
	}
	for i := range 10 { // one whole group of six
		copy(x.Row(i), x.Row(e.Retain[i]))
	}
	c := copiesOf(t, e)
	if c.Identical.Clustered == nil || c.Identical.High-c.Identical.Low < 0.3 {
		t.Errorf("%+v", c.Identical)
	}
}

func TestCopiesRefuse(t *testing.T) {
	e := copyEvidence()
	if _, err := e.Copies(); err == nil {
		t.Error("records without inputs are compared")
	}
	e, _ = vectorEvidence(4)
	e.Retain = e.Retain[:50]
	if c := copiesOf(t, e); c.NearWhy == "" || !math.IsNaN(c.Near.Value) {
		t.Errorf("a quantile of 50 records: %+v", c)
	}
	e.Forget = nil
	if _, err := e.Copies(); err == nil {
		t.Error("there is nothing to forget")
	}
}

// Where all retained inputs are the same, identical copies are counted and near ones have a reason.
func TestCopiesOfRetainedRecordsThatAreAllTheSameAreCounted(t *testing.T) {
	e, x := vectorEvidence(5)
	for _, i := range e.Retain {
		copy(x.Row(i), []float64{1, 0.1, 3, -4, 5})
	}
	copy(x.Row(7), x.Row(e.Retain[0]))
	c := copiesOf(t, e)
	if !slices.Equal(c.IdenticalRows, []int{7}) || !math.IsNaN(c.Near.Value) || !strings.Contains(c.NearWhy, "300 of 300 retained records have no other one whose inputs differ") {
		t.Errorf("%v, %v, %q", c.IdenticalRows, c.Near.Value, c.NearWhy)
	}
}

// The unit of the inputs does not matter, however small its squares.
func TestNearCopiesDoNotDependOnTheUnit(t *testing.T) {
	e, x := vectorEvidence(6)
	copy(x.Row(5), x.Row(e.Retain[3]))
	x.Row(5)[2] *= 1 + 1e-4
	want := copiesOf(t, e)
	for i := range x.Data {
		x.Data[i] = math.Ldexp(x.Data[i], -700)
	}
	if c := copiesOf(t, e); !slices.Contains(want.NearRows, 5) || !slices.Equal(c.NearRows, want.NearRows) {
		t.Errorf("near %v, in small units %v, %q", want.NearRows, c.NearRows, c.NearWhy)
	}
}
