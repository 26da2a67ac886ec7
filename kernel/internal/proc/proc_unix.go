//go:build unix

package proc

import (
	"os/exec"
	"syscall"
)

// Group makes a program the head of a process group of its own. When its
// context ends, the group as a whole is asked to stop, so that each program can
// remove its temporary files.
func Group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if cmd.Cancel != nil {
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	}
}

// Interrupt sends a process what Ctrl-C sends.
func Interrupt(pid int) { _ = syscall.Kill(pid, syscall.SIGINT) }

// Terminate asks a process to end in its own way.
func Terminate(pid int) { _ = syscall.Kill(pid, syscall.SIGTERM) }

// Kill ends a process.
func Kill(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) }

// KillGroup ends what is left of a process group, if there is one.
func KillGroup(group int) {
	if group > 1 {
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
}

// GroupAlive reports whether a process group has members.
func GroupAlive(group int) bool { return syscall.Kill(-group, 0) == nil }

// Alive reports whether a process runs; one that has ended and only waits for
// its parent does not.
func Alive(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH && !isZombie(pid) }
