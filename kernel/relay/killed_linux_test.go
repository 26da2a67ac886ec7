// Nothing keeps running after the relay was killed.

package relay

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
)

func TestGonbEndsWithAKilledRelay(t *testing.T) {
	c := prepareClient(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, c.file)
	cmd.Env = append(os.Environ(), roleEnv+"=relay")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.dial()
	c.until(c.run("print x"))
	var gonb []proc.Process
	for _, m := range processes() {
		if m.Parent == cmd.Process.Pid {
			gonb = append(gonb, m)
		}
	}
	if len(gonb) != 1 {
		t.Fatalf("the relay has %d children", len(gonb))
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for stop := time.Now().Add(10 * time.Second); alive(gonb[0]); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(stop) {
			proc.Kill(gonb[0].PID)
			t.Fatal("gonb is still there")
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(c.log), "gonb_*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func alive(was proc.Process) bool {
	for _, m := range processes() {
		if m.PID == was.PID && m.Started == was.Started {
			return true
		}
	}
	return false
}
