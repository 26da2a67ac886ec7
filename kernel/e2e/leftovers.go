// Processes that are still running after the test.

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
)

// markedProcesses returns the processes with a variable "NAME=VALUE" in their environment,
// as far as it can be read. Zombies have none.
func markedProcesses(mark string) []proc.Process {
	all, err := proc.All()
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(p proc.Process) bool { return !slices.Contains(p.Env(), mark) })
}

// endLeftovers waits until no process has the mark in its environment. Processes that are
// left after that are killed, and are an error.
func endLeftovers(mark string, patience time.Duration) error {
	end := time.Now().Add(patience)
	var left []proc.Process
	for {
		if left = markedProcesses(mark); len(left) == 0 {
			return nil
		}
		if time.Now().After(end) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	var names []string
	for _, l := range left {
		names = append(names, fmt.Sprintf("%s (process %d)", l.Name, l.PID))
		proc.Kill(l.PID)
	}
	return fmt.Errorf("still running after the test, now ended: %s", strings.Join(names, ", "))
}
