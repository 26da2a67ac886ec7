//go:build xla

package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAutoFallsBackToLethesOwnAndNamesTheReason(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "mine.so")
	t.Setenv(EnvPlugin, missing)
	e, err := Open("auto")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if e.Info().Kind == "xla" {
		t.Skipf("there is a plugin here: %s", e)
	}
	for _, want := range []string{"no XLA", "plugin cuda", "plugin cpu", missing} {
		if !strings.Contains(e.Info().Why, want) {
			t.Errorf("the reason %q does not say %q", e.Info().Why, want)
		}
	}
}

func TestPluginPathsThatCannotWorkAreRefusedByName(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "pjrt_c_api_broken_plugin.so")
	if err := os.WriteFile(broken, []byte("not a library"), 0o644); err != nil {
		t.Fatal(err)
	}
	for spec, want := range map[string]string{
		"xla:" + filepath.Join(dir, "missing.so"): "no such file",
		"xla:" + dir:                          "is not a file",
		"xla:" + broken:                       "is not a shared library",
		"xla:" + filepath.Join(dir, "a,b.so"): "comma",
		"xla:nosuchplugin":                    "nosuchplugin",
	} {
		e, err := Open(spec)
		if err == nil {
			e.Close()
			t.Errorf("%s opened", spec)
			continue
		}
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %q, want one line with %q", spec, err, want)
		}
	}
}

// The folders of a Python wheel, with empty files.
func TestTheCUDAFolderOfAWheelIsPassedOn(t *testing.T) {
	site := t.TempDir()
	for _, d := range []string{"jax_plugins/xla_cuda13", "nvidia/cu13"} {
		if err := os.MkdirAll(filepath.Join(site, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("XLA_FLAGS", "--xla_other=1")
	t.Setenv("GOPJRT_CUDA_CHECKS", "1")
	hintCUDA(filepath.Join(site, "jax_plugins/xla_cuda13/xla_cuda_plugin.so"))
	want := "--xla_other=1 --xla_gpu_cuda_data_dir=" + filepath.Join(site, "nvidia/cu13")
	if got := os.Getenv("XLA_FLAGS"); got != want {
		t.Errorf("XLA_FLAGS is %q, want %q", got, want)
	}
	hintCUDA(filepath.Join(site, "jax_plugins/xla_cuda13/xla_cuda_plugin.so"))
	if got := os.Getenv("XLA_FLAGS"); got != want {
		t.Errorf("the second time XLA_FLAGS became %q", got)
	}
}

func TestAPluginIsKnownByItsPlatform(t *testing.T) {
	for path, want := range map[string]string{
		"/a/pjrt_c_api_cpu_plugin.so": "cpu", "/a/xla_cuda_plugin.so": "xla_cuda_plugin", "/a/pjrt_c_api_cpu_v1_plugin.dylib": "cpu_v1",
	} {
		if got := platform(path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}

// With a real plugin, LETHE_TEST_ENGINE names it.
func TestAPluginThatTheEnvironmentNamesIsOpenedWhereThereIsNoOther(t *testing.T) {
	_, path, _ := strings.Cut(os.Getenv("LETHE_TEST_ENGINE"), ":")
	if path == "" {
		t.Skip("LETHE_TEST_ENGINE names no plugin")
	}
	t.Setenv(EnvPlugin, path)
	e, err := Open("auto")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if e.Info().Kind != "xla" {
		t.Errorf("auto opened %s: %s", e, e.Info().Why)
	}
}
