//go:build unix

package setup

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a program the head of a process group, which is asked to stop
// as a whole: the go tool and pip then remove their temporary files.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
}

// endGroup ends what is left of a program's group.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
