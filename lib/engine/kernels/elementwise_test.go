package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// functions are the functions of one number, with what they are in float64 and the
// largest error in units of the last place.
var functions = []struct {
	name string
	at   func(l Level, dst, a []float32)
	of   func(dst, a []float32)
	want func(x float64) float64
	ulps float64
}{
	{"Neg", negAt, Neg, func(x float64) float64 { return -x }, 0},
	{"Abs", absAt, Abs, math.Abs, 0},
	{"Sign", signAt, Sign, func(x float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x
	}, 0},
	{"Sqrt", sqrtAt, Sqrt, math.Sqrt, 0.5},
	{"Rsqrt", rsqrtAt, Rsqrt, func(x float64) float64 { return 1 / math.Sqrt(x) }, 0.501},
	{"Exp", expAt, Exp, math.Exp, 0.501},
	{"Expm1", expm1At, Expm1, math.Expm1, 0.501},
	{"Log", logAt, Log, math.Log, 0.501},
	{"Log1p", log1pAt, Log1p, math.Log1p, 0.501},
	{"Tanh", tanhAt, Tanh, math.Tanh, 0.501},
	{"Logistic", logisticAt, Logistic, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 0.501},
	{"Erf", erfAt, Erf, math.Erf, 0.501},
	{"Sin", func(l Level, dst, a []float32) { splitAngles(l, dst, a, sinAt, 0) }, Sin, math.Sin, 0.501},
	{"Cos", func(l Level, dst, a []float32) { splitAngles(l, dst, a, cosAt, 1) }, Cos, math.Cos, 0.501},
}

var pairs = []struct {
	name string
	at   func(l Level, dst, a, b []float32)
	of   func(dst, a, b []float32)
	want func(x, y float32) float32
}{
	{"Add", addAt, Add, func(x, y float32) float32 { return x + y }},
	{"Sub", subAt, Sub, func(x, y float32) float32 { return x - y }},
	{"Mul", mulAt, Mul, func(x, y float32) float32 { return x * y }},
	{"Div", divAt, Div, func(x, y float32) float32 { return x / y }},
	{"Max", maxAt, Max, func(x, y float32) float32 { return max(x, y) }},
	{"Min", minAt, Min, func(x, y float32) float32 { return min(x, y) }},
}

var relations = []struct {
	name string
	at   func(l Level, dst []bool, a, b []float32)
	of   func(dst []bool, a, b []float32)
	want func(x, y float32) bool
}{
	{"Less", lessAt, Less, func(x, y float32) bool { return x < y }},
	{"LessEqual", lessEqualAt, LessEqual, func(x, y float32) bool { return x <= y }},
	{"Greater", nil, Greater, func(x, y float32) bool { return x > y }},
	{"GreaterEqual", nil, GreaterEqual, func(x, y float32) bool { return x >= y }},
	{"Equal", equalAt, Equal, func(x, y float32) bool { return x == y }},
	{"NotEqual", notEqualAt, NotEqual, func(x, y float32) bool { return x != y }},
}

// sweep is every step-th float32 there is, and those around the special ones.
func sweep(step uint64) []float32 {
	var out []float32
	for b := uint64(0); b < 1<<32; b += step {
		out = append(out, math.Float32frombits(uint32(b)))
	}
	for _, x := range []float32{
		0, 1, 2, 0.5, 4, 3.9, 80, 87.3, 88.7, 89, 103.9, 104, 149, 150, 151, 0x1p-126, 0x1p-149, math.MaxFloat32, float32(math.Inf(1)),
		math.Sqrt2, math.Sqrt2 / 2, math.Pi, math.Pi / 2, math.Pi / 4, math.Sqrt2 - 1, 1 - math.Sqrt2/2, maxFastAngle, 0x1p-24, 0x1p-12,
	} {
		for _, s := range []uint32{0, 1 << 31} {
			for d := -40; d <= 40; d++ {
				out = append(out, math.Float32frombits((math.Float32bits(x)|s)+uint32(d)))
			}
		}
	}
	return out
}

// ulps is the distance of got from want in units of the last place of a float32 there.
func ulps(got float32, want float64) float64 {
	switch {
	case got != got || want != want:
		if got != got && want != want {
			return 0
		}
		return math.Inf(1)
	case math.IsInf(float64(got), 0):
		if float32(want) == got { // where rounding leads beyond the largest number
			return 0
		}
	}
	return math.Abs(float64(got)-want) / unit(want)
}

func unit(x float64) float64 { return math.Ldexp(1, max(math.Ilogb(x), -126)-23) }

func TestFunctionsOverAllNumbers(t *testing.T) {
	for _, f := range functions {
		step := uint64(5003)
		if f.name == "Sin" || f.name == "Cos" {
			step = 300_007 // angles beyond maxFastAngle are slow
		}
		in := sweep(step)
		want := make([]float32, len(in))
		f.at(Scalar, want, in)
		worst := 0.0
		for i, x := range in {
			y := f.want(float64(x))
			if y == 0 && want[i] == 0 && math.Signbit(y) != math.Signbit(float64(want[i])) {
				t.Fatalf("%s(%v) is a zero of the wrong sign", f.name, x)
			}
			u := ulps(want[i], y)
			if u > f.ulps {
				t.Fatalf("%s(%v) is %v, not %v: %.3f units", f.name, x, want[i], y, u)
			}
			worst = max(worst, u)
		}
		t.Logf("%s: wrongly rounded by at most %.6f units", f.name, worst)
		for _, l := range levels()[1:] {
			got := slices.Clone(in)
			f.at(l, got, got) // in place
			for i, x := range in {
				if !sameBits(got[i], want[i]) {
					t.Fatalf("%v: %s(%v) is %v, in Go %v", l, f.name, x, got[i], want[i])
				}
			}
		}
	}
}

// some are n numbers, among them special ones.
func some(g *rand.Rand, n int) fenced[float32] {
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 1e-44, -3e-39, math.MaxFloat32}
	f := newFenced[float32](n)
	for i := range f.data {
		f.data[i] = float32(g.NormFloat64())
		if g.IntN(4) == 0 {
			f.data[i] = special[g.IntN(len(special))]
		}
	}
	return f
}

// every length up to a few vectors, and one longer than what is done at once.
func lengths() []int {
	out := []int{atOnce - 1, atOnce + 17, 1000}
	for n := range 67 {
		out = append(out, n)
	}
	return out
}

func TestElementwiseFunctionsKeepToTheirElements(t *testing.T) {
	g := rand.New(rand.NewPCG(9, 10))
	for _, n := range lengths() {
		a, b, dst := some(g, n), some(g, n), newFenced[float32](n)
		for _, l := range levels() {
			for _, f := range functions {
				want := make([]float32, n)
				f.at(Scalar, want, a.data)
				f.at(l, dst.data, a.data)
				checkElements(t, fmt.Sprintf("%v %s of %d", l, f.name, n), dst, want)
			}
			for _, f := range pairs {
				want := make([]float32, n)
				for i := range want {
					want[i] = f.want(a.data[i], b.data[i])
				}
				f.at(l, dst.data, a.data, b.data)
				checkElements(t, fmt.Sprintf("%v %s of %d", l, f.name, n), dst, want)
				for _, in := range []fenced[float32]{a, b} { // in place of either
					out := newFenced[float32](n)
					copy(out.data, in.data)
					x, y := a.data, b.data
					if &in.all[0] == &a.all[0] {
						x = out.data
					} else {
						y = out.data
					}
					f.at(l, out.data, x, y)
					checkElements(t, fmt.Sprintf("%v %s of %d in place", l, f.name, n), out, want)
				}
			}
		}
	}
}

func checkElements(t *testing.T, what string, got fenced[float32], want []float32) {
	t.Helper()
	got.intact(t, what)
	for i, w := range want {
		if !sameBits(got.data[i], w) {
			t.Fatalf("%s: element %d is %v, not %v", what, i, got.data[i], w)
		}
	}
}

func TestRelationsAndSelect(t *testing.T) {
	g := rand.New(rand.NewPCG(11, 12))
	for _, n := range lengths() {
		a, b := some(g, n), some(g, n)
		for i := range n / 3 {
			b.data[i] = a.data[i]
		}
		for _, l := range levels() {
			for _, f := range relations {
				all := make([]bool, n+2*fence)
				dst := all[fence : fence+n]
				if f.at != nil {
					f.at(l, dst, a.data, b.data)
				} else {
					f.of(dst, a.data, b.data)
				}
				for i := range n {
					if dst[i] != f.want(a.data[i], b.data[i]) {
						t.Fatalf("%v %s of %d: %v and %v", l, f.name, n, a.data[i], b.data[i])
					}
				}
				for i, v := range all {
					if v && (i < fence || i >= fence+n) {
						t.Fatalf("%v %s of %d wrote beside its elements", l, f.name, n)
					}
				}
				dst2 := newFenced[float32](n)
				chooseAt(l, dst2.data, dst, a.data, b.data)
				want := make([]float32, n)
				for i := range want {
					if want[i] = b.data[i]; dst[i] {
						want[i] = a.data[i]
					}
				}
				checkElements(t, fmt.Sprintf("%v Select of %d", l, n), dst2, want)
			}
		}
	}
}

// What the package offers is what was looked at above.
func TestThePublicFunctionsAreThose(t *testing.T) {
	g := rand.New(rand.NewPCG(13, 14))
	a, b := some(g, 50).data, some(g, 50).data
	for _, f := range functions {
		got, want := make([]float32, 50), make([]float32, 50)
		f.of(got, a)
		f.at(Scalar, want, a)
		if !slices.EqualFunc(got, want, sameBits) {
			t.Errorf("%s is not its kernel", f.name)
		}
	}
	for _, f := range pairs {
		got, want := make([]float32, 50), make([]float32, 50)
		f.of(got, a, b)
		f.at(Scalar, want, a, b)
		if !slices.EqualFunc(got, want, sameBits) {
			t.Errorf("%s is not its kernel", f.name)
		}
	}
	got, mask := make([]float32, 2), []bool{true, false}
	Select(got, mask, a[:2], b[:2])
	if !sameBits(got[0], a[0]) || !sameBits(got[1], b[1]) {
		t.Error("Select takes the wrong side")
	}
	Fill(got, 7)
	if got[0] != 7 || got[1] != 7 {
		t.Error("Fill does not fill")
	}
	defer func() {
		if r := recover(); r != "kernels.Add: slices of 2 and 3 elements" {
			t.Errorf("slices of unequal lengths: %v", r)
		}
	}()
	Add(got, a[:2], b[:3])
}

func BenchmarkElementwise(b *testing.B) {
	const n = 4096
	x, y, dst, mask := make([]float32, n), make([]float32, n), make([]float32, n), make([]bool, n)
	g := rand.New(rand.NewPCG(1, 1))
	for i := range x {
		x[i], y[i], mask[i] = float32(math.Abs(g.NormFloat64())), float32(g.NormFloat64()), g.IntN(2) == 0
	}
	run := func(name string, f func(l Level)) {
		for _, l := range levels() {
			b.Run(fmt.Sprintf("%s/%v", name, l), func(b *testing.B) {
				start := cpuTime()
				for b.Loop() {
					f(l)
				}
				b.ReportMetric(float64((cpuTime()-start).Nanoseconds())/float64(b.N)/n, "cpu-ns/element")
			})
		}
	}
	for _, f := range functions {
		run(f.name, func(l Level) { f.at(l, dst, x) })
	}
	for _, f := range pairs {
		run(f.name, func(l Level) { f.at(l, dst, x, y) })
	}
	run("Less", func(l Level) { lessAt(l, mask, x, y) })
	run("Select", func(l Level) { chooseAt(l, dst, mask, x, y) })
	run("Sum", func(l Level) { sumAt(l, x) })
	out := make([]float64, 64)
	run("SumCols", func(l Level) { _ = sumColsAt(l, Pool{}, out, RowMajor(x, n/64, 64)) })
	grad, m, v := make([]float64, n), make([]float32, n), make([]float32, n)
	run("Adam", func(l Level) { stepAt(l, Adam{0.9, 0.999, 0.1, 0.001, 1, 1e-8, 1e-3, 1}, dst, [][]float32{m, v}, grad) })
	run("SGD", func(l Level) { stepAt(l, SGD{0.1, 0.9, 0}, dst, [][]float32{m}, grad) })
}
