package array

import (
	"runtime"

	"github.com/lethe-ml/lethe/lib/array/workers"
)

// grain is the number of elements from which another goroutine pays.
const grain = 1 << 16

// Split calls f on ranges that cover 0 ... n-1 once each, in parallel if there are many
// elements. The elements must be independent, so that results do not depend on the ranges.
func Split(n int, f func(from, to int)) { SplitRows(n, 1, f) }

// SplitRows is Split for n rows with the given number of elements each.
func SplitRows(n, elements int, f func(from, to int)) {
	parts := min(runtime.GOMAXPROCS(0), n, n*elements/grain)
	if parts < 2 {
		f(0, n)
		return
	}
	workers.Run(parts, parts, func(k int) { f(k*n/parts, (k+1)*n/parts) })
}
