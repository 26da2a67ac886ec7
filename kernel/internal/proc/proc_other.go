//go:build !unix

package proc

import (
	"os"
	"os/exec"
)

// Notebooks need a Unix, so this file only lets the program build.

// Group does nothing here.
func Group(*exec.Cmd) {}

// Interrupt ends a process.
func Interrupt(pid int) { Kill(pid) }

// Terminate ends a process.
func Terminate(pid int) { Kill(pid) }

// Kill ends a process.
func Kill(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

// KillGroup ends a process.
func KillGroup(pid int) { Kill(pid) }

// GroupAlive knows of no groups.
func GroupAlive(int) bool { return false }

// Alive cannot tell here.
func Alive(int) bool { return true }
