//go:build unix

package cells_test

import (
	"os"
	"runtime"
	"syscall"
)

// maxRSS returns the greatest memory of a process that has ended, in MiB.
func maxRSS(s *os.ProcessState) float64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return float64(u.Maxrss) / (1 << 20)
	}
	return float64(u.Maxrss) / (1 << 10)
}
