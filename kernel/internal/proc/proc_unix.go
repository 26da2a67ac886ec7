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

func signal(pid int, s syscall.Signal) error { return syscall.Kill(pid, s) }
