package ruler

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// network sends points of a low dimension through two layers of random ReLUs,
// which is what penultimate embeddings of a table look like: half the units are
// off and nearest neighbours are close to parallel.
func network(rng *rand.Rand, n, inputs, p int) *matrix {
	h := rectify(layer(gaussian(rng, n, inputs), gaussian(rng, p, inputs)))
	return rectify(layer(h, gaussian(rng, p, p)))
}

func layer(a, b *matrix) *matrix {
	out := array.New[float64](a.Rows, b.Rows)
	for i := range a.Rows {
		for j := range b.Rows {
			out.Row(i)[j] = kernels.Dot(a.Row(i), b.Row(j))
		}
	}
	return &out
}

func rectify(m *matrix) *matrix {
	for i, v := range m.Data {
		m.Data[i] = max(v, 0)
	}
	return m
}

func intRange(lo, hi int) []int {
	out := make([]int, hi-lo)
	for i := range out {
		out[i] = lo + i
	}
	return out
}

// BenchmarkM4 ranks 5 % of n records among all others. The largest is the
// paper's largest training set.
func BenchmarkM4(b *testing.B) {
	for _, n := range []int{2000, 20000, 81412} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			u := network(rand.New(rand.NewPCG(1, 2)), n, 10, 128)
			forget, retain := intRange(0, n/20), intRange(n/20, n)
			opt := Options{GalleryCap: NoCap, ZeroNorm: AsPublished, PointOnly: true}
			for b.Loop() {
				if _, _, err := M4(Evidence{Unlearned: u, Forget: forget, Retain: retain}, opt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
