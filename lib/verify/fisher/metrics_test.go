package fisher

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

func vector(name string, v ...float64) Tensor {
	return Tensor{Name: name, Shape: []int{len(v)}, Values: v}
}

func diagonalOf(v ...Tensor) Diagonal { return Diagonal{Tensors: v} }

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// random are the squares of normal numbers.
func random(rng *rand.Rand, rows, cols int) Tensor {
	t := Tensor{Name: "w", Shape: []int{rows, cols}, Values: make([]float64, rows*cols)}
	for i := range t.Values {
		t.Values[i] = math.Pow(rng.NormFloat64(), 2)
	}
	return t
}

func TestCosineByHand(t *testing.T) {
	float := must[float64](t)
	checkClose(t, "3-4-5", float(Cosine(diagonalOf(vector("w", 3, 4)), diagonalOf(vector("w", 4, 3)))), 24.0/25, 1e-15)
	checkClose(t, "over tensors", float(Cosine(diagonalOf(vector("a", 3), vector("b", 4)), diagonalOf(vector("a", 4), vector("b", 3)))), 24.0/25, 1e-15)
	checkClose(t, "nothing in common", float(Cosine(diagonalOf(vector("w", 1, 0)), diagonalOf(vector("w", 0, 1)))), 0, 0)
	a, b := diagonalOf(random(rand.New(rand.NewPCG(1, 1)), 5, 7)), diagonalOf(random(rand.New(rand.NewPCG(2, 1)), 5, 7))
	plain := float(Cosine(a, b))
	if plain != float(Cosine(b, a)) {
		t.Error("exchanged sets have another cosine")
	}
	scaled := diagonalOf(random(rand.New(rand.NewPCG(1, 1)), 5, 7))
	for i := range scaled.Tensors[0].Values {
		scaled.Tensors[0].Values[i] *= 1e-12
	}
	checkClose(t, "scaled", float(Cosine(scaled, b)), plain, 1e-12)
	checkClose(t, "itself", float(Cosine(a, scaled)), 1, 1e-12)
	_, err := Cosine(a, diagonalOf(vector("v", 1)))
	wantWords(t, err, "tensor 0 is w [5 7] in one and v [1] in the other")
	_, err = Cosine(diagonalOf(vector("w", 0, 0)), diagonalOf(vector("w", 1, 0)))
	wantWords(t, err, "dead")
	_, err = Cosine(diagonalOf(vector("w", -1)), diagonalOf(vector("w", 1)))
	wantWords(t, err, "tensor w: element 0 is -1")
	_, err = Cosine(diagonalOf(vector("w", math.NaN())), diagonalOf(vector("w", 1)))
	wantWords(t, err, "element 0 is NaN")
	_, err = Cosine(Diagonal{}, Diagonal{})
	wantWords(t, err, "no weights")
}

// A row of zeros has no cosine without damping, and 1 with it.
func TestRowsByHand(t *testing.T) {
	a := Tensor{Name: "w", Shape: []int{3, 2}, Values: []float64{3, 4, 1, 0, 0, 0}}
	b := Tensor{Name: "w", Shape: []int{3, 2}, Values: []float64{4, 3, 0, 1, 1, 1}}
	got := must[[]float64](t)(RowCosines(a, b))
	if math.Abs(got[0]-0.96) > 1e-15 || got[1] != 0 || !math.IsNaN(got[2]) {
		t.Error(got)
	}
	part := must[Tensor](t)(a.Columns(1, 2))
	if !slices.Equal(part.Values, []float64{4, 0, 0}) || !slices.Equal(part.Shape, []int{3, 1}) {
		t.Errorf("the second column is %+v", part)
	}
	_, err := a.Columns(1, 3)
	wantWords(t, err, "columns 1 to 3 of 2")
}

func TestEffectiveRankByHand(t *testing.T) {
	float := must[float64](t)
	checkClose(t, "equal", float(EffectiveRank(diagonalOf(vector("w", 2, 2, 2, 2)))), 4, 1e-12)
	checkClose(t, "one", float(EffectiveRank(diagonalOf(vector("w", 0, 5, 0)))), 1, 1e-12)
	// exp(-(ln(1/2)/2 + 2 ln(1/4)/4)) = 2^1.5
	checkClose(t, "half and quarters", float(EffectiveRank(diagonalOf(vector("v", 2), vector("w", 1, 1)))), math.Pow(2, 1.5), 1e-12)
	_, err := EffectiveRank(diagonalOf(vector("w", 0)))
	wantWords(t, err, "dead")
}

func TestTopSharedByHand(t *testing.T) {
	float := must[float64](t)
	a, b := diagonalOf(vector("w", 9, 8, 7, 0, 0, 0, 0, 0, 0, 0)), diagonalOf(vector("w", 9, 0, 7, 8, 0, 0, 0, 0, 0, 0))
	checkClose(t, "two of three", float(TopShared(a, b, 0.3)), 2.0/3, 0)
	checkClose(t, "one at least", float(TopShared(a, b, 0.01)), 1, 0)
	checkClose(t, "of ties the first", float(TopShared(diagonalOf(vector("w", 1, 1, 1)), diagonalOf(vector("w", 0, 0, 5)), 0.34)), 0, 0)
	checkClose(t, "all", float(TopShared(a, b, 1)), 1, 0)
	rng := rand.New(rand.NewPCG(1, 2))
	checkClose(t, "null", float(TopShared(diagonalOf(random(rng, 200, 100)), diagonalOf(random(rng, 200, 100)), 0.1)), 0.1, 0.02)
	_, err := TopShared(a, b, 0)
	wantWords(t, err, "the largest 0")
}

// So many dead weights bring the correlation of unrelated entries near 1.
func TestDeadWeightsCorrelate(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	a, b := diagonalOf(random(rng, 40, 100)), diagonalOf(random(rng, 40, 100))
	for _, d := range []*Diagonal{&a, &b} {
		dead := Tensor{Name: "dead", Shape: []int{1600}, Values: make([]float64, 1600)}
		d.Damping, d.Tensors = 1e-8, append(d.Tensors, dead)
		for _, t := range d.Tensors {
			for j := range t.Values {
				t.Values[j] += d.Damping
			}
		}
	}
	with, n, err := LogPearson(a, b, true)
	if err != nil || n != 5600 || with < 0.7 {
		t.Errorf("with dead weights %v of %d (%v)", with, n, err)
	}
	without, n, err := LogPearson(a, b, false)
	if err != nil || n != 4000 || math.Abs(without) > 0.05 {
		t.Errorf("without %v of %d (%v)", without, n, err)
	}
	// By hand: ln of 1, e, e^2 against 2, 1, 3 is r = 1/2.
	r, n, err := LogPearson(diagonalOf(vector("w", 1, math.E, math.E*math.E, 0)), diagonalOf(vector("w", math.E*math.E, math.E, math.Exp(3), 1)), false)
	if checkClose(t, "r", r, 0.5, 1e-12); n != 3 || err != nil {
		t.Error(n, err)
	}
}

// Forget and retain have different ranks: exchanged they stand exchanged.
func TestCompareKnowsWhoIsWho(t *testing.T) {
	f := diagonalOf(vector("encoder.a", 1, 0, 0, 0), vector("b", 0, 0), vector("encoder.c", 1))
	r := diagonalOf(vector("encoder.a", 1, 1, 1, 1), vector("b", 0, 0), vector("encoder.c", 1))
	category := func(name string) string {
		if name == "b" {
			return "other"
		}
		return "encoder"
	}
	got := must[[]Part](t)(Compare(f, r, category))
	if len(got) != 2 || got[0].Name != "encoder" || got[1].Name != Global || got[0].Weights != 5 || got[1].Dead != 2 || got[0].Dead != 0 {
		t.Fatalf("%+v", got)
	}
	checkClose(t, "cosine", got[0].Cosine, 2/math.Sqrt(2*5), 1e-12)
	checkClose(t, "rank of the forget set", got[0].RankForget, 2.0/5, 1e-12)
	checkClose(t, "rank of the retain set", got[0].RankRetain, 1, 1e-12)
	short := must[map[string]float64](t)(Cosines(f, r, category))
	if len(short) != 2 || math.Abs(short["encoder"]-got[0].Cosine) > 1e-15 || math.Abs(short[Global]-got[1].Cosine) > 1e-15 {
		t.Errorf("%v", short)
	}
	_, err := Compare(diagonalOf(vector("w", 0)), diagonalOf(vector("w", 0)), ByTensor)
	wantWords(t, err, "dead")
}

func TestSpectrumOfAProductIsOneNumber(t *testing.T) {
	outer := Tensor{Name: "w", Shape: []int{2, 3}, Values: []float64{1, 2, 3, 2, 4, 6}}
	if got := must[[]float64](t)(Spectrum(outer)); math.Abs(got[0]-1) > 1e-12 || len(got) != 2 {
		t.Error(got)
	}
	// diag(3, 1): 9/10 and 1/10.
	diagonal := Tensor{Name: "w", Shape: []int{2, 2}, Values: []float64{1, 0, 0, 3}}
	got := must[[]float64](t)(Spectrum(diagonal))
	checkClose(t, "first", got[0], 0.9, 1e-12)
	checkClose(t, "second", got[1], 0.1, 1e-12)
	_, err := Spectrum(vector("w", 1))
	wantWords(t, err, "no matrix")
}

// set are the residuals and inputs of n records with the given spreads, independent
// of one another.
func set(rng *rand.Rand, n int, e, h []float64) (residuals, inputs array.Matrix[float64]) {
	draw := func(spread []float64) array.Matrix[float64] {
		m := array.New[float64](n, len(spread))
		for i := range m.Data {
			m.Data[i] = spread[i%len(spread)] * rng.NormFloat64()
		}
		return m
	}
	return draw(e), draw(h)
}

// crossed pairs every residual with every input, so that they are independent exactly.
func crossed(residuals, inputs array.Matrix[float64]) (e, h array.Matrix[float64]) {
	e, h = array.New[float64](residuals.Rows*inputs.Rows, residuals.Cols), array.New[float64](residuals.Rows*inputs.Rows, inputs.Cols)
	for i := range residuals.Rows {
		for k := range inputs.Rows {
			copy(e.Row(i*inputs.Rows+k), residuals.Row(i))
			copy(h.Row(i*inputs.Rows+k), inputs.Row(k))
		}
	}
	return e, h
}

// Proposition 1: exact where every residual meets every input, near in a large sample
// of independent ones, and wrong where a record's residual grows with its input.
func TestPropositionOneOnALinearDecoder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	linear, factors := must[Tensor](t), must[Factors](t)
	spreads := [2][2][]float64{{{1, 2, 0.5, 1}, {1, 0.3, 2}}, {{2, 1, 1, 0.5}, {0.5, 1, 1}}}
	measure := func(prepare func(e, h array.Matrix[float64]) (array.Matrix[float64], array.Matrix[float64]), n int) (Factors, float64) {
		var f [2]Tensor
		var m [2]Marginals
		for s := range f {
			e, h := prepare(set(rng, n, spreads[s][0], spreads[s][1]))
			f[s], m[s] = linear(Linear(e, h)), must[Marginals](t)(MomentMarginals(e, h))
		}
		_, _, direct, err := m[0].Cosines(m[1])
		if err != nil {
			t.Fatal(err)
		}
		return factors(Factorise(f[0], f[1])), direct
	}
	got, direct := measure(crossed, 7)
	checkClose(t, "crossed: product", got.Product, got.Cosine, 1e-12)
	checkClose(t, "crossed: by the data", direct, got.Cosine, 1e-12)
	if got.Cosine > 0.95 || got.Sigma > 0.99 || got.Nu > 0.99 {
		t.Errorf("the sets are too alike to show anything: %+v", got)
	}
	as := func(e, h array.Matrix[float64]) (array.Matrix[float64], array.Matrix[float64]) { return e, h }
	got, direct = measure(as, 40_000)
	checkClose(t, "independent: product", got.Product, got.Cosine, 0.01)
	checkClose(t, "independent: by the data", direct, got.Cosine, 0.01)
	got, direct = measure(func(e, h array.Matrix[float64]) (array.Matrix[float64], array.Matrix[float64]) {
		for i := range e.Rows {
			e.Row(i)[0] *= h.Row(i)[0] * h.Row(i)[0]
		}
		return e, h
	}, 4000)
	if math.Abs(got.Ratio-1) < 0.02 || math.Abs(direct-got.Cosine) < 0.02 {
		t.Errorf("residuals that grow with the input: %+v, by the data %v", got, direct)
	}
	_, err := Linear(array.New[float64](2, 1), array.New[float64](3, 1))
	wantWords(t, err, "2 x 1 and inputs of 3 x 1")
	_, err = Factorise(vector("w", 1), vector("w", 1))
	wantWords(t, err, "no matrix")
	_, _, _, err = Marginals{Sigma: []float64{1}}.Cosines(Marginals{})
	wantWords(t, err, "profiles of 1 and 0")
}

// Linear is the closed form of a loop that forms every record's gradient.
func TestLinearIsALoopOverRecords(t *testing.T) {
	e, h := set(rand.New(rand.NewPCG(4, 4)), 5, []float64{1, 2}, []float64{1, 2, 3})
	got := must[Tensor](t)(Linear(e, h))
	for d := range 2 {
		for k := range 3 {
			want := 0.0
			for i := range 5 {
				want += math.Pow(-2*e.Row(i)[d]*h.Row(i)[k], 2) / 5
			}
			checkClose(t, "entry", got.Values[3*d+k], want, 1e-12*want)
		}
	}
}

// Three records and two weights by hand; the mean gradient of a batch grows with it.
func TestGradientsByHand(t *testing.T) {
	d := must[Diagonal](t)
	g := array.Matrix[float64]{Rows: 3, Cols: 2, Data: []float64{1, 0, -1, 2, 0, 2}}
	for _, c := range []struct {
		got        Diagonal
		x, y, damp float64
	}{
		{d(FromGradients(g)), 2.0 / 3, 8.0 / 3, 0},
		{d(Coded{}.FromGradients(g)), 0 + 1e-8, 16.0/3 + 1e-8, 1e-8},
		{d(Coded{Batch: 2}.FromGradients(g)), 0 + 1e-8, 8.0/3 + 1e-8, 1e-8},
	} {
		v := c.got.Tensors[0].Values
		checkClose(t, "first", v[0], c.x, 1e-15)
		checkClose(t, "second", v[1], c.y, 1e-12)
		checkClose(t, "damping", c.got.Damping, c.damp, 0)
	}
	_, err := FromGradients(array.Matrix[float64]{Rows: 1, Cols: 1, Data: []float64{math.NaN()}})
	wantWords(t, err, "gradients")
	_, err = FromGradients(array.New[float64](0, 2))
	wantWords(t, err, "0 records by 2 weights")
	_, err = Coded{Batch: -1}.FromGradients(g)
	wantWords(t, err, "batches of -1")
	// Mean m and variance v: as coded v + B m^2, exactly v + m^2.
	rng := rand.New(rand.NewPCG(2, 7))
	many := array.New[float64](60_000, 1)
	for i := range many.Data {
		many.Data[i] = 0.5 + rng.NormFloat64()
	}
	checkClose(t, "exact", d(FromGradients(many)).Tensors[0].Values[0], 1.25, 0.03)
	checkClose(t, "batches of 30", d(Coded{Batch: 30}.FromGradients(many)).Tensors[0].Values[0], 1+30*0.25, 0.3)
}

// The largest entries are those that a sort puts first, with many equal ones and with
// numbers of every size; roles do not matter to a share of equal numbers.
func TestTheLargestAreThoseOfASort(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for trial := range 50 {
		a, b := random(rng, 7, 11), random(rng, 5, 3)
		for _, v := range [][]float64{a.Values, b.Values} {
			for i := range v {
				switch v[i] = math.Abs(v[i]); trial % 3 {
				case 1:
					v[i] = math.Round(2 * v[i])
				case 2:
					v[i] = math.Ldexp(v[i], rng.IntN(1200)-900)
				}
			}
		}
		a.Values[3] = math.Copysign(0, -1)
		d, all := diagonalOf(a, b), slices.Concat(a.Values, b.Values)
		k := 1 + rng.IntN(len(all))
		sorted := slices.Sorted(slices.Values(all))
		bar, n := sorted[len(sorted)-k], 0
		for i, is := range markLargest(d, k) {
			if is {
				n++
			}
			if is && all[i] < bar || !is && all[i] > bar {
				t.Fatalf("trial %d: of %v the entry %v is among the %d largest: %t", trial, sorted, all[i], k, is)
			}
		}
		if n != k {
			t.Fatalf("trial %d: %d of %d marked", trial, n, k)
		}
	}
}

// By category, as a whole, and with dead tensors only where they count.
func TestTopsShared(t *testing.T) {
	v := func(from, step float64) []float64 {
		var out []float64
		for i := range 100 {
			out = append(out, from+step*float64(i))
		}
		return out
	}
	a := diagonalOf(vector("x", v(1, 1)...), vector("y", v(1, 1)...), vector("dead", make([]float64, 100)...))
	b := diagonalOf(vector("x", v(1, 1)...), vector("y", v(100, -1)...), vector("dead", make([]float64, 100)...))
	category := func(name string) string { return name }
	got := must[map[string]TopShares](t)(TopSharesByCategory(a, b, category, false))
	if got["x"] != (TopShares{1, 1}) || got["y"] != (TopShares{0, 0}) || len(got) != 3 || got[Global] != (TopShares{0.5, 0.5}) {
		t.Errorf("%+v", got)
	}
	got = must[map[string]TopShares](t)(TopSharesByCategory(a, b, category, true))
	if got["dead"] != (TopShares{1, 1}) || len(got) != 4 {
		t.Errorf("with dead ones %+v", got)
	}
	if _, err := TopSharesByCategory(a, diagonalOf(vector("x", 1)), category, false); err == nil {
		t.Error("other tensors are taken")
	}
}
