package engine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gomlx/compute"
)

// open opens the engine under test.
func open(t testing.TB) *Engine {
	t.Helper()
	e, err := Open("lethe")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func TestOpenUnderstandsEverySpecification(t *testing.T) {
	for spec, why := range map[string]string{"lethe": "by name", "go": "by name", "auto": "", "": "by name"} {
		t.Setenv("LETHE_ENGINE", "lethe")
		e, err := Open(spec)
		if err != nil {
			t.Errorf("%q: %v", spec, err)
			continue
		}
		if !strings.Contains(e.Info().Why, why) || e.Info().Why == "" {
			t.Errorf("%q: opened because %q", spec, e.Info().Why)
		}
		if !strings.Contains(e.String(), e.Info().Why) || strings.Contains(e.String(), "\n") {
			t.Errorf("%q: the line for people is %q", spec, e)
		}
		e.Close()
	}
}

func TestOpenRefusesNonsenseAndListsTheChoices(t *testing.T) {
	for _, spec := range []string{"cuda", "Go", "xlacpu", "go:parallelism=2", " ", "auto,go"} {
		e, err := Open(spec)
		if err == nil {
			e.Close()
			t.Errorf("%q opened", spec)
			continue
		}
		for _, want := range []string{fmt.Sprintf("%q", spec), "auto", "lethe", "go", "xla", "xla:cuda", "xla:/path/to/plugin.so"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: error %q does not say %s", spec, err, want)
			}
		}
	}
}

func TestTheEnvironmentNamesTheDefaultEngine(t *testing.T) {
	t.Setenv("LETHE_ENGINE", "nonsense")
	if _, err := Open(""); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("error %v", err)
	}
	e, err := Open("go")
	if err != nil {
		t.Fatal(err)
	}
	e.Close()
}

func TestOpenPrintsNothingOnStandardOutput(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stdout
	os.Stdout = w
	e, err := Open("go")
	after := os.Stdout
	os.Stdout = before
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	e.Close()
	if after != w {
		t.Error("standard output was not put back")
	}
	if said, err := io.ReadAll(r); err != nil || len(said) > 0 {
		t.Errorf("standard output got %q (%v)", said, err)
	}
}

func TestAPanickingBackendIsAnError(t *testing.T) {
	_, err := openSilently(func() (compute.Backend, error) { panic("broken plugin") })
	if err == nil || !strings.Contains(err.Error(), "broken plugin") {
		t.Errorf("error %v", err)
	}
}

func TestParallelReturnsTheErrorOfTheFirstTask(t *testing.T) {
	e := open(t)
	for range 20 {
		err := e.Parallel(50, func(i int) error {
			if i%7 == 3 {
				return fmt.Errorf("task %d", i)
			}
			return nil
		})
		if err == nil || err.Error() != "task 3" {
			t.Fatalf("error %v, want that of task 3", err)
		}
	}
	if err := e.Parallel(1, func(int) error { return errors.New("alone") }); err == nil || err.Error() != "alone" {
		t.Errorf("one task: error %v", err)
	}
	for _, n := range []int{1, 5} {
		if err := e.Parallel(n, func(int) error { panic("oops") }); err == nil || !strings.Contains(err.Error(), "a task panicked at engine_test.go:") {
			t.Errorf("%d tasks that panic: %v", n, err)
		}
	}
}

func TestParallelRunsEveryTaskOnceAndNoMoreThanCoresAtATime(t *testing.T) {
	before := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(before)
	e := open(t)
	if e.Cores() != 3 {
		t.Fatalf("%d cores, GOMAXPROCS is 3", e.Cores())
	}
	for _, n := range []int{0, 1, 2, 100} {
		runs := make([]atomic.Int32, n)
		var now, most atomic.Int32
		err := e.Parallel(n, func(i int) error {
			k := now.Add(1)
			for old := most.Load(); k > old && !most.CompareAndSwap(old, k); old = most.Load() {
			}
			runtime.Gosched()
			runs[i].Add(1)
			now.Add(-1)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range runs {
			if runs[i].Load() != 1 {
				t.Errorf("task %d of %d ran %d times", i, n, runs[i].Load())
			}
		}
		if most.Load() > 3 {
			t.Errorf("%d tasks at a time on 3 cores", most.Load())
		}
	}
}

// Two callers share the cores; neither may wait for ever.
func TestParallelServesSeveralCallers(t *testing.T) {
	e := open(t)
	var wg sync.WaitGroup
	var done atomic.Int32
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if err := e.Parallel(5, func(int) error { done.Add(1); return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if done.Load() != 8*50*5 {
		t.Errorf("%d tasks ran", done.Load())
	}
}

func TestWithChunkRowsSharesTheBackend(t *testing.T) {
	e := open(t)
	other := e.WithChunkRows(7)
	if other.ChunkRows() != 7 || e.ChunkRows() == 7 || other.Backend() != e.Backend() || other.Cores() != e.Cores() {
		t.Errorf("%+v of %+v", other, e)
	}
	if got := e.WithChunkRows(0).ChunkRows(); got != 1 {
		t.Errorf("chunks of %d rows", got)
	}
}

func ExampleOpen() {
	e, err := Open("lethe")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	fmt.Println(e.Info().Kind)
	_, err = Open("abacus")
	fmt.Println(err)
	// Output:
	// lethe
	// engine: "abacus" is not one of auto, lethe, go, xla, xla:cuda, xla:/path/to/plugin.so
}
