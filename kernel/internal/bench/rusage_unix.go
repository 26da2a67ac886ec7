//go:build unix

// The peak memory of a child process.

package bench

import (
	"os"
	"runtime"
	"syscall"
)

// peakBytes returns the peak memory of a finished child process.
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
