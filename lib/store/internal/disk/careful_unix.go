//go:build unix

package disk

import "syscall"

// careful are the flags with which no link is followed and no pipe waited for.
const careful = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
