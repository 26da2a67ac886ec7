//go:build unix

// Process groups and signals on Unix.

package proc

import (
	"os/exec"
	"syscall"
)

// Group makes a program the leader of a new process group. When its context ends, the whole
// group gets SIGINT, so that each program can remove its temporary files.
func Group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if cmd.Cancel != nil {
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	}
}

func signal(pid int, s syscall.Signal) error { return syscall.Kill(pid, s) }
