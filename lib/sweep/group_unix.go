//go:build unix

package sweep

import (
	"os/exec"
	"syscall"
)

// newProcessGroup starts a worker in a process group of its own, so that Ctrl-C reaches it
// only once, through the parent. A second interrupt would end it with nothing saved.
func newProcessGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
