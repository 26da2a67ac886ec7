// Tests of leftovers.go.

package e2e

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestWhatIsStillRunningIsNamedAndEnded(t *testing.T) {
	mark := "LETHE_E2E=" + t.Name() + strconv.Itoa(os.Getpid())
	cmd := exec.Command("sleep", "60")
	cmd.Env = append(os.Environ(), mark)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	// A process takes its environment a moment after it has been started.
	for end := time.Now().Add(10 * time.Second); len(markedProcesses(mark)) == 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	err := endLeftovers(mark, 0)
	want := "sleep (process " + strconv.Itoa(cmd.Process.Pid) + ")"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q in it", err, want)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("it is still running")
	}
	if err := endLeftovers(mark, 10*time.Second); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestAMarkIsNotFoundInsideAnotherValue(t *testing.T) {
	mark := "LETHE_E2E=" + t.Name() + strconv.Itoa(os.Getpid())
	cmd := exec.Command("sleep", "60")
	cmd.Env = append(os.Environ(), mark+"0", "X"+mark)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	for end := time.Now().Add(10 * time.Second); len(markedProcesses(mark+"0")) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the process does not appear")
		}
	}
	if got := markedProcesses(mark); len(got) > 0 {
		t.Errorf("found %v", got)
	}
}
