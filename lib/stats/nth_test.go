package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTheNthValueIsTheOneThatSortingPutsThere(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		x := make([]float64, 1+rng.IntN(40))
		distinct := 1 + rng.IntN(50) // few: many ties
		for i := range x {
			x[i] = float64(rng.IntN(distinct)) - 10
		}
		sorted := slices.Sorted(slices.Values(x))
		k := rng.IntN(len(x))
		s := slices.Clone(x)
		if got := nth(s, k); got != sorted[k] || s[k] != got {
			t.Fatalf("value %d of %v is %v, want %v", k, x, got, sorted[k])
		}
		if k > 0 && slices.Max(s[:k]) > s[k] || slices.Min(s[k:]) < s[k] {
			t.Fatalf("%v is not divided at %d", s, k)
		}
		if slices.Sort(s); !slices.Equal(s, sorted) {
			t.Fatalf("values were lost: %v", s)
		}
	}
}
