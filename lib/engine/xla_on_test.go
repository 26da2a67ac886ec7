//go:build xla

package engine

import (
	"bytes"
	"errors"
	"math"
	"os"
	"os/exec"
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

func TestATextIsFoundInAFileWhereverItLies(t *testing.T) {
	const text = "the text beside a flag"
	file := filepath.Join(t.TempDir(), "plugin.so")
	for _, before := range []int{0, 1, 1<<20 - len(text), 1<<20 - len(text)/2, 1<<20 - 1, 1 << 20, 3<<20 - 5} {
		content := append(bytes.Repeat([]byte{'t'}, before), text...)
		if err := os.WriteFile(file, append(content, "behind it"...), 0o644); err != nil {
			t.Fatal(err)
		}
		of := []xlaFlag{{flag: "longer", help: text + " " + text}, {flag: "it", help: text}, {flag: "other", help: text + " "}}
		if got := supportedFlags(file, of); len(got) != 1 || got[0].flag != "it" {
			t.Errorf("behind %d bytes: %v", before, got)
		}
	}
	if got := supportedFlags(filepath.Join(t.TempDir(), "missing"), []xlaFlag{{help: text}}); got != nil {
		t.Errorf("found in a file that is not there: %v", got)
	}
}

func TestAFlagIsSetForAPluginThatKnowsItAndTakenBack(t *testing.T) {
	knows, other := filepath.Join(t.TempDir(), "knows.so"), filepath.Join(t.TempDir(), "other.so")
	every := filepath.Join(t.TempDir(), "every.so")
	var all string
	for _, s := range xlaFlags {
		all += s.flag + "\x00" + s.help + "\x00"
	}
	for file, content := range map[string]string{knows: flagXNNPACK + "\x00" + xlaFlags[0].help, other: flagXNNPACK, every: all} {
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ plugin, flags, want string }{
		{knows, "--xla_other=1", "--xla_other=1 --xla_cpu_use_xnnpack=false"},
		{knows, "", "--xla_cpu_use_xnnpack=false"},
		{knows, "--xla_cpu_use_xnnpack=true", "--xla_cpu_use_xnnpack=true"},
		{other, "--xla_other=1", "--xla_other=1"},
		{every, "", "--xla_cpu_use_xnnpack=false --xla_gpu_deterministic_ops=true --xla_gpu_enable_triton_gemm=false"},
		{every, "--xla_gpu_deterministic_ops --xla_gpu_enable_triton_gemm_int4=true",
			"--xla_gpu_deterministic_ops --xla_gpu_enable_triton_gemm_int4=true --xla_cpu_use_xnnpack=false --xla_gpu_enable_triton_gemm=false"},
		{"nosuchplugin", "", ""},
	} {
		t.Setenv("XLA_FLAGS", c.flags)
		back := setXLAFlags(c.plugin)
		if got := os.Getenv("XLA_FLAGS"); got != c.want {
			t.Errorf("%q became %q, want %q", c.flags, got, c.want)
		}
		if got := XLAFlags(); got != c.want {
			t.Errorf("%q are reported, want %q", got, c.want)
		}
		back()
		if got := os.Getenv("XLA_FLAGS"); got != c.flags {
			t.Errorf("%q came back as %q", c.flags, got)
		}
	}
}

// The name has the flags that change results, whether Lethe or the user set them.
func TestKernelNamesTellFlagsApart(t *testing.T) {
	for flags, want := range map[string][2]string{
		"":                           {"it, checked", "it, weights aboard"},
		"--xla_cpu_use_xnnpack=true": {"it, checked", "it, weights aboard"},
		"--xla_other=1 --xla_cpu_use_xnnpack=false --xla_gpu_deterministic_ops=true": {"it without XNNPACK", "it, weights aboard, deterministic"},
	} {
		t.Setenv("XLA_FLAGS", flags)
		if got := [2]string{kernelName("it", true), kernelName("it", false)}; got != want {
			t.Errorf("%q: %q, want %q", flags, got, want)
		}
	}
}

// A plugin reads its flags once, so the one with XNNPACK is opened in a process of its own.
// If a version of XLA's CPU plugin no longer uses stale inputs, this test fails.
func TestAPluginThatComputesWithStaleInputsIsRefused(t *testing.T) {
	spec := os.Getenv("LETHE_TEST_ENGINE")
	if !strings.Contains(spec, "cpu") {
		t.Skip("LETHE_TEST_ENGINE names no plugin for the CPU")
	}
	if os.Getenv("XLA_FLAGS") != "" {
		e, err := Open(spec)
		if err == nil {
			e.Close()
			t.Fatal("opened")
		}
		t.Log(err)
		return
	}
	e, err := Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.checkStaleInputs(); err != nil {
		t.Error(err)
	}
	if !strings.HasSuffix(e.Info().Kernel, "without XNNPACK") {
		t.Errorf("the store key does not name the flag: %s", e.Info())
	}
	run := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	run.Env = append(os.Environ(), "XLA_FLAGS=--"+flagXNNPACK+"=true")
	if out, err := run.CombinedOutput(); err != nil || !strings.Contains(string(out), ErrStale.Error()) {
		t.Errorf("with XNNPACK: %v\n%s", err, out)
	}
}

// A number with eleven bits of mantissa is rounded by TF32 (ten bits) and bfloat16 (seven).
func TestAMeanOfEqualNumbersIsTheirsOrTheyWereRounded(t *testing.T) {
	const value = 1 + 1.0/(1<<11)
	for mean, whole := range map[float32]bool{value: true, value + 1.0/(1<<20): true, 1: false, 1 + 1.0/(1<<10): false, float32(math.NaN()): false} {
		if err := checkMean(mean, value); errors.Is(err, ErrRounded) == whole {
			t.Errorf("%g: %v", mean, err)
		}
	}
}

// A GPU rounds the inputs of convolutions to ten bits unless a flag disables it. A plugin reads
// the flag once, so the one that rounds is opened in a process of its own.
func TestAPluginWhoseConvolutionsRoundIsRefused(t *testing.T) {
	spec := os.Getenv("LETHE_TEST_ENGINE")
	if !strings.HasPrefix(spec, "xla") {
		t.Skip("LETHE_TEST_ENGINE names no plugin")
	}
	e, err := Open(spec)
	if os.Getenv("NVIDIA_TF32_OVERRIDE") == "1" {
		if err == nil {
			e.Close()
			t.Fatal("opened")
		}
		t.Log(err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.checkPrecision(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(spec, "cuda") {
		return
	}
	run := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	run.Env = append(os.Environ(), "NVIDIA_TF32_OVERRIDE=1")
	if out, err := run.CombinedOutput(); err != nil || !strings.Contains(string(out), ErrRounded.Error()) {
		t.Errorf("with TF32: %v\n%s", err, out)
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
