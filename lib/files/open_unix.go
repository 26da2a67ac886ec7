//go:build unix

package files

import "syscall"

// patient is the flag with which no pipe is waited for, direct the one with which
// no link is followed.
const (
	openNonblock = syscall.O_NONBLOCK
	openNoLink   = syscall.O_NOFOLLOW
)

// errNoReader is what the system says of a pipe that nobody reads.
const errNoReader = syscall.ENXIO
