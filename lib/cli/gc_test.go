// Tests of gc.go.

package cli

import "testing"

func TestLargeHeapsWaitForTheCollectorNoLongerThanSmallOnes(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{{0, 100}, {4 << 20, 100}, {64 << 20, 100}, {100 << 20, 60}, {500 << 20, 10}, {1 << 40, 10}} {
		if got := gcPercent(c.live); got != c.want {
			t.Errorf("%d bytes in use: %d %%, want %d", c.live, got, c.want)
		}
	}
}
