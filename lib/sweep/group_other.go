//go:build !unix

package sweep

import "os/exec"

// newProcessGroup does nothing where processes have no groups.
func newProcessGroup(*exec.Cmd) {}
