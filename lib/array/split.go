package array

import (
	"runtime"

	"github.com/lethe-ml/lethe/lib/array/workers"
)

// grain is the number of elements below which another goroutine costs more than
// it gains.
const grain = 1 << 16

// Split calls f on ranges that cover 0 ... n-1 once each, side by side on all
// cores when there are many elements. It is for work whose elements do not
// depend on each other, so that results do not depend on the ranges.
func Split(n int, f func(from, to int)) { SplitRows(n, 1, f) }

// SplitRows is Split for n rows of so many elements each.
func SplitRows(n, elements int, f func(from, to int)) {
	parts := min(runtime.GOMAXPROCS(0), n, n*elements/grain)
	if parts < 2 {
		f(0, n)
		return
	}
	workers.Run(parts, parts, func(k int) { f(k*n/parts, (k+1)*n/parts) })
}
