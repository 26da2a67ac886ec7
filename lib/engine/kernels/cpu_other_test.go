//go:build !unix

package kernels

import "time"

// Without getrusage the benchmarks report wall time.
var began = time.Now()

func busy() time.Duration { return time.Since(began) }
