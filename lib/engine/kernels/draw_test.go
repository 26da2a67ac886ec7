package kernels

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The first numbers of SplitMix64 with seed 1234567, as its author's program in C prints
// them (prng.di.unimi.it/splitmix64.c).
func TestSplitMix64IsItsAuthors(t *testing.T) {
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := SplitMix64(1234567 + uint64(i)*golden); got != want {
			t.Errorf("number %d is %d, not %d", i, got, want)
		}
	}
}

func TestDropoutIsWhatEachPlaceSays(t *testing.T) {
	g := rand.New(rand.NewPCG(21, 22))
	for _, n := range append(lengths(), 1000) {
		for _, first := range []int{0, 1, 2, 3, 4, 30, 1 << 33} {
			key, rate := g.Uint64(), []float64{0, 0.2, 0.5, 0.999, 1.0 / 65536}[g.IntN(5)]
			for _, l := range levels() {
				f := newFenced[float32](n)
				dropoutAt(l, f.data, key, first, rate)
				f.intact(t, "dropout")
				for i, got := range f.data {
					at := uint64(first + i)
					bits := SplitMix64(key+at/4) >> (16 * (at % 4)) % 65536
					want := float32(1 / (1 - rate))
					if float64(bits) < math.Round(rate*65536) {
						want = 0
					}
					if got != want {
						t.Fatalf("%v: place %d of rate %v is %v, not %v", l, at, rate, got, want)
					}
				}
			}
		}
	}
}

func BenchmarkDropout(b *testing.B) {
	dst := make([]float32, 512)
	for _, l := range levels() {
		b.Run(l.String(), func(b *testing.B) {
			b.SetBytes(int64(4 * len(dst)))
			for b.Loop() {
				dropoutAt(l, dst, 1, 0, 0.2)
			}
		})
	}
}
