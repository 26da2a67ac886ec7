//go:build !linux

// Processes by the program ps, where there is no /proc.

package proc

import (
	"os/exec"
	"strconv"
	"strings"
	"time"
)

func endWithParent(cmd *exec.Cmd) { Group(cmd) }

// All lists the processes that run on this machine.
func All() ([]Process, error) {
	b, err := exec.Command("ps", "-axo", "pid=,ppid=,pgid=,comm=").Output()
	if err != nil {
		return nil, err
	}
	var out []Process
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		var n [3]int
		for i := range n {
			n[i], _ = strconv.Atoi(f[i])
		}
		out = append(out, Process{PID: n[0], Parent: n[1], Group: n[2], Name: strings.Join(f[3:], " ")})
	}
	return out, nil
}

// Exe is the program's file, "" where that is not to be seen.
func (p Process) Exe() string { return p.Name }

// Args are not known here, nor are Env and StartTime.
func (p Process) Args() []string { return nil }

// Env is not known here.
func (p Process) Env() []string { return nil }

// StartTime is not known here.
func (p Process) StartTime() time.Time { return time.Time{} }

func isZombie(int) bool { return false }
