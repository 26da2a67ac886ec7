//go:build !unix

package bench

import "os"

// peakBytes is 0 where it is not known.
func peakBytes(*os.ProcessState) int64 { return 0 }
