package backend

import (
	"math/rand/v2"
	"testing"
)

// Values that are alive at the same step do not overlap. The arena is not larger than the sum of
// all values and not smaller than those alive at one step.
func TestWhatIsAliveLiesApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		a, n, steps := newArena(), 1+rng.IntN(40), 1+rng.IntN(30)
		most := make([]int, steps)
		total := 0
		for slot := range n {
			first := rng.IntN(steps)
			last := min(steps-1, first+rng.IntN(6))
			bytes := 1 + rng.IntN(1000)
			a.define(slot, first, bytes)
			a.use(slot, last)
			for s := first; s <= last; s++ {
				most[s] += bytes
			}
			total += bytes + cacheLine
		}
		places := map[int]int{}
		end := a.assignOffsets(places)
		if len(places) != n {
			t.Fatalf("%d of %d have an offset", len(places), n)
		}
		for i, l := range a.lifetimes {
			if places[i]%cacheLine != 0 || places[i]+l.bytes > end {
				t.Fatalf("%d bytes at %d of %d", l.bytes, places[i], end)
			}
			for j, m := range a.lifetimes {
				together := i != j && l.first <= m.last && m.first <= l.last
				if together && places[i] < places[j]+m.bytes && places[j] < places[i]+l.bytes {
					t.Fatalf("steps %d to %d at %d+%d, and %d to %d at %d+%d", l.first, l.last, places[i], l.bytes, m.first, m.last, places[j], m.bytes)
				}
			}
		}
		for _, bytes := range most {
			if end < bytes {
				t.Fatalf("%d bytes for %d at once", end, bytes)
			}
		}
		if end > total {
			t.Fatalf("%d bytes for %d", end, total)
		}
	}
}

// Inputs and removed slots have no offset.
func TestRemovedSlotsHaveNoOffset(t *testing.T) {
	a := newArena()
	a.use(1, 3)
	a.define(2, 1, 8)
	a.remove(2)
	places := map[int]int{}
	if end := a.assignOffsets(places); end != 0 || len(places) != 0 {
		t.Errorf("%v, %d bytes", places, end)
	}
}
