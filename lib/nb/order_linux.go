// Whether the kernel has passed on what it has read, by /proc.

package nb

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const fionread = unix.TIOCINQ

// isComputing reports whether a thread of the process is running. If none is, the kernel
// has passed on all that it has read.
func isComputing(pid int) bool {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	threads, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, t := range threads {
		stat, err := os.ReadFile(dir + "/" + t.Name() + "/stat")
		if err != nil {
			continue
		}
		// The state follows the name, which stands in parentheses and may hold any.
		if i := bytes.LastIndexByte(stat, ')'); i >= 0 && i+2 < len(stat) && stat[i+2] == 'R' {
			return true
		}
	}
	return false
}
