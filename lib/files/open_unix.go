//go:build unix

package files

import "syscall"

// openNonblock makes the opening of a pipe return at once, openNoLink refuses symbolic
// links.
const (
	openNonblock = syscall.O_NONBLOCK
	openNoLink   = syscall.O_NOFOLLOW
)

// errNoReader is the system's error for a pipe without a reader.
const errNoReader = syscall.ENXIO
