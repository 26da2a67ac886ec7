//go:build unix

package kernel

import "syscall"

// hangUp is the signal of a terminal that is closed.
const hangUp = syscall.SIGHUP
