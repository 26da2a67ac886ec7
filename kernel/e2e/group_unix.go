//go:build unix

package e2e

import (
	"os/exec"
	"syscall"
)

// askToStop asks a program to end in its own way.
func askToStop(cmd *exec.Cmd) { _ = cmd.Process.Signal(syscall.SIGTERM) }

// endGroup ends what is left of a program's group.
func endGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
