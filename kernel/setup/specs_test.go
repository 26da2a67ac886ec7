// Tests of specs.go.

package setup

import (
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

func TestInstallAndUninstallLeaveForeignKernelsAlone(t *testing.T) {
	w := newTestMachine(t)
	r := w.ready()
	data := filepath.Join(w.dir, "data")
	w.writeFile("data/kernels/python3/kernel.json", "{}")
	for range 2 {
		dirs, err := r.Install(data)
		if err != nil || len(dirs) != 1 || !Owned(dirs[0]) || !isFile(filepath.Join(dirs[0], "logo-svg.svg")) {
			t.Fatal(dirs, err)
		}
	}
	installed := filepath.Join(data, "kernels", KernelGo)
	if missing := MissingFile(installed); missing != "" {
		t.Errorf("%s is missing", missing)
	}
	w.remove("home/kernel")
	if missing := MissingFile(installed); !strings.HasSuffix(missing, relayName) {
		t.Errorf("%q is missing", missing)
	}
	left, err := filepath.Glob(filepath.Join(data, "kernels", ".*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
	dirs, err := Uninstall(data)
	if err != nil || len(dirs) != 1 || isFile(filepath.Join(dirs[0], "kernel.json")) {
		t.Error(dirs, err)
	}
	if !isFile(filepath.Join(data, "kernels", "python3", "kernel.json")) {
		t.Error("another kernel is gone")
	}
	if dirs, err := Uninstall(data); err != nil || len(dirs) != 0 {
		t.Error(dirs, err)
	}
}

func TestAKernelOfOurNameThatIsNotOursIsNotReplaced(t *testing.T) {
	w := newTestMachine(t)
	r := w.ready()
	w.writeFile("data/kernels/"+KernelGo+"/kernel.json", `{"argv":["other"]}`)
	data := filepath.Join(w.dir, "data")
	if _, err := r.Install(data); err == nil || !strings.Contains(err.Error(), "lethe did not install") {
		t.Error(err)
	}
	if dirs, err := Uninstall(data); err != nil || len(dirs) != 0 {
		t.Error(dirs, err)
	}
}

func TestThePictureHasTheSizeThatJupyterAsksFor(t *testing.T) {
	c, err := png.DecodeConfig(strings.NewReader(logoPNG))
	if err != nil || c.Width != 64 || c.Height != 64 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestTheToolsArePinned(t *testing.T) {
	f, err := modfile.Parse("tools.mod", []byte(toolsMod), nil)
	if err != nil {
		t.Fatal(err)
	}
	versions := pinnedVersions()
	if versions[gonbPath] != "v0.11.5" || versions[goplsPath] != "v0.21.1" || versions["golang.org/x/tools"] == "" {
		t.Errorf("%v", versions)
	}
	if len(f.Tool) != 3 || len(f.Replace) != 0 {
		t.Errorf("%d tools, %d replaced", len(f.Tool), len(f.Replace))
	}
	for _, module := range []string{gonbPath, goplsPath} {
		if !strings.Contains(toolsSum, module+" "+versions[module]+" h1:") {
			t.Errorf("tools.sum has no hash of %s", module)
		}
	}
}

// TestCellsAndToolsMeetTheSameGonb: the library that cells import and the
// kernel that runs them speak one protocol.
func TestCellsAndToolsMeetTheSameGonb(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Skip("not in the module: ", err)
	}
	f, err := modfile.Parse("go.mod", b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range f.Require {
		if r.Mod.Path == gonbPath {
			if r.Mod.Version != pinnedVersions()[gonbPath] {
				t.Errorf("go.mod has %s, tools.mod %s", r.Mod.Version, pinnedVersions()[gonbPath])
			}
			return
		}
	}
	t.Error("gonb is not in go.mod")
}
