package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var functions64 = []struct {
	name string
	at   func(l Level, dst, a []float64)
	of   func(dst, a []float64)
	want func(x float64) float64
	ulps float64 // from package math, which is itself up to one off
}{
	{"Neg64", neg64At, Neg64, func(x float64) float64 { return -x }, 0},
	{"Abs64", abs64At, Abs64, math.Abs, 0},
	{"Sqrt64", sqrt64At, Sqrt64, math.Sqrt, 0},
	{"Exp64", exp64At, Exp64, math.Exp, 2},
	{"Log64", log64At, Log64, logOfAll, 2},
	{"Log1p64", log1p64At, Log1p64, math.Log1p, 2},
}

// logOfAll is the logarithm below the normal numbers too, where package math's is wrong in
// its assembly for amd64 (Go 1.26).
func logOfAll(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

var pairs64 = []struct {
	name string
	at   func(l Level, dst, a, b []float64)
	of   func(dst, a, b []float64)
	want func(x, y float64) float64
}{
	{"Add64", add64At, Add64, func(x, y float64) float64 { return x + y }},
	{"Sub64", sub64At, Sub64, func(x, y float64) float64 { return x - y }},
	{"Mul64", mul64At, Mul64, func(x, y float64) float64 { return x * y }},
	{"Div64", div64At, Div64, func(x, y float64) float64 { return x / y }},
	{"Max64", max64At, Max64, func(x, y float64) float64 { return max(x, y) }},
	{"Min64", min64At, Min64, func(x, y float64) float64 { return min(x, y) }},
}

// some64 are numbers of every size, those around the special ones, and the special ones.
func some64(n int) []float64 {
	g := rand.New(rand.NewPCG(64, 1))
	var out []float64
	for _, x := range []float64{
		0, 1, 2, 0.5, 709.78, 709.79, 710, 745.13, 745.14, 746, 708.4, 0x1p-1022, 0x1p-1074, math.MaxFloat64, math.Inf(1), math.Sqrt2,
		math.Sqrt2 / 2, math.Sqrt2 - 1, 1 - math.Sqrt2/2, 0x1p-53, 0x1p53, 0x1p-26, math.Ln2, math.Ln2 / 2,
	} {
		for d := -20; d <= 20; d++ {
			y := math.Float64frombits(math.Float64bits(x) + uint64(d))
			out = append(out, y, -y)
		}
	}
	for len(out) < n {
		out = append(out, math.Float64frombits(g.Uint64()), g.NormFloat64(), 1+0.5*g.NormFloat64(), 200*g.NormFloat64())
	}
	return out
}

func apart64(x, y float64) float64 {
	switch {
	case x == y, x != x && y != y:
		return 0
	case math.IsInf(x, 0) || math.IsInf(y, 0) || x != x || y != y:
		return math.Inf(1)
	}
	return math.Abs(x-y) / math.Ldexp(1, max(math.Ilogb(y), -1022)-52)
}

func sameBits64(x, y float64) bool {
	return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
}

func TestFunctionsOfFloat64(t *testing.T) {
	in := some64(200_000)
	for _, f := range functions64 {
		want := make([]float64, len(in))
		f.at(Scalar, want, in)
		worst := 0.0
		for i, x := range in {
			y := f.want(x)
			u := apart64(want[i], y)
			if f.name == "Exp64" && x > 709 && x < 709.782712893384 {
				continue // where package math is infinite before it should be; see truths64
			}
			if u > f.ulps || y == 0 && math.Signbit(y) != math.Signbit(want[i]) {
				t.Fatalf("%s(%v) is %v, not %v: %.1f units", f.name, x, want[i], y, u)
			}
			worst = max(worst, u)
		}
		t.Logf("%s: at most %.0f units from package math", f.name, worst)
		checkLevels64(t, f.name, want, func(l Level, dst []float64) { f.at(l, dst, in[:len(dst)]) })
		got := make([]float64, len(in))
		f.of(got, in)
		if !slices.EqualFunc(got, want, sameBits64) {
			t.Errorf("%s is not its kernel", f.name)
		}
	}
	other := slices.Clone(in)
	slices.Reverse(other)
	for _, f := range pairs64 {
		want := make([]float64, len(in))
		for i := range want {
			want[i] = f.want(in[i], other[i])
		}
		checkLevels64(t, f.name, want, func(l Level, dst []float64) { f.at(l, dst, in[:len(dst)], other[:len(dst)]) })
		got := make([]float64, len(in))
		f.of(got, in, other)
		if !slices.EqualFunc(got, want, sameBits64) {
			t.Errorf("%s is not its kernel", f.name)
		}
	}
}

// checkLevels64 compares what all levels write with want, and looks for what they write
// beside it, for every short length.
func checkLevels64(t *testing.T, name string, want []float64, f func(l Level, dst []float64)) {
	t.Helper()
	for _, l := range levels() {
		for n := len(want); n >= 0; n = min(n-1, 40) {
			got := make([]float64, n+9)
			f(l, got[:n])
			for i, w := range append(want[:n:n], make([]float64, 9)...) {
				if !sameBits64(got[i], w) {
					t.Fatalf("%v: %s of %d: element %d is %v, not %v", l, name, n, i, got[i], w)
				}
			}
		}
	}
}

// truths64 are values of mpmath 1.3 at 60 digits, rounded: where rounding and the change
// from one series to the next are the hardest.
var truths64 = []struct {
	name string
	x, y float64
}{
	{"Exp64", 709.78, 1.7928227943945155e+308},
	{"Exp64", 709.7827128933839, 1.7976931348620688e+308},
	{"Exp64", 480.03898864472507, 3.0080417990853356e+208},
	{"Exp64", -708.4, 2.217119081664265e-308},
	{"Exp64", 0.3465735902799726, 1.414213562373095},
	{"Exp64", -0.3465735902799727, 0.7071067811865475},
	{"Exp64", 1e-08, 1.00000001},
	{"Log64", 1.4142135623730947, 0.3465735902799724},
	{"Log64", 1.4142135623730951, 0.3465735902799727},
	{"Log64", 0.7071067811865475, -0.34657359027997275},
	{"Log64", 1.0000000000000002, 2.2204460492503128e-16},
	{"Log64", 0.9999999999999999, -1.1102230246251565e-16},
	{"Log64", 5e-324, -744.4400719213812},
	{"Log64", 2.2250738585072014e-308, -708.3964185322641},
	{"Log64", 1.7976931348623157e+308, 709.782712893384},
	{"Log1p64", 0.4142135623730947, 0.3465735902799724},
	{"Log1p64", -0.2928932188134524, -0.3465735902799726},
	{"Log1p64", 1e-16, 1e-16},
	{"Log1p64", -1e-300, -1e-300},
	{"Log1p64", 3.0, 1.3862943611198906},
	{"Log1p64", 1e+17, 39.14394658089878},
	{"Log1p64", -0.9999999999999999, -36.7368005696771},
}

func TestFunctionsOfFloat64AreWithinAUnit(t *testing.T) {
	for _, c := range truths64 {
		for _, f := range functions64 {
			if f.name != c.name {
				continue
			}
			got := []float64{c.x}
			f.of(got, got)
			if u := apart64(got[0], c.y); u > 1 {
				t.Errorf("%s(%v) is %v, not %v: %.0f units", c.name, c.x, got[0], c.y, u)
			}
		}
	}
}

func TestWideningIsExactAndNarrowingRounds(t *testing.T) {
	for _, n := range lengths() {
		wide := some64(n)[:n]
		for _, l := range levels() {
			name := fmt.Sprintf("%v, %d elements", l, n)
			narrow, back := newFenced[float32](n), make([]float64, n+1)
			narrowAt(l, narrow.data, wide)
			want := make([]float32, n)
			for i, v := range wide {
				want[i] = float32(v)
			}
			checkElements(t, name, narrow, want)
			back[n] = 5
			widenAt(l, back[:n], narrow.data)
			for i, v := range want {
				if !sameBits64(back[i], float64(v)) {
					t.Fatalf("%s: %v becomes %v", name, v, back[i])
				}
			}
			if back[n] != 5 {
				t.Fatalf("%s: wrote beside", name)
			}
		}
	}
	got, out := make([]float64, 2), make([]float32, 2)
	Widen(got, []float32{1.5, -2})
	Narrow(out, got)
	if got[0] != 1.5 || out[1] != -2 {
		t.Errorf("Widen and Narrow make %v and %v", got, out)
	}
}

func TestTheLargestAndTheSmallestSoFar(t *testing.T) {
	g := rand.New(rand.NewPCG(15, 16))
	for _, n := range lengths() {
		a, sofar := some(g, n), some(g, n)
		for _, l := range levels() {
			most, least := make([]float64, n+9), make([]float64, n+9)
			for i, v := range sofar.data {
				most[i], least[i] = float64(v), float64(v)
			}
			maxToAt(l, most[:n], a.data)
			minToAt(l, least[:n], a.data)
			for i := range most {
				var up, down float64
				if i < n {
					up, down = max(float64(sofar.data[i]), float64(a.data[i])), min(float64(sofar.data[i]), float64(a.data[i]))
				}
				if !sameBits64(most[i], up) || !sameBits64(least[i], down) {
					t.Fatalf("%v, element %d of %d: %v and %v, not %v and %v", l, i, n, most[i], least[i], up, down)
				}
			}
		}
	}
	most, least := []float64{1, 2}, []float64{1, 2}
	MaxTo(most, []float32{2, 1})
	MinTo(least, []float32{2, 1})
	if most[0] != 2 || most[1] != 2 || least[0] != 1 || least[1] != 1 {
		t.Errorf("MaxTo and MinTo make %v and %v", most, least)
	}
}
