// Tests of paths.go.

package paths

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func checkout(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		writeFile(t, filepath.Join(root, name), content)
	}
	return root
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func hashOf(t *testing.T, root string) string {
	t.Helper()
	hash, err := HashSources(root)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func TestTheHashFollowsWhatDecidesTheBuildAndNothingElse(t *testing.T) {
	root := checkout(t, map[string]string{
		"go.mod": "module " + Module + "\n", "go.sum": "x", "main.go": "package main", "README.md": "read",
		"kernel/kernel.go": "package kernel", "kernel/peer/step.py": "pass", "kernel/kernel_test.go": "package kernel",
		"kernel/testdata/x.go": "package x", "figures/a.png": "png", ".cache/x.go": "package x",
		"notebooks/notebooks.go": "package notebooks", "notebooks/start/00.ipynb": "{}", "kernel/own.ipynb": "{}",
	})
	before := hashOf(t, root)
	for _, name := range []string{"README.md", "kernel/kernel_test.go", "kernel/testdata/x.go", "figures/a.png", ".cache/x.go", "notebooks/start/00.ipynb"} {
		writeFile(t, filepath.Join(root, name), "changed")
		if hashOf(t, root) != before {
			t.Errorf("%s changes the hash", name)
		}
	}
	for _, name := range []string{"go.mod", "go.sum", "main.go", "kernel/kernel.go", "kernel/peer/step.py", "kernel/new.go", "new.go", "notebooks/notebooks.go", "kernel/own.ipynb"} {
		writeFile(t, filepath.Join(root, name), "changed")
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
	root, err := ModuleRoot(filepath.Dir(here))
	if err != nil {
		t.Skip("the sources are not here: ", err)
	}
	cmd := exec.Command(tool, "list", "-deps", "-json=Dir,Module,GoFiles,EmbedFiles,CgoFiles,SFiles", ".")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Skip("the go tool cannot list the program here: ", err)
	}
	files, err := listSources(root)
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
		if p.Module == nil || p.Module.Path != Module {
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

func TestTheRootIsTheModulesOwn(t *testing.T) {
	root := checkout(t, map[string]string{"go.mod": "// us\nmodule " + Module + " // here\n", "a/b/x.go": ""})
	other := checkout(t, map[string]string{"go.mod": "module example.com/other\n", "a/x.go": ""})
	if got, err := ModuleRoot(filepath.Join(root, "a", "b")); err != nil || got != root {
		t.Errorf("%q, %v", got, err)
	}
	for _, dir := range []string{filepath.Join(other, "a"), "kernel/internal"} {
		if got, err := ModuleRoot(dir); err == nil {
			t.Errorf("found %q", got)
		}
	}
}

func TestWhatSwitchesSomethingOff(t *testing.T) {
	for _, v := range []string{"off", "OFF", "0", "no", "false"} {
		if !IsOff(v) {
			t.Errorf("%s does not switch it off", v)
		}
	}
	if IsOff("") || IsOff("on") {
		t.Error("off without being asked")
	}
}

func TestTheFolderCanBeChosen(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(EnvHome, dir)
	if got, err := Home(); err != nil || got != dir {
		t.Errorf("%q, %v", got, err)
	}
}
