//go:build unix

package notebook

import (
	"os/exec"
	"syscall"
)

// ownGroup keeps a terminal's Ctrl-C from the program: we stop it ourselves,
// after its work is saved.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends a process group, if there is one.
func killGroup(pid int) {
	if pid > 1 {
		syscall.Kill(-pid, syscall.SIGKILL)
	}
}
