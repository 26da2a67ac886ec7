//go:build unix

package sweep

import (
	"os/exec"
	"syscall"
)

// newProcessGroup keeps a key that stops this process from stopping its workers a second time:
// the second time ends them at once, with nothing saved.
func newProcessGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
