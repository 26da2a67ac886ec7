//go:build unix

// Waiting until the kernel has read what the cell has printed.

package nb

import (
	"time"

	"github.com/lethe-ml/lethe/lib/nb/detach"
	"golang.org/x/sys/unix"
)

// drainPrinted waits until the kernel has read all that the cell has printed. The kernel
// reads printed text and outputs from separate pipes at the same time, so that without it
// their order would be lost.
func drainPrinted() {
	stop := time.Now().Add(kernelTimeout)
	for _, fd := range []int{1, 2} {
		for unreadBytes(fd) > 0 && time.Now().Before(stop) {
			time.Sleep(100 * time.Microsecond)
		}
	}
	syncKernel()
	for i := 0; i < 40 && isComputing(detach.KernelPID()); i++ {
		time.Sleep(500 * time.Microsecond)
	}
}

// unreadBytes returns the number of unread bytes in a pipe, 0 for anything else.
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
