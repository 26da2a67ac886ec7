package array

import (
	"fmt"
	"testing"
)

func TestSplitCoversEveryElementOnce(t *testing.T) {
	for _, n := range []int{0, 1, grain - 1, grain, 2*grain + 1, 5*grain + 3, 64 * grain} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			seen := make([]uint8, n)
			Split(n, func(from, to int) {
				for i := from; i < to; i++ {
					seen[i]++
				}
			})
			for i, times := range seen {
				if times != 1 {
					t.Fatalf("element %d was covered %d times", i, times)
				}
			}
		})
	}
}
