//go:build unix && !linux

package e2e

import (
	"os/exec"
	"syscall"
)

// dieWithUs gives a program a process group of its own, which an interrupt from
// the keyboard does not reach.
func dieWithUs(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
