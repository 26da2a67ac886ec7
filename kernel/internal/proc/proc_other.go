//go:build !unix

// Stand-ins for systems without Unix processes.

package proc

import (
	"os"
	"os/exec"
	"syscall"
)

// Notebooks need a Unix, so this file only lets the program build.

// Group does nothing here.
func Group(*exec.Cmd) {}

// signal ends a process, whatever the signal; a group is its head.
func signal(pid int, s syscall.Signal) error {
	p, err := os.FindProcess(max(pid, -pid))
	if err == nil && s != 0 {
		err = p.Kill()
	}
	return err
}
