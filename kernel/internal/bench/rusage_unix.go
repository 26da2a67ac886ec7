//go:build unix

package bench

import (
	"os"
	"runtime"
	"syscall"
)

// peakBytes is the largest memory that a finished child has held.
func peakBytes(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin" || runtime.GOOS == "ios":
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) * 1024
}
