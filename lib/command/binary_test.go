// Tests with the built program.

package command

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/cli"
)

var tempDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "lethe-kernel-test-")
	if err != nil {
		panic(err)
	}
	tempDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// built is the program, built once for all tests.
var built = sync.OnceValues(func() (string, error) {
	path := filepath.Join(tempDir, "lethe")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", path, "github.com/lethe-ml/lethe")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// program returns the program's path, or skips the test where it cannot be built.
func program(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("uses shell scripts and signals")
	}
	if testing.Short() {
		t.Skip("builds the program; not with -short")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go tool on PATH")
	}
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAnInterruptStopsASweepWithExitCode130(t *testing.T) {
	cmd := exec.Command(program(t), "table", "ruler", "1")
	cmd.Env = append(os.Environ(), "LETHE_STORE="+filepath.Join(t.TempDir(), "store"))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	var said []string
	for s := bufio.NewScanner(stderr); s.Scan(); {
		said = append(said, s.Text())
		if strings.HasPrefix(s.Text(), "lethe: engine") {
			time.Sleep(200 * time.Millisecond) // into the work
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	began := time.Now()
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitInterrupted || time.Since(began) > 5*time.Second {
		t.Errorf("exit code %d after %v", code, time.Since(began))
	}
	if all := strings.Join(said, "\n"); !strings.Contains(all, "interrupted") || !strings.Contains(all, "resumes from there") {
		t.Errorf("said %q", all)
	}
}
