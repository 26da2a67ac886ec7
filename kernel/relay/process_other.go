//go:build !unix

package relay

import (
	"os"
	"os/exec"
)

// GoNB does not run here, so this file only lets the program build.

func prepare(*exec.Cmd) {}

func processes() []member { return nil }

func interruptOne(int) {}

func terminateOne(pid int) { killOne(pid) }

func killOne(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

func killGroup(pid int) { killOne(pid) }

func groupAlive(int) bool { return false }

func workingIn(string) []int { return nil }

func pipesOf([]member) []string { return nil }
