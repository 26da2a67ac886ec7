package ruler

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

func measure(t *testing.T, u, o, g *matrix, forget, retain []int, opt Options) *Result {
	t.Helper()
	r, err := Measure(Evidence{Unlearned: u, Oracle: o, Original: g, Forget: forget, Retain: retain}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func values(r *Result) []float64 {
	return []float64{r.M1.Value, r.M2.Value, r.M2Mean.Value, r.M3.Value, r.M4.Value}
}

// Exactly: an ulp would be a spread where there is none, and a test of it an effect.
func TestTheOracleAgainstItselfHasM1OneAndM2Zero(t *testing.T) {
	u, _, g, forget, retain := golden()
	r := measure(t, u, u, g, forget, retain, Options{})
	checkClose(t, "M1", r.M1.Value, 1, 0)
	checkClose(t, "M2", r.M2.Value, 0, 0)
	rng := rand.New(rand.NewPCG(7, 7))
	for _, p := range []int{1, 2, 3, 17, 64, 513, 2048} {
		x := gaussian(rng, 300, p)
		for i, s := range pairedCosines(x, x, forget[:10]) {
			if s != 1 {
				t.Errorf("%d columns, record %d: its cosine with itself is 1 - %g", p, forget[i], 1-s)
			}
		}
	}
}

func TestAnUntouchedModelHasM3Zero(t *testing.T) {
	u, o, _, forget, retain := golden()
	r := measure(t, u, o, u, forget, retain, Options{})
	checkClose(t, "M3", r.M3.Value, 0, 0)
}

func TestRenumberingRecordsChangesNothing(t *testing.T) {
	u, o, g, forget, retain := golden()
	perm := rand.New(rand.NewPCG(1, 1)).Perm(u.Rows)
	at := make([]int, len(perm))
	for k, i := range perm {
		at[i] = k
	}
	moved := func(m *matrix) *matrix { x := m.Gather(perm); return &x }
	mapped := func(rows []int) []int {
		out := make([]int, len(rows))
		for k, i := range rows {
			out[k] = at[i]
		}
		return out
	}
	a := measure(t, u, o, g, forget, retain, Options{})
	b := measure(t, moved(u), moved(o), moved(g), mapped(forget), mapped(retain), Options{})
	for k, v := range values(a) {
		checkClose(t, "metric", values(b)[k], v, 0)
	}
}

func TestRescalingRowsByPowersOfTwoChangesNothing(t *testing.T) {
	u, o, g, forget, retain := golden()
	scaled := func(m *matrix) *matrix {
		out := array.New[float64](m.Rows, m.Cols)
		for i := range m.Rows {
			for j, v := range m.Row(i) {
				out.Row(i)[j] = math.Ldexp(v, i%7-3)
			}
		}
		return &out
	}
	a := measure(t, u, o, g, forget, retain, Options{})
	b := measure(t, scaled(u), scaled(o), scaled(g), forget, retain, Options{})
	for k, v := range values(a) {
		checkClose(t, "metric", values(b)[k], v, 0)
	}
}

// rotate multiplies every row by one reflection I - 2 v v'/v'v.
func rotate(m *matrix, v []float64) *matrix {
	out := array.New[float64](m.Rows, m.Cols)
	vv := kernels.Dot(v, v)
	for i := range m.Rows {
		c := 2 * kernels.Dot(m.Row(i), v) / vv
		for j, x := range m.Row(i) {
			out.Row(i)[j] = x - c*v[j]
		}
	}
	return &out
}

func TestOneRotationOfAllModelsChangesNothing(t *testing.T) {
	u, o, g, forget, retain := golden()
	v := gaussian(rand.New(rand.NewPCG(2, 2)), 1, u.Cols).Data
	a := measure(t, u, o, g, forget, retain, Options{})
	b := measure(t, rotate(u, v), rotate(o, v), rotate(g, v), forget, retain, Options{})
	for k, x := range values(a) {
		checkClose(t, "metric", values(b)[k], x, 1e-13)
	}
}

func TestRotatingOneModelMovesM1ButNotM4(t *testing.T) {
	u, o, _, forget, retain := golden()
	v := gaussian(rand.New(rand.NewPCG(3, 3)), 1, u.Cols).Data
	a := measure(t, u, o, nil, forget, retain, Options{})
	b := measure(t, rotate(u, v), o, nil, forget, retain, Options{})
	checkClose(t, "M4", b.M4.Value, a.M4.Value, 1e-13)
	if b.M1.Value > a.M1.Value-0.01 {
		t.Errorf("M1 went from %v to %v, want a visible fall", a.M1.Value, b.M1.Value)
	}
}

// The median is only unbiased for the mean of a symmetric distribution, so the null of
// M2 is tested on small angles around a right angle, whose cosines are.
func TestM2IsZeroWhenExchangeable(t *testing.T) {
	sum, trials := 0.0, 60
	for seed := range trials {
		rng := rand.New(rand.NewPCG(uint64(seed), 4))
		u, o := gaussian(rng, 300, 32), gaussian(rng, 300, 32)
		forget, retain := split(rng, 300, 60)
		sum += measure(t, u, o, nil, forget, retain, Options{PointOnly: true}).M2.Value
	}
	// sd of one trial is about 0.177 sqrt(1/60 + 1.57/240) = 0.027
	checkClose(t, "mean M2 of 60 trials", sum/float64(trials), 0, 4*0.027/math.Sqrt(float64(trials)))
}

func TestM4IsOneHalfWhenExchangeable(t *testing.T) {
	sum, trials := 0.0, 100
	for seed := range trials {
		rng := rand.New(rand.NewPCG(uint64(seed), 5))
		u := gaussian(rng, 300, 8)
		forget, retain := split(rng, 300, 30)
		sum += measure(t, u, nil, nil, forget, retain, Options{PointOnly: true}).M4.Value
	}
	checkClose(t, "mean M4 of 100 trials", sum/float64(trials), 0.5, 0.025)
}

func TestPlantedCopiesOfRetainedRecordsRaiseM4(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	u := gaussian(rng, 200, 16)
	forget, retain := split(rng, 200, 20)
	for k, i := range forget {
		copy(u.Row(i), u.Row(retain[k]))
	}
	r := measure(t, u, nil, nil, forget, retain, Options{})
	checkClose(t, "M4", r.M4.Value, 1, 0)
	if r.Copies != len(forget) || measure(t, u, nil, nil, retain[:20], retain[20:], Options{}).Copies != 0 {
		t.Errorf("%d copies among %d planted ones", r.Copies, len(forget))
	}
}

func TestForgetRecordsPushedAwayLowerM4(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	u := gaussian(rng, 200, 16)
	forget, retain := split(rng, 200, 20)
	for i := range 200 {
		u.Row(i)[0] = 10
	}
	for _, i := range forget {
		u.Row(i)[0] = -10
	}
	r := measure(t, u, nil, nil, forget, retain, Options{})
	checkClose(t, "M4", r.M4.Value, 0, 0)
}

func TestDisplacedForgetRecordsMakeM2Negative(t *testing.T) {
	u, o, _, forget, retain := golden()
	rng := rand.New(rand.NewPCG(8, 8))
	for _, i := range forget {
		for j := range u.Row(i) {
			u.Row(i)[j] += 0.3 * rng.NormFloat64()
		}
	}
	r := measure(t, u, o, nil, forget, retain, Options{})
	if r.M2.High >= 0 {
		t.Errorf("M2 = %v, want an interval below 0", r.M2)
	}
}

func TestTiesCountBySmallerOrEqual(t *testing.T) {
	// Cosines of multiples of 90 degrees are exact: retained records at 0, 90
	// and 180 degrees have q = 0, 0, 0, and the forget record at 270 has p = 0.
	m := array.Matrix[float64]{Rows: 4, Cols: 2, Data: []float64{1, 0, 0, 1, -1, 0, 0, -1}}
	r := measure(t, &m, nil, nil, []int{3}, []int{0, 1, 2}, Options{})
	checkClose(t, "M4", r.M4.Value, 1, 0)
}

func TestWithoutAnOracleOnlyM4Remains(t *testing.T) {
	u, _, g, forget, retain := golden()
	r := measure(t, u, nil, g, forget, retain, Options{})
	if r.M1 != nil || r.M2 != nil || r.M2Mean != nil || r.M3 != nil || r.M4 == nil {
		t.Errorf("metrics without an oracle: %+v", r)
	}
}

func TestNothingGivenIsChanged(t *testing.T) {
	u, o, g, forget, retain := golden()
	u2, o2, g2, forget2, retain2 := golden()
	measure(t, u, o, g, forget, retain, Options{})
	for i := range u.Data {
		if u.Data[i] != u2.Data[i] || o.Data[i] != o2.Data[i] || g.Data[i] != g2.Data[i] {
			t.Fatalf("value %d changed", i)
		}
	}
	for k := range forget {
		if forget[k] != forget2[k] {
			t.Fatalf("forget[%d] changed", k)
		}
	}
	for k := range retain {
		if retain[k] != retain2[k] {
			t.Fatalf("retain[%d] changed", k)
		}
	}
}

// copied deals pairs of identical rectified embeddings: in most pairs both are
// retained, in a few one is to be forgotten, as in a table with doubled records.
func copied(rng *rand.Rand) (u *matrix, forget, retain []int) {
	u = rectify(gaussian(rng, 240, 24))
	for i := 0; i < 120; i += 2 {
		copy(u.Row(i+1), u.Row(i))
	}
	for i := range 240 {
		if i%12 == 0 {
			forget = append(forget, i)
		} else {
			retain = append(retain, i)
		}
	}
	return u, forget, retain
}

// A copy of a retained record is as near as anything can be: nothing ranks above
// it, whatever the order of the columns that are summed over.
func TestTheOrderOfColumnsDoesNotMoveM4AmongCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 21))
	u, forget, retain := copied(rng)
	first := measure(t, u, nil, nil, forget, retain, Options{})
	if first.Copies != 10 {
		t.Fatalf("%d copies, planted 10", first.Copies)
	}
	moved := false
	for range 20 {
		perm := rng.Perm(u.Cols)
		v := array.New[float64](u.Rows, u.Cols)
		for i := range u.Rows {
			for j, k := range perm {
				v.Row(i)[j] = u.Row(i)[k]
			}
		}
		r := measure(t, &v, nil, nil, forget, retain, Options{})
		checkClose(t, "M4 with other columns first", r.M4.Value, first.M4.Value, 0)
		checkClose(t, "M4 of the function", must(t, &v, forget, retain, Options{}), r.M4.Value, 0)
		checkClose(t, "M4 of the function, as coded", must(t, &v, forget, retain, Options{Ties: LastBit}), r.M4AsCoded.Value, 0)
		moved = moved || r.M4AsCoded.Value != first.M4AsCoded.Value
	}
	for k, rank := range first.PerRecord.Rank {
		if forget[k] < 120 && rank != 1 {
			t.Errorf("record %d has a copy and the rank %v", forget[k], rank)
		}
	}
	if !moved || first.M4AsCoded.Value >= first.M4.Value {
		t.Errorf("M4 as coded is %v, with ties %v, and does not depend on the last bit", first.M4AsCoded.Value, first.M4.Value)
	}
}

func must(t *testing.T, u *matrix, forget, retain []int, opt Options) float64 {
	t.Helper()
	e, _, err := M4(Evidence{Unlearned: u, Forget: forget, Retain: retain}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return e.Value
}

// What a network tells apart is no tie.
func TestSimilaritiesThatDifferByMoreAreNoTies(t *testing.T) {
	angle := func(a float64) []float64 { return []float64{math.Cos(a), math.Sin(a)} }
	near45, apart := math.Pi/4, 1e-9
	// The forget record's nearest is apart further from it than two retained ones
	// are from each other; at an angle of 45 degrees a cosine feels that fully.
	rows := [][]float64{angle(0), angle(near45 + apart), angle(math.Pi), angle(math.Pi + near45)}
	m := array.New[float64](4, 2)
	for i, r := range rows {
		copy(m.Row(i), r)
	}
	checkClose(t, "M4", must(t, &m, []int{0}, []int{1, 2, 3}, Options{}), 1.0/3, 1e-15)
}
