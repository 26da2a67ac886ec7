package twin

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeGo puts a go tool on PATH that notes its call in the returned file and
// then runs body, in which $out is the program to be made.
func fakeGo(t *testing.T, body string) (calls string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the fake go tool is a shell script")
	}
	dir := t.TempDir()
	calls = filepath.Join(dir, "calls")
	script := fmt.Sprintf(`#!/bin/sh
echo "$PWD|$GOEXPERIMENT|$*" >> %q
case $1 in
build) out=$4 ;;
install) out=$GOBIN/lethe ;;
esac
%s
`, calls, body)
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return calls
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' })
}

// quiet is a builder that keeps what it says.
func quiet(t *testing.T) (builder, *[]string) {
	var mu sync.Mutex
	said := &[]string{}
	return builder{bin: filepath.Join(t.TempDir(), "bin"), say: func(s string) {
		mu.Lock()
		defer mu.Unlock()
		*said = append(*said, s)
	}}, said
}

func checkout(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		put(t, filepath.Join(root, name), content)
	}
	return root
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestATwinIsBuiltOnceAndSaidOnce(t *testing.T) {
	calls := fakeGo(t, `echo program > "$out"`)
	b, said := quiet(t)
	root := t.TempDir()
	s := source{root: root, hash: "abc", experi: "simd", tags: "xla", fixed: true}
	for range 3 {
		path, err := b.ensure(context.Background(), s)
		if err != nil || filepath.Base(path) != "lethe-simd-abc" {
			t.Fatal(path, err)
		}
	}
	got := lines(t, calls)
	if len(got) != 1 || !strings.Contains(got[0], "|simd|build -buildvcs=false -o ") || !strings.HasSuffix(got[0], "-tags xla .") {
		t.Errorf("calls of the go tool: %q", got)
	}
	if len(*said) != 1 || !strings.Contains((*said)[0], "building the SIMD engine once") {
		t.Errorf("said %q", *said)
	}
	left, err := filepath.Glob(filepath.Join(b.bin, ".*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestStartsAtTheSameTimeBuildOneTwin(t *testing.T) {
	calls := fakeGo(t, `sleep 0.3; echo program > "$out"`)
	b, _ := quiet(t)
	s := source{root: t.TempDir(), hash: "abc", experi: "simd", fixed: true}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := b.ensure(context.Background(), s); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := lines(t, calls); len(got) != 1 {
		t.Errorf("%d builds", len(got))
	}
}

func TestAnInstalledVersionIsBuiltFromItsModule(t *testing.T) {
	calls := fakeGo(t, `echo program > "$out"`)
	b, _ := quiet(t)
	info := &debug.BuildInfo{Path: module, Main: debug.Module{Path: module, Version: "v1.2.3", Sum: "h1:x="}}
	s, err := locate(info, "/somewhere/lethe")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.ensure(context.Background(), s); err != nil {
		t.Fatal(err)
	}
	if got := lines(t, calls); len(got) != 1 || !strings.HasSuffix(got[0], "|simd|install github.com/lethe-ml/lethe@v1.2.3") {
		t.Errorf("calls of the go tool: %q", got)
	}
	info.Main.Sum = "h1:y="
	if other, err := locate(info, "/somewhere/lethe"); err != nil || other.hash == s.hash {
		t.Errorf("another content has the same hash (%v)", err)
	}
}

func TestAProgramOfAnotherModuleHasNoTwin(t *testing.T) {
	info := &debug.BuildInfo{Path: module + "/kernel.test", Main: debug.Module{Path: module}}
	if _, err := locate(info, "x"); err == nil || !strings.Contains(err.Error(), "kernel.test") {
		t.Error(err)
	}
}

func TestAFailedBuildNamesItsReasonAndLeavesNothing(t *testing.T) {
	fakeGo(t, `echo "# example.com/pkg" >&2; echo "x.go:1: broken" >&2; exit 1`)
	b, _ := quiet(t)
	_, err := b.ensure(context.Background(), source{root: t.TempDir(), hash: "abc", fixed: true})
	if err == nil || !strings.Contains(err.Error(), "x.go:1: broken") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
	if twins, _ := filepath.Glob(filepath.Join(b.bin, prefix+"*")); len(twins) != 0 {
		t.Errorf("left %v", twins)
	}
}

func TestWithoutAGoToolTheReasonIsSaid(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	b, _ := quiet(t)
	_, err := b.ensure(context.Background(), source{root: t.TempDir(), hash: "abc", fixed: true})
	if err == nil || !strings.Contains(err.Error(), "no go tool on PATH") {
		t.Error(err)
	}
}

func TestAnInterruptStopsTheBuild(t *testing.T) {
	fakeGo(t, `exec sleep 30`)
	b, _ := quiet(t)
	ctx, stop := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer stop()
	began := time.Now()
	_, err := b.ensure(ctx, source{root: t.TempDir(), hash: "abc", fixed: true})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

func TestOnlyTheTwinsUsedLastAreKept(t *testing.T) {
	fakeGo(t, `echo program > "$out"`)
	b, _ := quiet(t)
	for i := range keep + 2 {
		put(t, filepath.Join(b.bin, fmt.Sprintf("%s%d", prefix, i)), "old")
		past := time.Now().Add(time.Duration(i-100) * time.Hour)
		if err := os.Chtimes(filepath.Join(b.bin, fmt.Sprintf("%s%d", prefix, i)), past, past); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.ensure(context.Background(), source{root: t.TempDir(), hash: "0", fixed: true}); err != nil { // is used now
		t.Fatal(err)
	}
	if _, err := b.ensure(context.Background(), source{root: t.TempDir(), hash: "new", fixed: true}); err != nil {
		t.Fatal(err)
	}
	twins, err := filepath.Glob(filepath.Join(b.bin, prefix+"*"))
	var names []string
	for _, p := range twins {
		names = append(names, strings.TrimPrefix(filepath.Base(p), prefix))
	}
	if want := []string{"0", "4", "5", "new"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("kept %v, want %v (%v)", names, want, err)
	}
}

func hashOf(t *testing.T, root string) string {
	t.Helper()
	h := sha256.New()
	if _, err := hashTree(h, root); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func TestTheHashFollowsWhatDecidesTheBuildAndNothingElse(t *testing.T) {
	root := checkout(t, map[string]string{
		"go.mod": "module " + module + "\n", "go.sum": "x", "main.go": "package main", "README.md": "read",
		"kernel/kernel.go": "package kernel", "kernel/peer/step.py": "pass", "kernel/kernel_test.go": "package kernel",
		"kernel/testdata/x.go": "package x", "figures/a.png": "png", ".cache/x.go": "package x",
		"notebooks/notebooks.go": "package notebooks", "notebooks/start/00.ipynb": "{}", "kernel/own.ipynb": "{}",
	})
	before := hashOf(t, root)
	for _, name := range []string{"README.md", "kernel/kernel_test.go", "kernel/testdata/x.go", "figures/a.png", ".cache/x.go", "notebooks/start/00.ipynb"} {
		put(t, filepath.Join(root, name), "changed")
		if hashOf(t, root) != before {
			t.Errorf("%s changes the hash", name)
		}
	}
	for _, name := range []string{"go.mod", "go.sum", "main.go", "kernel/kernel.go", "kernel/peer/step.py", "kernel/new.go", "new.go", "notebooks/notebooks.go", "kernel/own.ipynb"} {
		put(t, filepath.Join(root, name), "changed")
		after := hashOf(t, root)
		if after == before {
			t.Errorf("%s does not change the hash", name)
		}
		before = after
	}
	if err := os.Rename(filepath.Join(root, "kernel/new.go"), filepath.Join(root, "kernel/newer.go")); err != nil {
		t.Fatal(err)
	}
	if hashOf(t, root) == before {
		t.Error("a new name does not change the hash")
	}
}

// TestEveryFileOfTheBuildIsHashed asks the go tool what the program is made of.
func TestEveryFileOfTheBuildIsHashed(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go tool on PATH to ask")
	}
	_, here, _, _ := runtime.Caller(0)
	root, err := Root(filepath.Dir(here))
	if err != nil {
		t.Skip("the sources are not here: ", err)
	}
	cmd := exec.Command(tool, "list", "-deps", "-json=Dir,Module,GoFiles,EmbedFiles,CgoFiles,SFiles", ".")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOEXPERIMENT=simd")
	out, err := cmd.Output()
	if err != nil {
		t.Skip("the go tool cannot list the program here: ", err)
	}
	files, err := sources(root)
	if err != nil {
		t.Fatal(err)
	}
	dec, seen := json.NewDecoder(strings.NewReader(string(out))), 0
	for {
		var p struct {
			Dir                                   string
			Module                                *struct{ Path string }
			GoFiles, EmbedFiles, CgoFiles, SFiles []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Module == nil || p.Module.Path != module {
			continue
		}
		for _, f := range slices.Concat(p.GoFiles, p.EmbedFiles, p.CgoFiles, p.SFiles) {
			rel, err := filepath.Rel(root, filepath.Join(p.Dir, f))
			if err != nil || !slices.Contains(files, rel) && !isNotebook(rel) {
				t.Errorf("%s is not hashed (%v)", rel, err)
			}
			seen++
		}
	}
	if seen < 50 {
		t.Errorf("the go tool lists only %d files", seen)
	}
}

func TestAProgramOlderThanItsSourcesGoesOnPlain(t *testing.T) {
	if _, here, _, _ := runtime.Caller(0); !filepath.IsAbs(here) {
		t.Skip("built with -trimpath: this test does not know its sources")
	}
	dir := t.TempDir()
	exe := filepath.Join(dir, "lethe")
	put(t, exe, "program")
	past := time.Now().Add(-24 * 365 * 10 * time.Hour)
	if err := os.Chtimes(exe, past, past); err != nil {
		t.Fatal(err)
	}
	info := &debug.BuildInfo{Path: module, Main: debug.Module{Path: module, Version: "(devel)"}}
	if _, err := locate(info, exe); err == nil || !strings.Contains(err.Error(), "older than its sources") {
		t.Error(err)
	}
	for _, place := range []string{"go-build123/b001/exe", "cache/ab/" + strings.Repeat("ab", 32) + "-d"} { // where `go run` puts it
		exe := filepath.Join(dir, place, "lethe")
		put(t, exe, "program")
		if err := os.Chtimes(exe, past, past); err != nil {
			t.Fatal(err)
		}
		if _, err := locate(info, exe); err != nil {
			t.Error(err)
		}
	}
}

func TestTheRootIsTheModulesOwn(t *testing.T) {
	root := checkout(t, map[string]string{"go.mod": "// us\nmodule " + module + " // here\n", "a/b/x.go": ""})
	other := checkout(t, map[string]string{"go.mod": "module example.com/other\n", "a/x.go": ""})
	if got, err := Root(filepath.Join(other, "a"), filepath.Join(root, "a", "b")); err != nil || got != root {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := Root(filepath.Join(other, "a"), "kernel/twin"); err == nil {
		t.Errorf("found %q", got)
	}
}

func TestTheSwitchAndTheGuardKeepTheProgramPlain(t *testing.T) {
	for _, v := range []string{"off", "OFF", "0", "no", "false"} {
		if !Off(v) {
			t.Errorf("%s=%s does not switch it off", EnvSwitch, v)
		}
	}
	if Off("") || Off("on") {
		t.Error("off without being asked")
	}
	t.Setenv(envGuard, "lethe-simd-abc")
	if err := possible(); err == nil || !strings.Contains(err.Error(), envGuard) {
		t.Errorf("a plain twin would start another: %v", err)
	}
	Arrived()
	if _, set := os.LookupEnv(envGuard); set {
		t.Error("the twin's own children could not have one")
	}
}

func TestHomeCanBeChosen(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(EnvHome, dir)
	if got, err := Home(); err != nil || got != dir {
		t.Errorf("%q, %v", got, err)
	}
}

// BenchmarkHash is what every start of a plain program costs.
func BenchmarkHash(b *testing.B) {
	_, here, _, _ := runtime.Caller(0)
	root, err := Root(filepath.Dir(here))
	if err != nil {
		b.Skip(err)
	}
	for b.Loop() {
		if _, err := hashTree(sha256.New(), root); err != nil {
			b.Fatal(err)
		}
	}
}
