//go:build !unix

package bench

import "os"

// peakBytes returns 0: the peak memory is not known on this system.
func peakBytes(*os.ProcessState) int64 { return 0 }
