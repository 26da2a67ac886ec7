// Tests of setup.go.

package setup

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/files"
)

func TestASecondPrepareDoesNothingAndSaysNothing(t *testing.T) {
	w := newTestMachine(t)
	first := w.ready()
	if said := w.printed(); !strings.Contains(said, "once") || !strings.Contains(said, "gopls") || !strings.Contains(said, "JupyterLab") {
		t.Errorf("the first time it said %q", said)
	}
	if calls := w.calls(); len(calls) != 6 {
		t.Errorf("%d calls: %q", len(calls), calls)
	}
	second := w.ready()
	if said, calls := w.printed(), w.calls(); said != "" || len(calls) != 0 {
		t.Errorf("said %q, calls %q", said, calls)
	}
	if first.Python != second.Python || first.Kernels != second.Kernels || !slices.Equal(first.Env, second.Env) {
		t.Errorf("%+v is not %+v", second, first)
	}
	if left := w.leftovers(); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

func TestReadySaysWhereEverythingIs(t *testing.T) {
	w := newTestMachine(t)
	r := w.ready()
	if r.Root != w.root || !r.Clone || r.Notebooks != filepath.Join(w.root, "notebooks") || r.Kernel != KernelGo || r.XLA || r.Lab != "jupyterlab" {
		t.Errorf("%+v", r)
	}
	for _, path := range []string{r.Python, relayOf(r), filepath.Join(r.Kernels, KernelGo, "kernel.json"), filepath.Join(r.Kernels, KernelGo, "logo-64x64.png")} {
		if !isFile(path) || !strings.HasPrefix(path, w.home) {
			t.Errorf("%s is missing or outside %s", path, w.home)
		}
	}
	for _, name := range []string{"JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR"} {
		if v := valueOfVariable(r.Env, name); !strings.HasPrefix(v, w.home) {
			t.Errorf("%s=%s", name, v)
		}
	}
	if got := valueOfVariable(r.Env, "JUPYTER_PATH"); got != filepath.Dir(r.Kernels) {
		t.Errorf("JUPYTER_PATH=%s", got)
	}
}

// relayOf is the program that Jupyter starts.
func relayOf(r *Ready) string {
	return filepath.Join(filepath.Dir(filepath.Dir(r.Kernels)), KernelGo, "bin", relayName)
}

func valueOfVariable(env []string, name string) string {
	for _, kv := range env {
		if n, v, _ := strings.Cut(kv, "="); n == name {
			return v
		}
	}
	return ""
}

func TestNothingIsWrittenOutsideHome(t *testing.T) {
	w := newTestMachine(t)
	before := listFiles(t, w.root)
	w.ready()
	if after := listFiles(t, w.root); after != before {
		t.Errorf("the clone is %q, was %q", after, before)
	}
}

func listFiles(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, "\n")
}

// TestInterruptedAnywhereItGoesOnWhereItWas stops the work in every step.
func TestInterruptedAnywhereItGoesOnWhereItWas(t *testing.T) {
	all := []string{gonbPath, goplsPath, "venv", "pip", relayPath, "fmt"}
	for i, stop := range all {
		t.Run(filepath.Base(stop), func(t *testing.T) {
			w := newTestMachine(t)
			w.writeFile("hang", stop+"\n")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			stopped := errors.New("stopped")
			go func() {
				w.await(i + 1)
				cancel(stopped)
			}()
			runWithin(t, 25*time.Second, func() {
				if _, err := w.prepare(ctx); !errors.Is(err, stopped) {
					t.Errorf("error %v", err)
				}
			})
			if calls := w.calls(); len(calls) != i+1 {
				t.Fatalf("%d calls before the interrupt: %q", len(calls), calls)
			}
			w.remove("hang")
			w.ready()
			want := len(all) - i
			if stop == "pip" {
				want++ // the environment is made anew
			}
			if calls := w.calls(); len(calls) != want {
				t.Errorf("%d calls afterwards, want %d: %q", len(calls), want, calls)
			}
			if left := w.leftovers(); len(left) != 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

func TestWhatAKilledProgramLeftIsSweptAway(t *testing.T) {
	w := newTestMachine(t)
	w.writeFile("home/kernel/"+files.TempPrefix+"123/x", "half")
	w.ready()
	if left := w.leftovers(); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

func TestUnusedToolsAreRemoved(t *testing.T) {
	w := newTestMachine(t)
	long := time.Now().Add(-2 * keepFor)
	for _, name := range []string{"tools-00000000aaaa/gonb.json", "tools-00000000bbbb/gonb.json", "python-00000000aaaa.json"} {
		w.writeFile("home/kernel/"+name, "{}")
		if !strings.Contains(name, "bbbb") {
			if err := os.Chtimes(filepath.Join(w.home, "kernel", name), long, long); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.writeFile("home/kernel/python-00000000aaaa/bin/python", "old")
	w.ready()
	for name, want := range map[string]bool{"tools-00000000aaaa": false, "tools-00000000bbbb": true, "python-00000000aaaa": false, "python-00000000aaaa.json": false} {
		if _, err := os.Stat(filepath.Join(w.home, "kernel", name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAChangedLibraryIsCompiledAgainAndNothingElseIs(t *testing.T) {
	w := newTestMachine(t)
	w.ready()
	w.calls()
	w.writeFile("clone/lib/a.go", "package lib // changed\n")
	w.ready()
	calls := w.calls()
	if len(calls) != 2 || !strings.HasSuffix(calls[0], relayPath) || !strings.Contains(calls[1], Module+"/lib/...") {
		t.Errorf("calls %q", calls)
	}
	w.writeFile("clone/notebooks/start/00.ipynb", "{run}")
	w.writeFile("clone/lib/a_test.go", "package lib\n")
	w.writeFile("clone/.git/x.go", "package x\n")
	w.ready()
	if calls := w.calls(); len(calls) != 0 {
		t.Errorf("calls after changes that compile to the same: %q", calls)
	}
}

func TestALostProgramIsBuiltAgain(t *testing.T) {
	w := newTestMachine(t)
	r := w.ready()
	w.calls()
	if err := os.Remove(relayOf(r)); err != nil {
		t.Fatal(err)
	}
	w.ready()
	if calls := w.calls(); len(calls) != 1 || !strings.HasSuffix(calls[0], relayPath) || !isFile(relayOf(r)) {
		t.Errorf("calls %q", calls)
	}
}

func TestAColdBuildCacheIsWarmedAgain(t *testing.T) {
	w := newTestMachine(t)
	w.ready()
	w.calls()
	w.remove("cache")
	w.ready()
	if calls := w.calls(); len(calls) != 1 || !strings.Contains(calls[0], Module+"/lib/...") {
		t.Errorf("calls %q", calls)
	}
}

func TestTwoAtOnceMakeEverythingOnce(t *testing.T) {
	w := newTestMachine(t)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if _, err := Prepare(t.Context(), Options{Home: w.home, Folder: w.root}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if calls := w.calls(); len(calls) != 6 {
		t.Errorf("%d calls: %q", len(calls), calls)
	}
}

func TestCellsAreCompiledWithTheFlagsOfTheKernel(t *testing.T) {
	w := newTestMachine(t)
	r := w.ready()
	b, err := os.ReadFile(filepath.Join(r.Kernels, KernelGo, "kernel.json"))
	if err != nil {
		t.Fatal(err)
	}
	var spec kernelSpec
	if err := json.Unmarshal(b, &spec); err != nil {
		t.Fatal(err)
	}
	calls := w.calls()
	warmed := strings.Split(calls[len(calls)-1], "|")
	if warmed[2] != spec.Env["GOFLAGS"] || warmed[3] != spec.Env["GOEXPERIMENT"] || !strings.Contains(warmed[2], "-tags=noxla") {
		t.Errorf("warmed with %q, kernel.json has %v", warmed, spec.Env)
	}
	if spec.Env["GOPROXY"] != "off" || spec.Env["GOTOOLCHAIN"] != "local" || spec.InterruptMode != "message" || spec.DisplayName != "Lethe (Go)" {
		t.Errorf("%+v", spec)
	}
	first, _, _ := strings.Cut(spec.Env["PATH"], ":")
	if !isFile(filepath.Join(first, gonbName)) || !isFile(filepath.Join(first, goimportsName)) {
		t.Errorf("PATH begins with %s", first)
	}
	argv := strings.Join(spec.Argv, " ")
	if !isFile(spec.Argv[0]) || !strings.Contains(argv, "--gonb "+filepath.Join(first, gonbName)+" --go-work "+w.root+" --log ") || !strings.HasSuffix(argv, " {connection_file}") {
		t.Errorf("argv %q", argv)
	}
	if strings.Contains(argv, "--no-completion") {
		t.Error("completion is off")
	}
}

func TestWithoutCompletionThereIsNoGoplsAndTheOtherKernelsStay(t *testing.T) {
	w := newTestMachine(t)
	with := w.ready()
	w.calls()
	t.Setenv(EnvCompletion, "off")
	without := w.ready()
	b, err := os.ReadFile(filepath.Join(without.Kernels, KernelGo, "kernel.json"))
	if err != nil || !strings.Contains(string(b), "--no-completion") {
		t.Errorf("%v, %s", err, b)
	}
	if b, err := os.ReadFile(filepath.Join(with.Kernels, KernelGo, "kernel.json")); err != nil || strings.Contains(string(b), "--no-completion") {
		t.Errorf("%v, %s", err, b)
	}
	fresh := newTestMachine(t)
	t.Setenv(EnvCompletion, "off")
	fresh.ready()
	if calls := strings.Join(fresh.calls(), "\n"); strings.Contains(calls, goplsPath) {
		t.Errorf("gopls was built: %s", calls)
	}
}

func TestAPluginBringsTheSecondKernel(t *testing.T) {
	w := newTestMachine(t)
	w.writeFile("plugins/pjrt_c_api_cpu_plugin.so", "elf")
	r := w.ready()
	b, err := os.ReadFile(filepath.Join(r.Kernels, KernelXLA, "kernel.json"))
	if err != nil || !r.XLA || !strings.Contains(string(b), "-tags=xla") || !strings.Contains(string(b), "Lethe (Go, XLA)") {
		t.Errorf("%v, %s", err, b)
	}
	w.remove("plugins")
	if r := w.ready(); r.XLA || isFile(filepath.Join(r.Kernels, KernelXLA, "kernel.json")) {
		t.Error("the kernel stays without its plugin")
	}
}

func TestAProgramThatDoesNotCompileIsNamed(t *testing.T) {
	w := newTestMachine(t)
	w.writeFile("fail", relayPath+"\n")
	w.fails("lethe-kernel cannot be built", "x.go:1: broken")
}

func TestALibraryThatDoesNotCompileWithXLACostsThatKernelAlone(t *testing.T) {
	w := newTestMachine(t)
	w.writeFile("plugins/pjrt_c_api_cpu_plugin.so", "elf")
	w.writeFile("broken-tags", "-tags=xla")
	r := w.ready()
	if said := w.printed(); !strings.Contains(said, "the library for Lethe (Go, XLA) cannot be built: x.go:1: broken; there is no kernel with XLA") {
		t.Errorf("said %q", said)
	}
	if r.XLA || isFile(filepath.Join(r.Kernels, KernelXLA, "kernel.json")) || !isFile(filepath.Join(r.Kernels, KernelGo, "kernel.json")) {
		t.Errorf("%+v", r)
	}
}

func TestWithoutANetworkTheModuleAndTheCureAreSaid(t *testing.T) {
	w := newTestMachine(t)
	w.writeFile("fail", goplsPath+"\n")
	w.writeFile("says", "go: downloading golang.org/x/tools/gopls v0.21.1\nx.mod: Get \"https://proxy.golang.org/x\": dial tcp: lookup proxy.golang.org: no such host\n")
	w.fails("gopls cannot be built", "a Go module cannot be downloaded", "GOPROXY", "no such host")
	w.remove("fail")
	w.calls()
	w.ready()
	if calls := w.calls(); !strings.Contains(calls[0], goplsPath) {
		t.Errorf("what was done is done again: %q", calls[0])
	}
}

func TestWithoutGoTheReasonAndTheCureAreSaid(t *testing.T) {
	w := newTestMachine(t)
	w.remove("bin/go")
	t.Setenv("PATH", filepath.Join(w.dir, "bin"))
	w.fails("no go tool on PATH", "https://go.dev/dl/")
}

func TestAnOldGoIsNamedWithTheVersionThatIsNeeded(t *testing.T) {
	w := newTestMachine(t)
	w.writeFile("go-fails", "go: go.mod requires go >= 1.26.5 (running go 1.24.1; GOTOOLCHAIN=local)\n")
	w.fails("too old", "needs Go 1.26.5", "running go 1.24.1")
}

func TestOutsideACloneAProgramBuiltFromOneSaysWhatToDo(t *testing.T) {
	w := newTestMachine(t)
	w.writeFile("elsewhere/go.mod", "module example.com/other\n")
	elsewhere := filepath.Join(w.dir, "elsewhere")
	t.Chdir(elsewhere)
	// The program of the test was built in a clone.
	_, err := Prepare(t.Context(), Options{Home: w.home, Folder: elsewhere})
	if err == nil || !strings.Contains(err.Error(), "not in a clone") || !strings.Contains(err.Error(), "go install "+Module+"@latest") {
		t.Error(err)
	}
}

func TestANotebookFolderOfOnesOwnUsesTheCloneOneIsIn(t *testing.T) {
	w := newTestMachine(t)
	w.writeFile("elsewhere/go.mod", "module example.com/other\n")
	elsewhere := filepath.Join(w.dir, "elsewhere")
	t.Chdir(filepath.Join(w.root, "lib"))
	r, err := Prepare(t.Context(), Options{Home: w.home, Folder: elsewhere})
	if err != nil || r.Root != w.root || r.Notebooks != elsewhere {
		t.Errorf("%+v, %v", r, err)
	}
}
