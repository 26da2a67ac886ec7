//go:build unix

package nb

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// The kernel reads what a cell prints from one pipe and what it shows from
// another, side by side. drainPrinted waits until nothing is left in the pipes
// of standard output and standard error, and then until the kernel has handed
// on what it took out of them.
func drainPrinted() {
	stop := time.Now().Add(kernelTimeout)
	for _, fd := range []int{1, 2} {
		for unreadBytes(fd) > 0 && time.Now().Before(stop) {
			time.Sleep(100 * time.Microsecond)
		}
	}
	syncKernel()
	for i := 0; i < 40 && isComputing(os.Getppid()); i++ {
		time.Sleep(500 * time.Microsecond)
	}
}

// unreadBytes is the number of bytes that nobody has read from a pipe yet, 0 for
// what is not a pipe.
func unreadBytes(fd int) int {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return 0
	}
	n, err := unix.IoctlGetInt(fd, fionread)
	if err != nil {
		return 0
	}
	return n
}
