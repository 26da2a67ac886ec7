package sde

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

func TestHalvesAreThoseThatSplitHalfTakes(t *testing.T) {
	for _, rows := range []int{40, 41} {
		m := array.Normal(rand.New(rand.NewPCG(1, 2)), rows, 3, 1)
		first, second := Halves(&m)
		if first.Rows != 20 || second.Rows != 20 || second.Row(19)[2] != m.Row(39)[2] {
			t.Fatalf("halves of %d rows: %d and %d", rows, first.Rows, second.Rows)
		}
		h, err := HSIC(first, second, SqrtDim())
		if err != nil {
			t.Fatal(err)
		}
		d, err := SplitHalf(&m, Options{}, rand.New(rand.NewPCG(3, 4)))
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(h-d.Identity) > 1e-15 {
			t.Errorf("%d rows: HSIC between the halves is %v, SplitHalf has %v", rows, h, d.Identity)
		}
	}
}
