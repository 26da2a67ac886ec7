package array

import (
	"fmt"
	"testing"
)

func TestSplitCoversEveryElementOnce(t *testing.T) {
	for _, n := range []int{0, 1, grain - 1, grain, 2*grain + 1, 5*grain + 3, 64 * grain} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { covers(t, n, func(f func(from, to int)) { Split(n, f) }) })
	}
	for _, n := range []int{0, 1, 2, 3, 7, 100} {
		t.Run(fmt.Sprint(n, " rows"), func(t *testing.T) { covers(t, n, func(f func(from, to int)) { SplitRows(n, grain, f) }) })
	}
}

func covers(t *testing.T, n int, split func(f func(from, to int))) {
	seen := make([]uint8, n)
	split(func(from, to int) {
		for i := from; i < to; i++ {
			seen[i]++
		}
	})
	for i, times := range seen {
		if times != 1 {
			t.Fatalf("element %d was covered %d times", i, times)
		}
	}
}
