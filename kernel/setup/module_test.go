// Tests of module.go.

package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

func TestAGeneratedModulePinsTheLibraryAndAllThatItWasTestedWith(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod": "module " + Module + "\n\ngo 1.26.5\n\nrequire (\n\tgonum.org/v1/gonum v0.17.0\n\texample.com/deep v1.2.3 // indirect\n)\n",
		"go.sum": "gonum.org/v1/gonum v0.17.0 h1:x=\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lib := module.Version{Path: Module, Version: "v1.4.0"}
	files, err := moduleFiles(lib, download{Dir: dir, GoMod: filepath.Join(dir, "go.mod"), Sum: "h1:lib=", GoModSum: "h1:mod="})
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse("go.mod", []byte(files["go.mod"]), nil)
	if err != nil {
		t.Fatalf("%v in %s", err, files["go.mod"])
	}
	got := map[string]string{}
	for _, r := range f.Require {
		got[r.Mod.Path] = r.Mod.Version
	}
	if f.Go.Version != "1.26.5" || got[Module] != "v1.4.0" || got["gonum.org/v1/gonum"] != "v0.17.0" || got["example.com/deep"] != "v1.2.3" || len(got) != 3 {
		t.Errorf("go.mod:\n%s", files["go.mod"])
	}
	for _, line := range []string{"gonum.org/v1/gonum v0.17.0 h1:x=\n", Module + " v1.4.0 h1:lib=\n", Module + " v1.4.0/go.mod h1:mod=\n"} {
		if !strings.Contains(files["go.sum"], line) {
			t.Errorf("go.sum has no %q", line)
		}
	}
}

func TestALibraryWithoutItsHashesIsRefused(t *testing.T) {
	if _, err := moduleFiles(module.Version{Path: Module, Version: "v1.4.0"}, download{Dir: t.TempDir(), GoMod: "nowhere"}); err == nil {
		t.Error("no error")
	}
}
