//go:build unix && !linux

package relay

import (
	"os/exec"
	"syscall"
)

// prepare gives the command a process group of its own.
func prepare(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// processes is empty: there is no /proc to read.
func processes() []member { return nil }

func workingIn(string) []int { return nil }

func pipesOf([]member) []string { return nil }
