package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// gcSlack is how much may wait for Go's collector. By itself it is as much as there is in
// use, which a network's few large tables make gigabytes, and collecting those costs
// next to nothing.
const gcSlack = 64 << 20

// LimitGCSlack keeps what waits for the collector near slack as long as the process runs,
// unless GOGC says how it is to be.
func LimitGCSlack() {
	if os.Getenv("GOGC") == "" {
		tuneAfterCollection(debug.SetGCPercent(100))
	}
}

// tuneAfterCollection asks for the next collection, and watches for its end.
func tuneAfterCollection(percent int) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if p := gcPercent(sample[0].Value.Uint64()); p != percent {
		debug.SetGCPercent(p)
		percent = p
	}
	// Not among the smallest objects, several of which die together.
	type sentinel struct{ percent [4]int }
	runtime.SetFinalizer(&sentinel{[4]int{percent}}, func(s *sentinel) { tuneAfterCollection(s.percent[0]) })
}

// gcPercent is the slack as a share of what is in use, in per cent: in steps of ten
// down to ten.
func gcPercent(live uint64) int {
	return min(100, max(10, int(gcSlack*10/max(live, 1))*10))
}
