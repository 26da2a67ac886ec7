package ruler

import (
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// The share of ties is that of a count over all pairs, and M4 is that of M4.
func TestTiesOfNeighboursAreCounted(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, distinct := range []int{1, 5, 30, 90} {
		x := array.New[float64](90, 3)
		for i := range x.Rows {
			for j := range x.Cols {
				x.Row(i)[j] = rng.NormFloat64()
			}
			copy(x.Row(i), x.Row(i%distinct))
		}
		var e Evidence
		e.Unlearned = &x
		for i := range x.Rows {
			if i%3 == 0 {
				e.Forget = append(e.Forget, i)
			} else {
				e.Retain = append(e.Retain, i)
			}
		}
		want, _, err := M4(e, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, tied, err := M4Tied(e, Options{})
		if err != nil {
			t.Fatal(err)
		}
		n, err := neighbours(e, e.Retain, Options{})
		if err != nil {
			t.Fatal(err)
		}
		pairs := 0.0
		for _, p := range n.forget {
			for _, q := range n.gallery {
				if d := p - q; d <= TieTolerance && d >= -TieTolerance {
					pairs++
				}
			}
		}
		if want.Value != got.Value || tied < pairs/float64(len(n.forget)*len(n.gallery))-1e-12 || tied > pairs/float64(len(n.forget)*len(n.gallery))+1e-12 {
			t.Errorf("%d distinct: M4 %v and %v, %v tied, counted %v of %d", distinct, want.Value, got.Value, tied, pairs, len(n.forget)*len(n.gallery))
		}
		if (distinct == 1 || distinct == 5) != (tied == 1) {
			t.Errorf("%d distinct: %v of the comparisons are ties", distinct, tied)
		}
	}
}
