package kernels

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// laneDot is Dot as its documentation has it.
func laneDot(a, b []float64) float64 {
	var s [8]float64
	for i, x := range a {
		s[i%8] += float64(x * b[i])
	}
	return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))
}

func TestDotIsOfOneOrder(t *testing.T) {
	g := rand.New(rand.NewPCG(27, 28))
	for _, n := range lengths() {
		for offset := range 3 {
			f, e := newFenced[float64](n+offset), newFenced[float64](n+offset)
			a, b := f.data[offset:], e.data[offset:]
			exact, size := new(big.Float).SetPrec(2000), 0.0
			for i := range a {
				a[i], b[i] = math.Ldexp(g.NormFloat64(), g.IntN(40)-20), math.Ldexp(g.NormFloat64(), g.IntN(40)-20)
				exact.Add(exact, new(big.Float).SetPrec(2000).Mul(big.NewFloat(a[i]), big.NewFloat(b[i])))
				size += math.Abs(a[i] * b[i])
			}
			want := laneDot(a, b)
			if sum, _ := exact.Float64(); math.Abs(want-sum) > float64(n)*0x1p-53*size {
				t.Fatalf("%d terms: %v, and with 2,000 bits %v", n, want, sum)
			}
			for _, l := range levels() {
				if got, other := dotAt(l, a, b), dotAt(l, b, a); got != want || other != want {
					t.Fatalf("%v: %d terms are %v and the other way %v, not %v", l, n, got, other, want)
				}
			}
		}
	}
	if Dot([]float64{1, 2, 3}, []float64{4, 5, 6}) != 32 || Dot(nil, nil) != 0 {
		t.Error("Dot is no inner product")
	}
	defer func() {
		if r := recover(); r != "kernels.Dot: slices of 2 and 3 elements" {
			t.Errorf("slices of unequal lengths: %v", r)
		}
	}()
	Dot(make([]float64, 2), make([]float64, 3))
}

func TestDotPassesNaNAndInfinityOn(t *testing.T) {
	inf := math.Inf(1)
	for _, l := range levels() {
		for _, at := range []int{0, 5, 15, 16, 18} {
			a, b := make([]float64, 19), make([]float64, 19)
			a[at], b[at] = inf, 2
			if got := dotAt(l, a, b); got != inf {
				t.Errorf("%v: with infinity at %d: %v", l, at, got)
			}
			b[at] = 0
			if got := dotAt(l, a, b); got == got {
				t.Errorf("%v: with infinity times 0 at %d: %v", l, at, got)
			}
			a[at] = math.NaN()
			if got := dotAt(l, a, b); got == got {
				t.Errorf("%v: with NaN at %d: %v", l, at, got)
			}
		}
	}
}

func BenchmarkDot(b *testing.B) {
	x, y := make([]float64, 128), make([]float64, 128)
	for _, l := range levels() {
		b.Run(l.String(), func(b *testing.B) {
			for b.Loop() {
				dotAt(l, x, y)
			}
		})
	}
}
