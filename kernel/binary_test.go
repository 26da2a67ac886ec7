package kernel

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
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

// built is the plain program, built once for all tests.
var built = sync.OnceValues(func() (string, error) {
	path := filepath.Join(tempDir, "lethe")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", path, "github.com/lethe-ml/lethe")
	cmd.Env = append(os.Environ(), "GOEXPERIMENT=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// program returns the plain program, or skips the test where it cannot be built.
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

func script(t *testing.T, name, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// start runs the program with a fake go tool on PATH, in folders of its own.
func start(t *testing.T, goTool, stdin string, args ...string) result {
	t.Helper()
	cmd := exec.Command(program(t), args...)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(goTool)+":/usr/bin:/bin", "LETHE_SIMD=", "LETHE_TWIN=",
		"LETHE_HOME="+filepath.Join(filepath.Dir(goTool), "home"), "LETHE_STORE="+filepath.Join(filepath.Dir(goTool), "store"))
	cmd.Stdin = strings.NewReader(stdin)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), stderr.String()}
}

// needsAVX2 skips where the program would rightly not look for a twin.
func needsAVX2(t *testing.T) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("the SIMD engine is for amd64")
	}
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil && !strings.Contains(string(b), "avx2") {
		t.Skip("this processor has no AVX2")
	}
}

func TestThePlainProgramGoesOnInItsTwin(t *testing.T) {
	needsAVX2(t)
	goTool := script(t, "go", `echo "$*" >> "$0.calls"
printf '#!/bin/sh\necho "twin: $*, $LETHE_TWIN"; cat; exit 7\n' > "$4"; chmod +x "$4"`)
	for i := range 2 {
		r := start(t, goTool, "from stdin", "table", "ruler", "1", "--scale", "quick")
		if r.code != 7 || !strings.HasPrefix(r.out, "twin: table ruler 1 --scale quick, lethe-simd-") || !strings.HasSuffix(r.out, "\nfrom stdin") {
			t.Errorf("start %d: %+v", i, r)
		}
		if said := strings.Count(r.stderr, "\n"); said != 1-i {
			t.Errorf("start %d says %q", i, r.stderr)
		}
	}
	if calls, err := os.ReadFile(goTool + ".calls"); err != nil || strings.Count(string(calls), "\n") != 1 {
		t.Errorf("calls of the go tool: %q, %v", calls, err)
	}
}

func TestWithoutATwinTheProgramSaysWhatThatCostsAndGoesOn(t *testing.T) {
	needsAVX2(t)
	goTool := script(t, "go", `echo "it is broken" >&2; exit 1`)
	r := start(t, goTool, "", "table", "ruler", "1", "--store", goTool) // the store is a file: nothing is computed
	if r.code != exitFailure || !strings.Contains(r.stderr, "it is broken") || !strings.Contains(r.stderr, "18 times slower") || !strings.Contains(r.stderr, "expected a folder") {
		t.Errorf("%+v", r)
	}
}

func TestCommandsWithoutEngineBuildNothing(t *testing.T) {
	goTool := script(t, "go", `echo "$*" >> "$0.calls"; exit 1`)
	for _, line := range []string{"--help", "--version", "list", "data list", "completion bash", "runs", "score --help", "table ruler", "table ruler 1 --help", "table ruler 99", "table ruler 1 --scale none"} {
		if r := start(t, goTool, "", strings.Fields(line)...); strings.Contains(r.stderr, "SIMD") {
			t.Errorf("%s: %+v", line, r)
		}
	}
	if _, err := os.Stat(goTool + ".calls"); err == nil {
		t.Error("the go tool was called")
	}
}

func TestAnInterruptStopsASweepWithExitCode130(t *testing.T) {
	cmd := exec.Command(program(t), "table", "ruler", "1")
	cmd.Env = append(os.Environ(), "LETHE_SIMD=off", "LETHE_STORE="+filepath.Join(t.TempDir(), "store"))
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
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || time.Since(began) > 5*time.Second {
		t.Errorf("exit code %d after %v", code, time.Since(began))
	}
	if all := strings.Join(said, "\n"); !strings.Contains(all, "interrupted") || !strings.Contains(all, "goes on from there") {
		t.Errorf("said %q", all)
	}
}
