//go:build !unix

package sweep

import "os/exec"

// newProcessGroup is nothing where processes have no groups.
func newProcessGroup(*exec.Cmd) {}
