package e2e

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// leftover is a process of a run that should be over.
type leftover struct {
	pid  int
	name string
}

// leftRunning waits until no process has the mark in its environment. What does
// not end is ended, and is an error: a reader would have to do it by hand.
func leftRunning(mark string, patience time.Duration) error {
	end := time.Now().Add(patience)
	var left []leftover
	for {
		if left = marked(mark); len(left) == 0 {
			return nil
		}
		if time.Now().After(end) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	var names []string
	for _, l := range left {
		names = append(names, fmt.Sprintf("%s (process %d)", l.name, l.pid))
		if p, err := os.FindProcess(l.pid); err == nil {
			_ = p.Kill()
		}
	}
	return fmt.Errorf("still running after the test, now ended: %s", strings.Join(names, ", "))
}
