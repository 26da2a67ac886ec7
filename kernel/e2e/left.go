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

// patienceLeft is how long processes may take to end after those that started
// them: a language server writes its cache first.
const patienceLeft = 10 * time.Second

// leftRunning waits until no process has the mark in its environment. What does
// not end is ended, and is an error: a reader would have to do it by hand.
func leftRunning(mark string) error {
	end := time.Now().Add(patienceLeft)
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
