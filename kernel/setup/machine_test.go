// A test machine: folders and fake programs for the tests of this package.

package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/files"
)

// testMachine is a machine with a clone, and with go and python programs that only
// note their calls and make empty files.
type testMachine struct {
	t    *testing.T
	dir  string
	home string
	root string
	out  *bytes.Buffer
}

const fakeGo = `#!/bin/sh
echo "go|$PWD|$GOFLAGS|$GOEXPERIMENT|$*" >> "$WORLD/calls"
case $1 in
env)
	test -f "$WORLD/go-fails" && { cat "$WORLD/go-fails" >&2; exit 1; }
	echo "{\"GOVERSION\":\"go9.9.9\",\"GOROOT\":\"$WORLD/goroot\",\"GOCACHE\":\"$WORLD/cache\",\"GOMODCACHE\":\"$WORLD/mod\",\"CGO_ENABLED\":\"1\"}" ;;
build)
	out=$4; shift 4
	echo "$*" > "$WORLD/doing"
	test -f "$WORLD/broken-tags" && case $GOFLAGS in *"$(cat "$WORLD/broken-tags")"*) cat "$WORLD/says"; exit 1 ;; esac
	for p in "$@"; do
		test -f "$WORLD/hang" && grep -qx "$p" "$WORLD/hang" && exec sleep 30
		test -f "$WORLD/fail" && grep -qx "$p" "$WORLD/fail" && { echo "# $p"; cat "$WORLD/says"; exit 1; }
		case $out in */) echo program > "$out$(basename "$p")" ;; *) echo program > "$out" ;; esac
		echo "$p" # as with -v
	done ;;
mod)
	test -f "$WORLD/unreachable" && { cat "$WORLD/unreachable"; exit 1; }
	cat "$WORLD/published.json" ;;
list) mkdir -p "$WORLD/cache"; echo object > "$WORLD/cache/object"; echo "$WORLD/cache/object" ;;
esac
`

const fakePython = `#!/bin/sh
echo "python|$0|$*" >> "$WORLD/calls"
case "$1 $2" in
"-c "*)
	case $2 in *jax_plugins*) test ! -f "$WORLD/jax" || cat "$WORLD/jax"; exit ;; esac
	cat "$WORLD/about" ;;
"-m venv")
	test -f "$WORLD/hang" && grep -qx venv "$WORLD/hang" && exec sleep 30
	mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
"-m pip")
	test -f "$WORLD/hang" && grep -qx pip "$WORLD/hang" && exec sleep 30
	test -f "$WORLD/offline" && { echo "WARNING: Retrying after NewConnectionError: no route"; echo "ERROR: No matching distribution"; exit 1; }
	test "$4" = --target && { cp -r "$WORLD/wheel/." "$5"; exit; }
	echo "Collecting jupyterlab==1" ;;
"-m jupyterlab")
	echo "no such extension" >&2; exit 3 ;;
esac
`

func newTestMachine(t *testing.T) *testMachine {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the fake programs are shell scripts")
	}
	dir := t.TempDir()
	w := &testMachine{t, dir, filepath.Join(dir, "home"), filepath.Join(dir, "clone"), new(bytes.Buffer)}
	w.writeFile("clone/go.mod", "module "+Module+"\n\ngo 1.26.5\n")
	w.writeFile("clone/go.sum", "sums\n")
	w.writeFile("clone/lib/a.go", "package lib\n")
	w.writeFile("clone/notebooks/start/00.ipynb", "{}")
	w.writeFile("says", "x.go:1: broken\n")
	w.program("go", fakeGo)
	w.program("python3", fakePython)
	w.python(3, 12, true, nil)
	t.Setenv("WORLD", dir)
	t.Setenv("PATH", filepath.Join(dir, "bin")+":/usr/bin:/bin")
	t.Setenv("PJRT_PLUGIN_LIBRARY_PATH", filepath.Join(dir, "plugins"))
	t.Setenv("LETHE_HOME", "")
	t.Setenv(engine.EnvPlugin, "")
	t.Setenv(EnvCompletion, "")
	t.Setenv("CC", "")
	w.program("gcc", "#!/bin/sh\n")
	w.cards("")
	// Whatever Python this machine has is none of the tests' business.
	for _, name := range []string{"python", "python3.10", "python3.11", "python3.12", "python3.13", "python3.14", "python3.15"} {
		w.program(name, "#!/bin/sh\nexit 1\n")
	}
	return w
}

func (w *testMachine) writeFile(name, content string) {
	w.t.Helper()
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *testMachine) remove(name string) {
	w.t.Helper()
	if err := os.RemoveAll(filepath.Join(w.dir, filepath.FromSlash(name))); err != nil {
		w.t.Fatal(err)
	}
}

func (w *testMachine) program(name, script string) {
	w.t.Helper()
	w.writeFile("bin/"+name, script)
	if err := os.Chmod(filepath.Join(w.dir, "bin", name), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

// cards sets what the fake nvidia-smi prints, nothing for a machine without cards.
func (w *testMachine) cards(text string) {
	w.t.Helper()
	w.program("nvidia-smi", "#!/bin/sh\necho \"smi|$*\" >> \"$WORLD/smi\"\ncat <<'END'\n"+text+"END\n")
	old := deviceFiles
	deviceFiles = filepath.Join(w.dir, "dev", "nvidia[0-9]*") // this machine's own cards are none of the tests' business
	w.t.Cleanup(func() { deviceFiles = old })
}

// python sets what the fake interpreter says about itself.
func (w *testMachine) python(major, minor int, venv bool, packages map[string]string) {
	text := ""
	for name, version := range packages {
		text += fmt.Sprintf(",%q:%q", name, version)
	}
	w.writeFile("about", fmt.Sprintf(`{"Version":[%d,%d],"Base":%q,"Venv":%v,"Packages":{%s}}`,
		major, minor, filepath.Join(w.dir, "bin", "python3"), venv, strings.TrimPrefix(text, ",")))
}

func (w *testMachine) prepare(ctx context.Context) (*Ready, error) {
	return Prepare(ctx, Options{Home: w.home, Folder: w.root, Out: w.out})
}

// ready prepares the machine, which must succeed.
func (w *testMachine) ready() *Ready {
	w.t.Helper()
	r, err := w.prepare(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// fails prepares the machine, which must fail with all the words.
func (w *testMachine) fails(words ...string) {
	w.t.Helper()
	_, err := w.prepare(w.t.Context())
	if err == nil {
		w.t.Fatal("no error")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			w.t.Errorf("%q does not say %q", err, word)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		w.t.Errorf("more than one line: %q", err)
	}
}

// calls returns the calls since the last time, without those that only ask.
func (w *testMachine) calls() []string {
	w.t.Helper()
	out := w.peek()
	w.remove("calls")
	return out
}

// await returns when so many calls were made.
func (w *testMachine) await(n int) {
	for range 1000 {
		if len(w.peek()) >= n {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (w *testMachine) peek() []string {
	b, err := os.ReadFile(filepath.Join(w.dir, "calls"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Error(err)
	}
	var out []string
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if strings.Contains(line, "|build ") || strings.Contains(line, "-m venv") || strings.Contains(line, "-m pip") {
			out = append(out, line)
		}
	}
	return out
}

// printed returns what was printed since the last call.
func (w *testMachine) printed() string {
	defer w.out.Reset()
	return w.out.String()
}

// leftovers lists unfinished things in the home folder.
func (w *testMachine) leftovers() []string {
	var out []string
	for _, pattern := range []string{"kernel", "kernel/*", "kernel/*/*", "kernel/*/*/*"} {
		found, _ := filepath.Glob(filepath.Join(w.home, pattern, files.TempPrefix+"*"))
		out = append(out, found...)
	}
	return out
}

// runWithin runs work that must end soon.
func runWithin(t *testing.T, d time.Duration, work func()) {
	t.Helper()
	var done sync.WaitGroup
	done.Go(work)
	ended := make(chan struct{})
	go func() { done.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(d):
		t.Fatal("does not end")
	}
}
