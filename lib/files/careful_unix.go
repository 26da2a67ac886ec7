//go:build unix

package files

import "syscall"

// patient is the flag with which no pipe is waited for, direct the one with which
// no link is followed.
const (
	patient = syscall.O_NONBLOCK
	direct  = syscall.O_NOFOLLOW
)

// unread is what the system says of a pipe that nobody reads.
const unread = syscall.ENXIO
