// Tests of workspace.go.

package gopls

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// moduleFolder is a module's folder with this go.mod.
func moduleFolder(t *testing.T, gomod string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte(gomod), 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestTheWorkspaceRequiresWhatTheModuleDoes(t *testing.T) {
	root := moduleFolder(t, `module example.org/mine

go 1.26.5

tool example.org/tool

require (
	example.org/a v1.2.3
	example.org/b v0.1.0 // indirect
)

replace example.org/a => ../a

replace example.org/b v0.1.0 => example.org/c v0.2.0
`)
	if err := os.WriteFile(filepath.Join(root, "go.sum"), []byte("sums\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := WriteWorkspace(root, folder); err != nil {
		t.Fatal(err)
	}
	gomod := read(t, filepath.Join(folder, "go.mod"))
	for _, line := range []string{
		"module cells\n", "go 1.26.5\n", "example.org/a v1.2.3", "example.org/b v0.1.0", "example.org/mine v0.0.0",
		"replace example.org/a => " + filepath.Join(filepath.Dir(root), "a") + "\n",
		"replace example.org/b v0.1.0 => example.org/c v0.2.0\n", "replace example.org/mine => " + root + "\n",
	} {
		if !strings.Contains(gomod, line) {
			t.Errorf("go.mod lacks %q:\n%s", line, gomod)
		}
	}
	if strings.Contains(gomod, "tool") || read(t, filepath.Join(folder, "go.sum")) != "sums\n" || read(t, filepath.Join(folder, "main.go")) != "package main\n" {
		t.Errorf("go.mod is\n%s", gomod)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestABrokenModuleIsAnError(t *testing.T) {
	for gomod, want := range map[string]string{"": "names no module", "modul x\n": "go.mod:1"} {
		if err := WriteWorkspace(moduleFolder(t, gomod), t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", gomod, err, want)
		}
	}
	if err := WriteWorkspace(t.TempDir(), t.TempDir()); !os.IsNotExist(err) {
		t.Errorf("without go.mod: %v", err)
	}
}

func TestWarmAsksForACompletionBehindTheImports(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root, folder := moduleFolder(t, "module m\n"), t.TempDir()
	env := append(os.Environ(), roleEnv+"=gopls")
	if err := Warm(t.Context(), self, root, folder, env, []string{"a/b", "c"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := Warm(t.Context(), filepath.Join(folder, "nothing"), root, folder, env, nil, nil); err == nil {
		t.Error("a program that is not there was started")
	}
}
