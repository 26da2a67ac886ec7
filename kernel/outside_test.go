// An installed version of the program works outside a clone.

package kernel

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/paths"
	"github.com/lethe-ml/lethe/kernel/setup"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// TestAnInstalledVersionWorksOutsideAClone publishes the working tree in a
// module proxy made of files, installs it as people do, and starts lethe lab in
// an empty folder.
func TestAnInstalledVersionWorksOutsideAClone(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program three times")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the notebook kernel needs Linux or macOS")
	}
	version, env := publish(t)
	bin := t.TempDir()
	env = append(env, "GOBIN="+bin)
	install := exec.Command("go", "install", "-tags=noxla", "-ldflags=-s", setup.Module+"@"+version)
	install.Dir, install.Env = t.TempDir(), env
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("go install: %v\n%s", err, out)
	}
	home, folder := t.TempDir(), t.TempDir()
	borrowPython(t, home)
	env = append(env, paths.EnvHome+"="+home)
	program := filepath.Join(bin, "lethe")
	address := startLab(t, program, folder, env)
	if !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Errorf("address %q", address)
	}
	if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(startNotebook))); err != nil {
		t.Errorf("the notebooks are not unpacked: %v", err)
	}
	if !strings.Contains(address, "/lab/tree/"+startNotebook+"?token=") {
		t.Errorf("the start notebook is not opened: %s", address)
	}
	roots, err := filepath.Glob(filepath.Join(home, "kernel", "module-????????????", "go.mod"))
	if err != nil || len(roots) != 1 {
		t.Fatalf("generated modules: %v, %v", roots, err)
	}
	gomod, err := os.ReadFile(roots[0])
	if err != nil || !strings.Contains(string(gomod), setup.Module+" "+version+"\n") {
		t.Errorf("%v, go.mod:\n%s", err, gomod)
	}
	doctor := exec.Command(program, "doctor", "--json")
	doctor.Dir, doctor.Env = folder, append(env, setup.EnvCompletion+"=off")
	out, err := doctor.Output()
	var found []setup.Finding
	if bad := json.Unmarshal(out, &found); err != nil || bad != nil {
		t.Fatalf("doctor: %v, %v\n%s", err, bad, out)
	}
	seen := map[string]string{}
	for _, f := range found {
		seen[f.Thing] = f.State + " " + f.Detail
	}
	if !strings.HasPrefix(seen["library"], "ok version "+version) || !strings.HasPrefix(seen["one cell"], "ok kernel starts ") {
		t.Errorf("doctor finds %v", seen)
	}
	t.Logf("one cell: %s", seen["one cell"])
}

// publish makes a module proxy with this working tree in it, and returns the
// tree's version there and an environment that knows the proxy. The modules are
// kept from run to run, because the go tool compiles again what comes from
// another folder.
func publish(t *testing.T) (version string, env []string) {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	gomod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Skip("the sources are not here: ", err)
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Skip("there is no go tool: ", err)
	}
	home, err := paths.Home()
	if err != nil {
		t.Skip(err)
	}
	version = versionOf(t, root)
	modules := filepath.Join(home, "test", "modules")
	forgetOthers(t, modules, version)
	proxy := t.TempDir()
	versions := filepath.Join(proxy, filepath.FromSlash(setup.Module), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"list": version + "\n", version + ".info": `{"Version":"` + version + `"}`, version + ".mod": string(gomod)} {
		if err := os.WriteFile(filepath.Join(versions, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Create(filepath.Join(versions, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	if err := zip.Create(f, module.Version{Path: setup.Module, Version: version}, moduleFiles(t, root)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return version, append(os.Environ(),
		"GOPROXY=file://"+proxy+",file://"+filepath.Join(strings.TrimSpace(string(cache)), "cache", "download"),
		"GOMODCACHE="+modules, "GOSUMDB=off", "GONOSUMDB=", "GOFLAGS=", "GOWORK=off")
}

// versionOf names the working tree by its content: the go tool relies on a
// version being one thing for ever.
func versionOf(t *testing.T, root string) string {
	t.Helper()
	h := sha256.New()
	m := module.Version{Path: setup.Module, Version: "v0.0.1-test"}
	if err := zip.Create(h, m, moduleFiles(t, root)); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s.h%x", m.Version, h.Sum(nil)[:6])
}

// treeFile is a file of the working tree.
type treeFile struct{ root, name string }

func (f treeFile) Path() string                 { return f.name }
func (f treeFile) Lstat() (fs.FileInfo, error)  { return os.Lstat(filepath.Join(f.root, f.name)) }
func (f treeFile) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(f.root, f.name)) }

// moduleFiles lists what a commit of the working tree would hold.
func moduleFiles(t *testing.T, root string) []zip.File {
	t.Helper()
	checked, err := zip.CheckDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var files []zip.File
	for _, path := range checked.Valid {
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.ToSlash(rel)
		first, _, _ := strings.Cut(name, "/")
		if first != "out" && first != ".cache" && first != "lethe" && !strings.Contains(name, ".ipynb_checkpoints") {
			files = append(files, treeFile{root, name})
		}
	}
	return files
}

// forgetOthers removes the working trees of earlier runs.
func forgetOthers(t *testing.T, modules, version string) {
	t.Helper()
	trees, err := filepath.Glob(filepath.Join(modules, filepath.FromSlash(setup.Module)+"@*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range trees {
		if !strings.HasSuffix(dir, "@"+version) {
			forget(t, dir)
			forget(t, filepath.Join(modules, "cache", "download", filepath.FromSlash(setup.Module)))
		}
	}
}

// forget removes a folder that the go tool has made read-only.
func forget(t *testing.T, dir string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o755)
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
}

// borrowPython lets the home folder use the Python environment of the user's
// own, where there is one: pip has tests of its own.
func borrowPython(t *testing.T, home string) {
	t.Helper()
	usual, err := paths.Home()
	if err != nil {
		t.Skip(err)
	}
	stamps, err := filepath.Glob(filepath.Join(usual, "kernel", "python-*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(home, "kernel"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range stamps {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, "kernel", filepath.Base(path)), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// startLab starts lethe lab, waits for its address and ends it with an
// interrupt, after which nothing of it may run.
func startLab(t *testing.T, program, folder string, env []string) (address string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, program, "lab", "--no-browser", "--no-completion")
	cmd.Dir, cmd.Env = folder, env
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if lines.Scan() {
		address = lines.Text()
		_ = cmd.Process.Signal(syscall.SIGINT)
	}
	err = cmd.Wait()
	if strings.Contains(said.String(), "pip cannot download") {
		t.Skip("JupyterLab cannot be had here: ", said.String())
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) || err != nil || address == "" {
		t.Fatalf("lethe lab: %v\n%s", err, said.String())
	}
	return address
}
