// Tests of card.go and of lethe xla's flags.

package kernel

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/kernel/internal/paths"
	"github.com/lethe-ml/lethe/kernel/setup"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/engine"
)

// fakeProgram puts a shell script first on PATH and returns its path.
func fakeProgram(t *testing.T, name, script string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the fake programs are shell scripts")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return path
}

// fakePlugin makes the files of an installed CUDA plugin, which cannot be opened.
func fakePlugin(t *testing.T, home string) {
	t.Helper()
	dir := filepath.Join(engine.PluginFolder(home), "xla-0123456789ab")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, engine.PluginFile("cuda")), dir + ".json"} {
		if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func detailOf(all []setup.Finding) string {
	var out []string
	for _, f := range all {
		out = append(out, f.State+" "+f.Thing+": "+f.Detail)
	}
	return strings.Join(out, "\n")
}

func TestTheDoctorSaysWhatACardNeeds(t *testing.T) {
	home := t.TempDir()
	fakeProgram(t, "nvidia-smi", "exit 0")
	if got := detailOf(cardFindings(t.Context(), home)); got != "ok card: no NVIDIA card; nothing needs one" {
		t.Errorf("without a card: %s", got)
	}
	fakeProgram(t, "nvidia-smi", "echo broken; exit 9")
	if got := detailOf(cardFindings(t.Context(), home)); !strings.HasPrefix(got, "note card: nvidia-smi fails") {
		t.Errorf("a driver that fails: %s", got)
	}
	fakeProgram(t, "nvidia-smi", "echo 'Tesla T4, 15360, 15000, 535.288.01'")
	want := "needs driver 580"
	if !engine.WithXLA {
		want = "built without XLA"
	}
	if got := detailOf(cardFindings(t.Context(), home)); !strings.Contains(got, want) || !strings.Contains(got, "Tesla T4, 15.7 of 16.1 GB free") {
		t.Errorf("an old driver: %s", got)
	}
	fakeProgram(t, "nvidia-smi", "echo 'NVIDIA H100, 81559, 81000, 580.65.06'")
	if engine.WithXLA {
		want = "to use it: lethe xla --cuda"
	}
	if got := detailOf(cardFindings(t.Context(), home)); !strings.HasPrefix(got, "note card") || !strings.Contains(got, want) {
		t.Errorf("without a plugin: %s", got)
	}
}

func TestTheDoctorTestsACardInAProcessOfItsOwn(t *testing.T) {
	if !engine.WithXLA {
		t.Skip("this program has no XLA")
	}
	home := t.TempDir()
	fakePlugin(t, home)
	fakeProgram(t, "nvidia-smi", "echo 'NVIDIA H100, 81559, 81000, 580.65.06'")
	old := program
	defer func() { program = old }()
	for script, want := range map[string]string{
		`test "$*" = "doctor --engine xla:cuda --json" && echo '[{"thing":"engine","state":"ok","detail":"d"},{"thing":"self-test","state":"ok","detail":"s"}]'`: "ok xla:cuda: d\nok self-test: s",
		`echo '[{"thing":"engine","state":"broken","detail":"no"}]'; exit 1`:                                                                                     "broken xla:cuda: no",
		`echo "first line" >&2; echo "F0000 Unknown flag in XLA_FLAGS" >&2; kill -ABRT $$`:                                                                       "(F0000 Unknown flag in XLA_FLAGS)",
		`exit 0`: "printed nothing",
	} {
		path := fakeProgram(t, "lethe", script)
		program = func() (string, error) { return path, nil }
		if got := detailOf(cardFindings(t.Context(), home)); !strings.HasPrefix(got, "ok card: NVIDIA H100") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", script, got)
		}
	}
}

func TestTheDoctorTestsOneEngine(t *testing.T) {
	r := lethe(t, "doctor", "--engine", "lethe")
	if r.Code != 0 || !strings.Contains(r.Out, "ok      self-test") || !strings.Contains(r.Out, "same bits") || strings.Contains(r.Out, "kernel tools") {
		t.Errorf("%+v", r)
	}
	for _, spec := range []string{"xla:/nowhere.so", "lethe,tf32"} {
		if r := lethe(t, "doctor", "--engine", spec); r.Code != cli.ExitFailure || !strings.HasPrefix(r.Out, "broken  engine") || !strings.Contains(r.Stderr, "broken: engine") {
			t.Errorf("%s: %+v", spec, r)
		}
	}
	fails(t, lethe(t, "doctor", "--engine", "lethe", "--bits"), cli.ExitUsage, "bits", "engine")
}

func TestOtherDevicesAreSaidInTwoLines(t *testing.T) {
	t.Setenv(paths.EnvHome, t.TempDir())
	for flag, want := range map[string]string{"--rocm": "ROCm", "--tpu": "libtpu"} {
		r := lethe(t, "xla", flag)
		fails(t, r, cli.ExitFailure, want, "--engine xla:")
		if lines := strings.Count(strings.TrimSpace(r.Stderr), "\n") + 1; lines != 2 {
			t.Errorf("%s: %d lines: %s", flag, lines, r.Stderr)
		}
	}
	fails(t, lethe(t, "xla", "--cuda", "--tpu"), cli.ExitUsage, "cuda", "tpu")
	fails(t, lethe(t, "xla", "--download", "--rocm"), cli.ExitUsage, "download", "rocm")
}
