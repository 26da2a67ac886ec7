// The garbage collector's memory overhead.

package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// gcSlack is the memory that may wait for Go's garbage collector. By default it is as much
// as is in use, which is gigabytes beside a few large tables.
const gcSlack = 64 << 20

// LimitGCSlack keeps the memory that waits for the collector near gcSlack, as long as the
// process runs. The variable GOGC switches it off.
func LimitGCSlack() {
	if os.Getenv("GOGC") == "" {
		tuneAfterCollection(debug.SetGCPercent(100))
	}
}

// tuneAfterCollection sets the target of the next collection, and runs again after it.
func tuneAfterCollection(percent int) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if p := gcPercent(sample[0].Value.Uint64()); p != percent {
		debug.SetGCPercent(p)
		percent = p
	}
	// Larger than a tiny object: those are freed in groups.
	type sentinel struct{ percent [4]int }
	runtime.SetFinalizer(&sentinel{[4]int{percent}}, func(s *sentinel) { tuneAfterCollection(s.percent[0]) })
}

// gcPercent returns gcSlack as a percentage of the memory in use, in steps of ten, from 10
// to 100.
func gcPercent(live uint64) int {
	return min(100, max(10, int(gcSlack*10/max(live, 1))*10))
}
