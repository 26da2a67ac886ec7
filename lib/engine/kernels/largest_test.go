package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// extremes are Largest and Smallest, with the function of two that they go by.
var extremes = []struct {
	name  string
	of    func(a []float32) float32
	at    func(l Level, a []float32) float32
	pair  func(x, y float32) float32
	empty float64
}{
	{"largest", Largest, largest.reduce, func(x, y float32) float32 { return max(x, y) }, math.Inf(-1)},
	{"smallest", Smallest, smallest.reduce, func(x, y float32) float32 { return min(x, y) }, math.Inf(1)},
}

func TestExtremesAreThoseOfALoop(t *testing.T) {
	g := rand.New(rand.NewPCG(29, 30))
	for _, n := range append(lengths(), 127, 128, 129, 255, 256, 257) {
		for offset := range 3 {
			for _, a := range [][]float32{normal(g, n+offset)[offset:], some(g, n+offset).data[offset:]} {
				for _, f := range extremes {
					want := float32(f.empty)
					for _, x := range a {
						want = f.pair(want, x)
					}
					for _, l := range levels() {
						if got := f.at(l, a); !sameBits(got, want) {
							t.Fatalf("%v: the %s of %d is %v, not %v", l, f.name, n, got, want)
						}
					}
					if got := f.of(a); !sameBits(got, want) {
						t.Fatalf("the %s of %d is %v, not %v", f.name, n, got, want)
					}
				}
			}
		}
	}
}

// Every place counts.
func TestExtremesSeeEveryElement(t *testing.T) {
	special := []float32{7, -7, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1))}
	for _, n := range []int{1, 2, 3, 15, 17, 127, 128, 129, 300} {
		for at := range n {
			for i, x := range special {
				for _, others := range []float32{0, special[6]} {
					a := slices.Repeat([]float32{others}, n)
					a[at] = x
					for _, f := range extremes {
						want := x
						if n > 1 {
							want = f.pair(x, others)
						}
						for _, l := range levels() {
							if got := f.at(l, a); !sameBits(got, want) {
								t.Fatalf("%v: the %s of %v at %d of %d is %v (special %d)", l, f.name, x, at, n, got, i)
							}
						}
					}
				}
			}
		}
	}
}

func BenchmarkLargest(b *testing.B) {
	x := make([]float32, 1024)
	for _, l := range levels() {
		b.Run(l.String(), func(b *testing.B) {
			for b.Loop() {
				extremes[0].at(l, x)
			}
		})
	}
}
