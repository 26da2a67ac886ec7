package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestLargestIsThatOfALoop(t *testing.T) {
	g := rand.New(rand.NewPCG(29, 30))
	for _, n := range lengths() {
		for offset := range 3 {
			a := newFenced[float32](n + offset).data[offset:]
			for i := range a {
				a[i] = float32(g.NormFloat64()) - 3
			}
			for range 20 {
				want := float32(math.Inf(-1))
				for _, x := range a {
					want = max(want, x)
				}
				for _, l := range levels() {
					if got := largestAt(l, a); got != want {
						t.Fatalf("%v: the largest of %d is %v, not %v", l, n, got, want)
					}
				}
				if n > 0 { // what is largest stands in many places
					a[slices.Index(a, want)] -= 1
				}
			}
		}
	}
}

func TestLargestOfNaNsInfinitiesAndZeros(t *testing.T) {
	nan, inf, zero := float32(math.NaN()), float32(math.Inf(1)), float32(math.Copysign(0, -1))
	negative := math.Float32frombits(0xffc00001) // a NaN too
	for _, l := range levels() {
		if got := largestAt(l, nil); got != -inf {
			t.Errorf("%v: the largest of nothing is %v", l, got)
		}
		for _, n := range []int{1, 15, 16, 31, 32, 33, 40} {
			for at := range n {
				with := func(x, others float32) float32 {
					a := make([]float32, n)
					for i := range a {
						a[i] = others
					}
					a[at] = x
					return largestAt(l, a)
				}
				if x, y := with(nan, 5), with(negative, inf); x == x || y == y {
					t.Errorf("%v: NaN at %d of %d is lost: %v and %v", l, at, n, x, y)
				}
				if x := with(inf, -inf); x != inf {
					t.Errorf("%v: infinity at %d of %d: %v", l, at, n, x)
				}
				for _, x := range []float32{with(zero, zero), with(zero, 0), with(0, zero), with(0, -1), with(zero, -1)} {
					if x != 0 || math.Signbit(float64(x)) {
						t.Errorf("%v: a zero at %d of %d: %v", l, at, n, x)
					}
				}
			}
		}
	}
	if Largest([]float32{1, 3, 2}) != 3 {
		t.Error("Largest is not the largest")
	}
}

func BenchmarkLargest(b *testing.B) {
	x := make([]float32, 1024)
	for _, l := range levels() {
		b.Run(l.String(), func(b *testing.B) {
			for b.Loop() {
				largestAt(l, x)
			}
		})
	}
}
