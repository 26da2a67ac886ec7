//go:build unix

package kernels

import (
	"syscall"
	"time"
)

// cpuTime is the processor time that this process has taken: on a machine with other work,
// what tells kernels apart.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
