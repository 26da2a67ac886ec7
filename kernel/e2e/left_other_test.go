//go:build unix && !linux

package e2e

import "syscall"

// groupIsGone reports whether a process group has no members.
func groupIsGone(group int) bool { return syscall.Kill(-group, 0) != nil }
