package kernels

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// sparseView is a view whose numbers are 0 but for that share; half of the zeros are -0. Some
// columns have no others, one has all.
func sparseView(g *rand.Rand, rows, cols, kind int, share float64) Matrix[float32] {
	m, _ := view[float32](g, rows, cols, kind)
	full := g.IntN(max(1, cols))
	for i := range rows {
		for j := range cols {
			if x := &m.Data[i*m.RowStride+j*m.ColStride]; j != full && (j%7 == 3 || g.Float64() >= share) {
				*x = float32(math.Copysign(0, g.NormFloat64()))
			}
		}
	}
	return m
}

// nonzero is the share of numbers that are not 0.
func nonzero(m Matrix[float32]) float64 {
	found := 0
	for i := range m.Rows {
		for j := range m.Cols {
			if m.At(i, j) != 0 {
				found++
			}
		}
	}
	return float64(found) / float64(m.Rows*m.Cols)
}

// checkSparse holds a product without the zeros of b against the scalar chain, bit for bit, and
// tells whether zeros were left out.
func checkSparse(t *testing.T, g *rand.Rand, a, b Matrix[float32]) bool {
	t.Helper()
	want := make([]float32, a.Rows*b.Cols)
	if err := multiplyAt(Scalar, Pool{8}, RowMajor(want, a.Rows, b.Cols), a, b, false); err != nil {
		t.Fatal(err)
	}
	taken := false
	for _, l := range levels() {
		for _, workers := range []int{1, 3} {
			what := fmt.Sprintf("%v, %d workers, %d x %d x %d", l, workers, a.Rows, a.Cols, b.Cols)
			c, f := view[float32](g, a.Rows, b.Cols, 2*g.IntN(2))
			if multiplySparse(l, Pool{workers}, c, a, b) {
				taken = true
			} else if err := multiplyAt(l, Pool{workers}, c, a, b, false); err != nil {
				t.Fatal(err)
			}
			f.intact(t, what)
			for i := range a.Rows {
				for j := range b.Cols {
					if !sameBits(c.At(i, j), want[i*b.Cols+j]) {
						t.Fatalf("%s: c[%d, %d] is %v, not %v", what, i, j, c.At(i, j), want[i*b.Cols+j])
					}
				}
				for j := b.Cols; j < c.RowStride && i+1 < a.Rows; j++ {
					if bitsOf(c.Data[i*c.RowStride+j]) != bitsOf(canary) {
						t.Fatalf("%s: the gap behind row %d was written", what, i)
					}
				}
			}
		}
	}
	return taken
}

func TestProductWithoutZerosHasTheSameBits(t *testing.T) {
	g := rand.New(rand.NewPCG(31, 32))
	for _, s := range [][3]int{{64, 96, 700}, {64, 2000, 40}, {65, 97, 700}, {127, 191, 513}, {190, 33, 1030}, {260, 400, 100}, {100, 45000, 1}, {64, 1, 70000}} {
		for kind := range 7 {
			a, _ := view[float32](g, s[0], s[1], kind)
			b := sparseView(g, s[1], s[2], (kind+s[1])%5, []float64{0, 0.02, 0.08, 0.2}[g.IntN(4)])
			taken := checkSparse(t, g, a, b)
			// AVX2 takes more of them than AVX-512, and every processor with that has it.
			most := maxDensity(AVX2, s[0])
			if few := best >= AVX2 && b.looksSparse(most) && nonzero(b) <= most; taken != few {
				t.Errorf("%v: a product without zeros: %v", s, taken)
			}
		}
	}
}

func TestProductThatIsNotSparseIsNotTakenForIt(t *testing.T) {
	g := rand.New(rand.NewPCG(33, 34))
	for name, c := range map[string]struct {
		n, k, m int
		share   float64
	}{"full": {64, 300, 300, 1}, "half": {64, 300, 300, 0.5}, "few rows": {32, 500, 300, 0.01}, "small": {64, 96, 600, 0.1}} {
		a, _ := view[float32](g, c.n, c.k, 0)
		if checkSparse(t, g, a, sparseView(g, c.k, c.m, 0, c.share)) {
			t.Errorf("%s: its zeros were left out", name)
		}
	}
	// It seems to be of zeros, but it is full.
	a, _ := view[float32](g, 64, 300, 0)
	b, _ := view[float32](g, 300, 300, 0)
	for k := range 256 {
		clear(b.Data[k*b.Rows/256*b.RowStride:][:b.Cols])
	}
	if !b.looksSparse(0) {
		t.Fatal("a number of the sample is not 0")
	}
	if checkSparse(t, g, a, b) {
		t.Error("the zeros of a full matrix were left out")
	}
	// What is added to c goes on from there.
	b = sparseView(g, 300, 300, 0, 0.1)
	got, _ := view[float32](g, 64, 300, 0)
	want := RowMajor(slices.Clone(got.Data), 64, 300)
	if err := errors.Join(multiplyAt(best, Pool{}, got, a, b, true), multiplyAt(Scalar, Pool{}, want, a, b, true)); err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(got.Data, want.Data, sameBits[float32]) {
		t.Error("a sum that goes on differs")
	}
}

// A term of 0 makes NaN of infinity and NaN, and 0 of -0: products with such terms have all of
// them.
func TestProductWithoutZerosHasTheTermsThatCount(t *testing.T) {
	const n, k, m = 130, 200, 600
	g := rand.New(rand.NewPCG(35, 36))
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for name, plant := range map[string]func(a, b Matrix[float32]){
		"infinity in a": func(a, _ Matrix[float32]) { a.Data[129*k+150] = inf },
		"NaN in a":      func(a, _ Matrix[float32]) { a.Data[64*k+199] = nan },
		"infinity in b": func(_, b Matrix[float32]) { b.Data[120*m+599] = -inf },
		"NaN in b":      func(_, b Matrix[float32]) { b.Data[0] = nan },
		"too large":     func(a, b Matrix[float32]) { a.Data[5*k+7], b.Data[7*m+9] = 3e38, 3e38 },
		// fma(-tiny, tiny, 0) is -0, and fma(1, 0, -0) is 0 again.
		"-0 and a zero": func(a, b Matrix[float32]) {
			for p := range k {
				a.Data[70*k+p], b.Data[p*m+13] = 1, 0
			}
			a.Data[70*k+99], b.Data[99*m+13] = -1e-30, 1e-30
		},
		"-0 and none": func(a, b Matrix[float32]) {
			for p := range k {
				a.Data[70*k+p], b.Data[p*m+13] = -1, 0
			}
			a.Data[70*k+99], b.Data[99*m+13] = -1e-30, 1e-30
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := view[float32](g, n, k, 0)
			b := sparseView(g, k, m, 0, 0.1)
			plant(a, b)
			if taken := checkSparse(t, g, a, b); !taken && best >= AVX2 {
				t.Error("no zero was left out")
			}
		})
	}
}

func FuzzProductWithoutZeros(f *testing.F) {
	f.Add(uint64(1), uint16(100), uint16(300), uint8(0), uint8(1), uint8(30))
	f.Fuzz(func(t *testing.T, seed uint64, n, k uint16, kindA, kindB, share uint8) {
		g := rand.New(rand.NewPCG(seed, 0))
		rows, along := 40+int(n%300), 1+int(k%500)
		a, _ := view[float32](g, rows, along, int(kindA%7))
		checkSparse(t, g, a, sparseView(g, along, minParallelWork/rows/along+1, int(kindB%5), float64(share)/400))
	})
}

func BenchmarkSparse(b *testing.B) {
	g := rand.New(rand.NewPCG(1, 1))
	for _, s := range []struct{ n, k, m, kind int }{{1024, 2000, 512, 0}, {1024, 512, 2000, 1}, {1024, 2000, 128, 0}, {1024, 128, 2000, 1}} {
		for _, share := range []float64{0.1, 0.2, 0.33, 0.4} {
			x, _ := view[float32](g, s.n, s.k, 0)
			y := sparseView(g, s.k, s.m, s.kind, share)
			c := RowMajor(make([]float32, s.n*s.m), s.n, s.m)
			for _, l := range levels()[1:] {
				for _, how := range []string{"sparse", "tiles"} {
					b.Run(fmt.Sprintf("%dx%d.%dx%d/%v/%v/%s", s.n, s.k, s.k, s.m, share, l, how), func(b *testing.B) {
						start := cpuTime()
						for b.Loop() {
							if how == "tiles" {
								tileAt[float32](l).multiply(c, x, y, false)
							} else if !multiplySparse(l, Pool{}, c, x, y) {
								b.Skip("not sparse enough")
							}
						}
						b.ReportMetric((cpuTime()-start).Seconds()*1e3/float64(b.N), "cpu-ms")
					})
				}
			}
		}
	}
}
