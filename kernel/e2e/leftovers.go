package e2e

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
)

// markedProcesses lists the processes that have a variable, "NAME=VALUE", in their
// environment, where that can be read. Those that have ended and only wait for
// their parent have none.
func markedProcesses(mark string) []proc.Process {
	all, err := proc.All()
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(p proc.Process) bool { return !slices.Contains(p.Env(), mark) })
}

// endLeftovers waits until no process has the mark in its environment. What does
// not end is ended, and is an error: a reader would have to do it by hand.
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
