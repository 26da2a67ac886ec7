//go:build unix

package relay

import "syscall"

func interruptOne(pid int) { _ = syscall.Kill(pid, syscall.SIGINT) }

func terminateOne(pid int) { _ = syscall.Kill(pid, syscall.SIGTERM) }

func killOne(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) }

func killGroup(group int) { _ = syscall.Kill(-group, syscall.SIGKILL) }

func groupAlive(group int) bool { return syscall.Kill(-group, 0) == nil }
