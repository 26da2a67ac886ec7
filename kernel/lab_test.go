// Tests of lab.go.

package kernel

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/kernel/internal/paths"
	"github.com/lethe-ml/lethe/kernel/setup"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/train/bits"
)

func TestLabRefusesWhatCannotWorkBeforeItSetsAnythingUp(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	t.Setenv(paths.EnvHome, home)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	fails(t, lethe(t, "lab", "--port", "70000"), cli.ExitUsage, "--port 70000")
	fails(t, lethe(t, "lab", "--port", "x"), cli.ExitUsage, "--port")
	fails(t, lethe(t, "lab", file), cli.ExitUsage, file, "no folder")
	fails(t, lethe(t, "lab", "a", "b"), cli.ExitUsage, "at most 1")
	for _, command := range []string{"lab", "run", "install"} {
		fails(t, lethe(t, command, "--module", t.TempDir()), cli.ExitFailure, "--module ", "expected a clone of Lethe")
	}
	fails(t, lethe(t, "install", "--user", "--sys-prefix"), cli.ExitUsage, "user", "sys-prefix")
	if _, err := os.Stat(home); err == nil {
		t.Error("something was set up")
	}
}

func TestTheDoctorSaysWhatIsMissingAndChangesNothing(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	t.Setenv(paths.EnvHome, home)
	r := lethe(t, "doctor", "--json")
	var found []setup.Finding
	if err := json.Unmarshal([]byte(r.Out), &found); err != nil || r.Code != cli.ExitFailure {
		t.Fatalf("%v, %+v", err, r)
	}
	states := map[string]setup.Finding{}
	for _, f := range found {
		states[f.Thing] = f
	}
	if states["engine"].State == setup.StateBroken || !strings.HasPrefix(states["engine"].Detail, "engine lethe: ") {
		t.Errorf("engine: %+v", states["engine"])
	}
	if f := states["kernel tools"]; f.State != setup.StateBroken || !strings.Contains(f.Detail, "lethe lab") {
		t.Errorf("kernel tools: %+v", f)
	}
	if !strings.Contains(r.Stderr, "kernel tools") {
		t.Errorf("standard error %q", r.Stderr)
	}
	if _, err := os.Stat(home); err == nil {
		t.Error("something was set up")
	}
	text := lethe(t, "doctor")
	if text.Code != cli.ExitFailure || strings.Count(text.Out, "\n") != len(found) {
		t.Errorf("%d lines for %d findings: %+v", strings.Count(text.Out, "\n"), len(found), text)
	}
}

func TestTheDoctorComparesBits(t *testing.T) {
	r := lethe(t, "doctor", "--bits")
	if r.Code != cli.ExitOK || strings.Count(r.Out, "ok ") != 11 || !strings.Contains(r.Out, "three steps each, ") {
		t.Errorf("%+v", r)
	}
	var all []bits.Reading
	if r := lethe(t, "doctor", "--bits", "--json"); r.Code != cli.ExitOK || json.Unmarshal([]byte(r.Out), &all) != nil || len(all) != 11 || !all[0].OK() {
		t.Errorf("%+v", r)
	}
}

func TestUninstallTakesOnlyKernelsOfOurs(t *testing.T) {
	data := t.TempDir()
	t.Setenv("JUPYTER_DATA_DIR", data)
	for name, spec := range map[string]string{setup.KernelGo: `{"metadata":{"lethe":{}}}`, setup.KernelXLA: `{"metadata":{}}`, "python3": `{}`} {
		dir := filepath.Join(data, "kernels", name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "kernel.json"), []byte(spec), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if r := lethe(t, "uninstall"); r.Code != cli.ExitOK || r.Out != "removed: "+filepath.Join(data, "kernels", setup.KernelGo)+"\n" {
		t.Errorf("%+v", r)
	}
	left, err := os.ReadDir(filepath.Join(data, "kernels"))
	if err != nil || len(left) != 2 {
		t.Errorf("left %v, %v", left, err)
	}
	if r := lethe(t, "uninstall"); r.Code != cli.ExitOK || r.Out != "" || !strings.Contains(r.Stderr, "no kernel of lethe") {
		t.Errorf("%+v", r)
	}
}

func TestKernelsGoWhereJupyterLooks(t *testing.T) {
	for _, name := range []string{"JUPYTER_DATA_DIR", "XDG_DATA_HOME", "CONDA_PREFIX"} {
		t.Setenv(name, "")
	}
	env := t.TempDir()
	t.Setenv("VIRTUAL_ENV", env)
	if got, err := prefixData(); err != nil || got != filepath.Join(env, "share", "jupyter") {
		t.Error(got, err)
	}
	t.Setenv("VIRTUAL_ENV", "")
	t.Setenv("CONDA_PREFIX", env)
	if got, err := prefixData(); err != nil || got != filepath.Join(env, "share", "jupyter") {
		t.Error(got, err)
	}
	t.Setenv("CONDA_PREFIX", "")
	t.Setenv("PATH", t.TempDir())
	if _, err := prefixData(); err == nil {
		t.Error("a prefix without a Python")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	if got, err := userData(); err != nil || !strings.HasPrefix(got, home) || strings.ToLower(filepath.Base(got)) != "jupyter" {
		t.Error(got, err)
	}
	t.Setenv("JUPYTER_DATA_DIR", env)
	if got, err := userData(); err != nil || got != env {
		t.Error(got, err)
	}
}

func TestCleanOnAMachineWithoutAnythingDoesNothing(t *testing.T) {
	t.Setenv(paths.EnvHome, filepath.Join(t.TempDir(), "home"))
	t.Setenv("TMPDIR", t.TempDir())
	if r := lethe(t, "clean", "--all"); r.Code != cli.ExitOK || r.Out != "" || r.Stderr != "" {
		t.Errorf("%+v", r)
	}
}
