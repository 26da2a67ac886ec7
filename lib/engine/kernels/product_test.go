package kernels

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// fenced is room for n numbers between numbers that nobody may read (NaN) or write
// (their payload is looked at by intact).
type fenced[T Float] struct {
	all  []T
	data []T
}

const fence = 64

var canary = math.Float32frombits(0x7fc0dead)

func newFenced[T Float](n int) fenced[T] {
	all := make([]T, n+2*fence)
	for i := range all {
		all[i] = T(canary)
	}
	return fenced[T]{all, all[fence : fence+n : fence+n]}
}

// bitsOf tells all numbers apart, NaNs too: wider ones keep their payload.
func bitsOf[T Float](x T) uint64 { return math.Float64bits(float64(x)) }

func (f fenced[T]) intact(t *testing.T, what string) {
	t.Helper()
	for i, v := range f.all {
		inside := i >= fence && i < len(f.all)-fence
		if !inside && bitsOf(v) != bitsOf(canary) {
			t.Fatalf("%s: number %d beside the %d that belong to it was written", what, i-fence, len(f.data))
		}
	}
}

// view is a matrix of rows x cols with strides of the kind asked for, filled from g, with
// NaN in all gaps and around.
func view[T Float](g *rand.Rand, rows, cols, kind int) (Matrix[T], fenced[T]) {
	m := Matrix[T]{nil, rows, cols, cols, 1}
	switch kind {
	case 1: // transposed
		m.RowStride, m.ColStride = 1, rows
	case 2: // rows apart
		m.RowStride = cols + 5
	case 3: // transposed, columns apart
		m.RowStride, m.ColStride = 1, rows+3
	case 4: // both apart
		m.RowStride, m.ColStride = 3*cols+2, 3
	case 5: // one row for all
		m.RowStride = 0
	case 6: // one column for all
		m.RowStride, m.ColStride = 1, 0
	}
	n := 0
	if rows > 0 && cols > 0 {
		n = (rows-1)*m.RowStride + (cols-1)*m.ColStride + 1
	}
	f := newFenced[T](n)
	m.Data = f.data
	for i := range rows {
		for j := range cols {
			m.Data[i*m.RowStride+j*m.ColStride] = T(g.NormFloat64())
		}
	}
	return m, f
}

func sameBits[T Float](a, b T) bool { return bitsOf(a) == bitsOf(b) || a != a && b != b }

// chain is the definition of the product, one fma after the other.
func chain[T Float](c, a, b Matrix[T], add bool) []T {
	out := make([]T, c.Rows*c.Cols)
	for i := range c.Rows {
		for j := range c.Cols {
			var s T
			if add {
				s = c.At(i, j)
			}
			for p := range a.Cols {
				s = fused(a.At(i, p), b.At(p, j), s)
			}
			out[i*c.Cols+j] = s
		}
	}
	return out
}

// fused is a b + c rounded once.
func fused[T Float](a, b, c T) T {
	if sizeOf[T]() == 4 {
		return T(fma32(float32(a), float32(b), float32(c)))
	}
	return T(math.FMA(float64(a), float64(b), float64(c)))
}

// epsilon is the distance of 1 from the next number.
func epsilon[T Float]() float64 {
	x := T(1)
	for 1+x/2 > 1 {
		x /= 2
	}
	return float64(x)
}

// checkProductOf multiplies n x k by k x m with views of the kinds given at every level and
// with several workers, and holds the results against the chain and a sum in float64.
func checkProductOf[T Float](t *testing.T, g *rand.Rand, n, k, m, kindA, kindB int, add bool) {
	t.Helper()
	a, _ := view[T](g, n, k, kindA)
	b, _ := view[T](g, k, m, kindB)
	start, _ := view[T](g, n, m, 2*g.IntN(2))
	want := chain(start, a, b, add)
	for i := range n {
		for j := range m {
			var sum, size float64
			if add {
				sum = float64(start.At(i, j))
			}
			for p := range k {
				x := float64(a.At(i, p)) * float64(b.At(p, j))
				sum, size = sum+x, size+math.Abs(x)
			}
			if d := math.Abs(sum - float64(want[i*m+j])); d > 8*epsilon[T]()*(size+math.Abs(sum))*math.Sqrt(float64(k)+1) {
				t.Fatalf("%d x %d x %d: c[%d, %d] is %v, in float64 %v", n, k, m, i, j, want[i*m+j], sum)
			}
		}
	}
	for _, l := range levels() {
		for _, workers := range []int{1, 2, 3, 8} {
			what := fmt.Sprintf("%T, %v, %d workers, %d x %d x %d, views %d and %d, add %v", T(0), l, workers, n, k, m, kindA, kindB, add)
			f := newFenced[T](len(start.Data))
			copy(f.data, start.Data)
			c := start
			c.Data = f.data
			if err := multiplyAt(l, Pool{workers}, c, a, b, add); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			f.intact(t, what)
			for i := range n {
				for j := range m {
					if !sameBits(c.At(i, j), want[i*m+j]) {
						t.Fatalf("%s: c[%d, %d] is %v, not %v", what, i, j, c.At(i, j), want[i*m+j])
					}
				}
				for j := m; m > 0 && j < c.RowStride && i+1 < n; j++ {
					if bitsOf(c.Data[i*c.RowStride+j]) != bitsOf(canary) {
						t.Fatalf("%s: the gap behind row %d was written", what, i)
					}
				}
			}
		}
	}
}

func TestProductIsOneChainAtEveryLevel(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]int{
		{1, 1, 1}, {1, 7, 40}, {40, 7, 1}, {5, 0, 3}, {0, 3, 3}, {3, 3, 0}, {6, 16, 16}, {12, 9, 32}, {13, 8, 33}, {24, 300, 64},
		{14, 530, 40}, {50, 20, 100}, {13, 257, 530}, {61, 40, 47}, {49, 16, 65}, {128, 256, 1}, {1, 260, 1100},
	} {
		for kind := range 7 {
			checkProductOf[float32](t, g, s[0], s[1], s[2], kind, (kind+s[1])%7, kind%2 == 0)
			checkProductOf[float64](t, g, s[0], s[1], s[2], kind, (kind+s[1])%7, kind%2 == 1)
		}
	}
}

func TestProductOfRandomShapes(t *testing.T) {
	g := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		checkProductOf[float32](t, g, g.IntN(90), g.IntN(60), g.IntN(150), g.IntN(7), g.IntN(7), g.IntN(2) == 0)
		checkProductOf[float64](t, g, g.IntN(90), g.IntN(60), g.IntN(150), g.IntN(7), g.IntN(7), g.IntN(2) == 0)
	}
}

func FuzzMultiply(f *testing.F) {
	f.Add(uint64(1), uint16(13), uint16(300), uint16(33), uint8(0), uint8(1), true, true)
	f.Fuzz(func(t *testing.T, seed uint64, n, k, m uint16, kindA, kindB uint8, add, double bool) {
		check := checkProductOf[float32]
		if double {
			check = checkProductOf[float64]
		}
		check(t, rand.New(rand.NewPCG(seed, 0)), int(n%130), int(k%520), int(m%600), int(kindA%7), int(kindB%7), add)
	})
}

// Large enough that the work is shared and that b is cut into blocks on all sides.
func TestLargeProductsHaveTheSameBitsForAllWorkers(t *testing.T) {
	checkLarge[float32](t)
	checkLarge[float64](t)
}

func checkLarge[T Float](t *testing.T) {
	g := rand.New(rand.NewPCG(5, 6))
	for _, s := range [][3]int{{200, 300, 1100}, {20, 512, 2049}, {700, 100, 40}} {
		a, _ := view[T](g, s[0], s[1], 0)
		b, _ := view[T](g, s[1], s[2], s[2]%2)
		want := make([]T, s[0]*s[2])
		if err := multiplyAt(Scalar, Pool{}, RowMajor(want, s[0], s[2]), a, b, false); err != nil {
			t.Fatal(err)
		}
		for _, l := range levels()[1:] {
			for _, workers := range []int{1, 2, 3, 8} {
				got := make([]T, len(want))
				if err := multiplyAt(l, Pool{workers}, RowMajor(got, s[0], s[2]), a, b, false); err != nil {
					t.Fatal(err)
				}
				for i := range want {
					if !sameBits(got[i], want[i]) {
						t.Fatalf("%T, %v, %d workers, %v: number %d is %v, not %v", want[0], l, workers, s, i, got[i], want[i])
					}
				}
			}
		}
	}
}

func TestProductPassesNaNAndInfinityOn(t *testing.T) {
	checkSpecials(t, float32(3e38))
	checkSpecials(t, 1.5e308)
}

// checkSpecials multiplies with numbers two of which are too large together.
func checkSpecials[T Float](t *testing.T, huge T) {
	inf, nan := T(math.Inf(1)), T(math.NaN())
	for _, l := range levels() {
		a := RowMajor([]T{inf, 1, nan, 1, 0, 1, inf, -inf, huge, huge}, 5, 2)
		b := RowMajor([]T{1, 0, 1, 1}, 2, 2)
		c := RowMajor(make([]T, 10), 5, 2)
		if err := multiplyAt(l, Pool{}, c, a, b, false); err != nil {
			t.Fatal(err)
		}
		want := []T{inf, nan, nan, nan, 1, 1, nan, nan, inf, huge}
		for i, v := range want {
			if !sameBits(c.Data[i], v) {
				t.Errorf("%T, %v: number %d is %v, not %v", huge, l, i, c.Data[i], v)
			}
		}
	}
}

func TestProductRefusesWhatIsNoView(t *testing.T) {
	ok := RowMajor(make([]float32, 6), 2, 3)
	square := RowMajor(make([]float32, 9), 3, 3)
	c := RowMajor(make([]float32, 6), 2, 3)
	for want, m := range map[string][3]Matrix[float32]{
		"a: 2 x 3 elements with strides 4 and 1 do not fit a slice of 6":                                {c, {ok.Data, 2, 3, 4, 1}, square},
		"b: strides -1 and 1 are not both 0 or positive":                                                {c, ok, {square.Data, 3, 3, -1, 1}},
		"c: -1 x 3 is not the size of a matrix":                                                         {{c.Data, -1, 3, 3, 1}, ok, square},
		"a: 9223372036854775807 x 2 elements with strides 9223372036854775807 and 1":                    {c, {ok.Data, math.MaxInt, 2, math.MaxInt, 1}, square},
		"a: 2 x 3 elements with strides 3 and 1 do not fit a slice of 0":                                {c, {nil, 2, 3, 3, 1}, square},
		"a is 2 x 3 and b 2 x 3: a's columns are not b's rows":                                          {c, ok, ok},
		"c is 3 x 3, a b is 2 x 3":                                                                      {square, ok, square},
		"c has column stride 2, not 1":                                                                  {{make([]float32, 20), 2, 3, 6, 2}, ok, square},
		"c's rows overlap: 3 columns, row stride 0":                                                     {{c.Data, 2, 3, 0, 1}, ok, square},
		fmt.Sprintf("b: 3 x 3 elements with strides %d and 1 do not fit a slice of 9", math.MaxInt/2+1): {c, ok, {square.Data, 3, 3, math.MaxInt/2 + 1, 1}},
	} {
		err := Multiply(Pool{}, m[0], m[1], m[2], false)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: not %q", err, want)
		}
	}
}

func TestGramIsTheLowerTriangleOfAProduct(t *testing.T) {
	checkGram[float32](t)
	checkGram[float64](t)
}

func checkGram[T Float](t *testing.T) {
	g := rand.New(rand.NewPCG(25, 26))
	for _, s := range [][2]int{{0, 3}, {1, 1}, {3, 0}, {64, 20}, {65, 7}, {130, 300}, {257, 33}} {
		for kind := range 7 {
			a, _ := view[T](g, s[0], s[1], kind)
			want := make([]T, s[0]*s[0])
			if err := multiplyAt(Scalar, Pool{}, RowMajor(want, s[0], s[0]), a, a.T(), false); err != nil {
				t.Fatal(err)
			}
			for _, l := range levels() {
				for _, workers := range []int{1, 3} {
					what := fmt.Sprintf("%T, %v, %d workers, %v, view %d", T(0), l, workers, s, kind)
					f := newFenced[T](len(want))
					if err := gramAt(l, Pool{workers}, RowMajor(f.data, s[0], s[0]), a); err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					f.intact(t, what)
					for i := range s[0] {
						for j := range i + 1 {
							if got := f.data[i*s[0]+j]; !sameBits(got, want[i*s[0]+j]) {
								t.Fatalf("%s: c[%d, %d] is %v, not %v", what, i, j, got, want[i*s[0]+j])
							}
						}
					}
				}
			}
		}
	}
	c, a := RowMajor(make([]T, 6), 2, 3), RowMajor(make([]T, 6), 2, 3)
	if err := Gram(Pool{}, c, a); err == nil || !strings.Contains(err.Error(), "c is 2 x 3, a b is 2 x 2") {
		t.Errorf("a triangle in what is no square: %v", err)
	}
	a.RowStride = 4
	if err := Gram(Pool{}, RowMajor(make([]T, 4), 2, 2), a); err == nil || !strings.Contains(err.Error(), "a: 2 x 3 elements with strides 4 and 1") {
		t.Errorf("a view outside of its data: %v", err)
	}
}

func TestSmallProductsDoNotAllocate(t *testing.T) {
	a, b, c := RowMajor(make([]float32, 20*96), 20, 96), RowMajor(make([]float32, 96*50), 96, 50), RowMajor(make([]float32, 1000), 20, 50)
	if n := testing.AllocsPerRun(100, func() { _ = Multiply(Pool{2}, c, a, b, false) }); n > 0.5 {
		t.Errorf("a small product allocates %v times", n)
	}
}

// The definition of fma32 against 2,000 bits of precision.
func TestFMAIsRoundedOnce(t *testing.T) {
	g := rand.New(rand.NewPCG(7, 8))
	exact := func(a, b, c float32) float32 {
		x := new(big.Float).SetPrec(2000).SetFloat64(float64(a))
		x.Mul(x, big.NewFloat(float64(b))).Add(x, big.NewFloat(float64(c)))
		f, _ := x.Float32()
		return f
	}
	twice := 0
	check := func(a, b, c float32) {
		want, got := exact(a, b, c), fma32(a, b, c)
		if want != got {
			t.Fatalf("fma32(%x, %x, %x) is %x, not %x", a, b, c, got, want)
		}
		sums := []float32{c}
		if fmaRow(sums, a, []float32{b}); sums[0] != want {
			t.Fatalf("fmaRow(%x, %x, %x) is %x, not %x", a, b, c, sums[0], want)
		}
		if float32(float64(a)*float64(b)+float64(c)) != want {
			twice++
		}
	}
	any := func(spread int) float32 {
		m := float32(1<<23+g.IntN(1<<23)) / (1 << 23)
		if g.IntN(3) == 0 {
			m = 1 + float32(g.IntN(4))/2
		}
		return float32(math.Ldexp(float64(m)*float64(1-2*g.IntN(2)), g.IntN(2*spread)-spread))
	}
	// Beside the middle of the largest number and what would be next.
	for _, x := range []float32{math.MaxFloat32, -math.MaxFloat32} {
		for _, y := range []float32{0x1p103, 0x1.fffffep102, 0x1.000002p103} {
			check(y, 1+0x1p-20, x)
			check(y, 1-0x1p-20, x)
			check(-y, 1, -x)
		}
		check(0x1p103*(1-0x1p-20), 1+0x1p-20, x)
	}
	// The product is 2^-150 less what float64 does not hold beside these.
	for _, x := range []float32{0x1p-127, 0x1.000004p-127, 0x1p-126, 0x1.000002p-126} {
		check(0x1.000002p-75, 0x1.fffffcp-76, x)
		check(-0x1.000002p-75, 0x1.fffffcp-76, x)
		check(-0x1.000002p-75, 0x1.fffffcp-76, -x)
	}
	for range 100_000 {
		check(any(20), any(20), any(20))
		check(any(70), any(70), any(140)) // among them results below the normal numbers
		// A sum near the middle of two float32, and a little beside it.
		odd := 1 + float32(1+2*g.IntN(1<<22))/(1<<23)
		check(odd, float32(math.Ldexp(1, -24)), float32(math.Ldexp(float64(any(1)), 0)))
		check(odd, float32(math.Ldexp(1, -150+g.IntN(20))), float32(math.Ldexp(float64(any(1)), -126-g.IntN(20))))
	}
	if twice == 0 {
		t.Error("no case tells rounding once from rounding twice")
	}
}

var products = []struct {
	name    string
	n, k, m int
	kinds   [2]int
}{
	{"20x784.784x96", 20, 784, 96, [2]int{0, 0}}, {"20x96.96x784,bT", 20, 96, 784, [2]int{0, 1}}, {"784x20.20x96,aT", 784, 20, 96, [2]int{1, 0}},
	{"96x20.20x784", 96, 20, 784, [2]int{0, 0}}, {"128x256.256x1", 128, 256, 1, [2]int{0, 0}}, {"128x256.256x10", 128, 256, 10, [2]int{0, 0}},
	{"32x108.108x64", 32, 108, 64, [2]int{0, 0}}, {"8x16.16x8", 8, 16, 8, [2]int{0, 0}}, {"1x784.784x96", 1, 784, 96, [2]int{0, 0}},
	{"2000x512.512x1024", 2000, 512, 1024, [2]int{0, 0}}, {"1024^3", 1024, 1024, 1024, [2]int{0, 0}}, {"1024^3,aT", 1024, 1024, 1024, [2]int{1, 0}},
	{"1024^3,bT", 1024, 1024, 1024, [2]int{0, 1}}, {"32768x576.576x64", 32768, 576, 64, [2]int{0, 0}}, {"128x2000.2000x1024", 128, 2000, 1024, [2]int{0, 0}},
	{"2000x128.128x1024,aT", 2000, 128, 1024, [2]int{1, 0}}, {"128x1024.1024x2000,bT", 128, 1024, 2000, [2]int{0, 1}},
}

func BenchmarkMultiply(b *testing.B)   { benchmarkProducts[float32](b) }
func BenchmarkMultiply64(b *testing.B) { benchmarkProducts[float64](b) }

func benchmarkProducts[T Float](b *testing.B) {
	g := rand.New(rand.NewPCG(1, 1))
	for _, s := range products {
		x, _ := view[T](g, s.n, s.k, s.kinds[0])
		y, _ := view[T](g, s.k, s.m, s.kinds[1])
		c := RowMajor(make([]T, s.n*s.m), s.n, s.m)
		for _, l := range levels()[1:] {
			b.Run(fmt.Sprintf("%s/%v", s.name, l), func(b *testing.B) {
				start := cpuTime()
				for b.Loop() {
					if err := multiplyAt(l, Pool{}, c, x, y, false); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(2*float64(s.n)*float64(s.k)*float64(s.m)*float64(b.N)/(cpuTime()-start).Seconds()/1e9, "GFLOP/cpu-s")
			})
		}
	}
}

func TestTranspositionsKeepBitsAndBounds(t *testing.T) {
	transpositions[float32](t)
	transpositions[float64](t)
}

func transpositions[T Float](t *testing.T) {
	g := rand.New(rand.NewPCG(23, 24))
	for range 200 {
		rows, cols := g.IntN(40), g.IntN(40)
		m := Matrix[T]{make([]T, 41*50), rows, cols, 1, rows + g.IntN(3)}
		if g.IntN(5) == 0 {
			m.RowStride, m.ColStride = cols+1, 1
		}
		for i := range m.Data {
			m.Data[i] = T(g.NormFloat64())
		}
		width := cols + g.IntN(4)
		for _, l := range levels() {
			dst := make([]T, max(0, (rows-1)*width+cols)+60)
			if err := transposeAt(l, dst[:len(dst)-60], width, m); err != nil {
				t.Fatal(err)
			}
			for k, v := range dst {
				var want T
				if width > 0 && k/width < rows && k%width < cols {
					want = m.At(k/width, k%width)
				}
				if v != want {
					t.Fatalf("%v: %d x %d, %d apart: number %d is %v, not %v", l, rows, cols, width, k, v, want)
				}
			}
		}
	}
	m := RowMajor(make([]T, 6), 2, 3)
	for what, err := range map[string]error{
		"a row too short": Transpose(make([]T, 6), 2, m), "too little room": Transpose(make([]T, 5), 3, m),
		"no view": Transpose(make([]T, 6), 3, Matrix[T]{m.Data[:5], 2, 3, 3, 1}),
	} {
		if err == nil {
			t.Errorf("%s is no error", what)
		}
	}
}
