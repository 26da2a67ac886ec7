//go:build cgo && !noxla && (xla || (linux && (amd64 || arm64)))

package engine

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Whoever asks for XLA and has no plugin is told how to get one, and what was looked for.
func TestXLAWithoutAPluginNamesTheReasonAndTheCure(t *testing.T) {
	t.Setenv("LETHE_HOME", t.TempDir())
	missing := filepath.Join(t.TempDir(), "mine.so")
	t.Setenv(EnvPlugin, missing)
	e, err := Open("xla")
	if err == nil {
		e.Close()
		t.Skipf("there is a plugin here: %s", e)
	}
	for _, want := range []string{"plugin cuda", "lethe xla --cuda gets it", "plugin cpu", "lethe xla gets it", missing} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error %q does not say %q", err, want)
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

func TestTheLibrariesOfAWheelAreThoseOfItsFolder(t *testing.T) {
	site := t.TempDir()
	for _, f := range []string{"nvidia/cudnn/lib/libcudnn.so.9", "nvidia/cu13/lib/libcublas.so.13", "nvidia/cu13/lib/libcudart.so.13", "nvidia/cu13/lib/libother.so.1"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(site, f)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(site, f), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, path := range cudaLibraries(filepath.Join(site, "jax_plugins/xla_cuda13/xla_cuda_plugin.so")) {
		got = append(got, filepath.Base(path))
	}
	if want := []string{"libcudart.so.13", "libcublas.so.13", "libcudnn.so.9"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := cudaLibraries(filepath.Join(site, "a/b/pjrt_c_api_cpu_plugin.so")); got != nil {
		t.Errorf("for a CPU: %v", got)
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
		"":                           {"it, checked", "it, device epochs"},
		"--xla_cpu_use_xnnpack=true": {"it, checked", "it, device epochs"},
		"--xla_other=1 --xla_cpu_use_xnnpack=false --xla_gpu_deterministic_ops=true": {"it without XNNPACK", "it, device epochs, deterministic"},
	} {
		t.Setenv("XLA_FLAGS", flags)
		if got := [2]string{kernelName("it", true), kernelName("it", false)}; got != want {
			t.Errorf("%q: %q, want %q", flags, got, want)
		}
	}
}

// freshInputs is what the process says of a plugin that computes right.
const freshInputs = "opened, and its products are those of their inputs"

// A plugin reads its flags once, so the one with XNNPACK is opened in a process of its own. With it
// XLA's CPU plugin uses stale inputs on some processors (Zen 4) and not on others (Zen 5): it is
// refused, or its products are those of their inputs.
func TestAPluginThatComputesWithStaleInputsIsRefused(t *testing.T) {
	spec := os.Getenv("LETHE_TEST_ENGINE")
	if !strings.Contains(spec, "cpu") {
		t.Skip("LETHE_TEST_ENGINE names no plugin for the CPU")
	}
	if os.Getenv("XLA_FLAGS") != "" {
		e, err := Open(spec)
		if err != nil {
			t.Log(err)
			return
		}
		defer e.Close()
		if err := e.checkStaleInputs(); err != nil {
			t.Fatal("opened:", err)
		}
		t.Log(freshInputs)
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
	if out, err := run.CombinedOutput(); err != nil || strings.Contains(string(out), ErrStale.Error()) == strings.Contains(string(out), freshInputs) {
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
	path := testPlugin(t)
	t.Setenv("LETHE_HOME", t.TempDir())
	t.Setenv(EnvPlugin, path)
	e, err := Open("xla")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if e.Info().Kind != "xla" {
		t.Errorf("opened %s: %s", e, e.Info().Why)
	}
}

// testPlugin returns the file of the plugin in LETHE_TEST_ENGINE.
func testPlugin(t *testing.T) string {
	t.Helper()
	_, path, _ := strings.Cut(os.Getenv("LETHE_TEST_ENGINE"), ":")
	if path == "" {
		t.Skip("LETHE_TEST_ENGINE names no plugin")
	}
	return path
}

// A machine with a plugin and a card still gives the numbers of every other machine.
func TestAutoIsNeverXLA(t *testing.T) {
	t.Setenv(EnvPlugin, testPlugin(t))
	e, err := Open("auto")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if e.Info().Kind != "lethe" {
		t.Errorf("auto opened %s", e)
	}
}

func TestAPluginThatWasInstalledIsFoundByName(t *testing.T) {
	path := testPlugin(t)
	home := t.TempDir()
	t.Setenv("LETHE_HOME", home)
	dir := filepath.Join(home, "kernel", "xla-abc")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, filepath.Join(dir, PluginFile("mine"))); err != nil {
		t.Fatal(err)
	}
	if got := InstalledPlugin(home, "mine"); got != "" {
		t.Errorf("an incomplete one was found: %s", got)
	}
	if err := os.WriteFile(dir+".json", []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	e, err := Open("xla:mine")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if !strings.HasPrefix(e.Info().Kernel, "mine") {
		t.Errorf("the store key is not that of the name: %s", e.Info())
	}
}

// go-xla sets variables and looks for folders while the program starts; no child process should
// see it.
func TestTheEnvironmentIsThatOfTheUser(t *testing.T) {
	if os.Getenv("TF_CPP_MIN_LOG_LEVEL") == "kept" {
		return
	}
	for _, set := range []string{"", "TF_CPP_MIN_LOG_LEVEL=kept"} {
		run := exec.Command(os.Args[0], "-test.run", "^TestPrintEnvironment$", "-test.v")
		run.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "TF_CPP_MIN_LOG_LEVEL=") })
		if set != "" {
			run.Env = append(run.Env, set)
		}
		out, err := run.CombinedOutput()
		_, value, _ := strings.Cut(set, "=")
		if want := fmt.Sprintf("level %q", value); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("with %q: %v, want %s\n%s", set, err, want, out)
		}
	}
}

func TestPrintEnvironment(t *testing.T) { t.Logf("level %q", os.Getenv("TF_CPP_MIN_LOG_LEVEL")) }

// The second process loads what the first has compiled, and computes the same bits.
func TestCompiledProgramsAreKeptForTheNextProcess(t *testing.T) {
	if dir := os.Getenv(EnvPrograms); dir != "" {
		e, err := Open(os.Getenv("LETHE_TEST_ENGINE"))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		compiled, loaded := e.Programs()
		t.Logf("compiled %d, loaded %d", compiled, loaded)
		return
	}
	testPlugin(t)
	dir := t.TempDir()
	run := func(extra ...string) string {
		t.Helper()
		c := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		c.Env = append(append(os.Environ(), EnvPrograms+"="+dir), extra...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	if out := run(); !strings.Contains(out, "compiled 1, loaded 0") {
		t.Errorf("the first process: %s", out)
	}
	if out := run(); !strings.Contains(out, "compiled 0, loaded 1") {
		t.Errorf("the second process: %s", out)
	}
	if out := run("XLA_FLAGS=--xla_force_host_platform_device_count=1"); !strings.Contains(out, "compiled 1, loaded 0") {
		t.Errorf("with another flag: %s", out)
	}
	found, _ := filepath.Glob(filepath.Join(dir, "*.xla"))
	if len(found) != 2 {
		t.Fatalf("%d programs are kept", len(found))
	}
	for _, file := range found { // damaged, as after a full disk
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)/2]++
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out := run(); !strings.Contains(out, "compiled 1, loaded 0") {
		t.Errorf("with a damaged file: %s", out)
	}
}

func TestTF32IsForCardsOnly(t *testing.T) {
	spec := os.Getenv("LETHE_TEST_ENGINE")
	if !strings.Contains(spec, "cpu") {
		t.Skip("LETHE_TEST_ENGINE names no plugin for the CPU")
	}
	e, err := Open(spec + ",tf32")
	if err == nil {
		e.Close()
		t.Fatal("opened")
	}
	if !strings.Contains(err.Error(), "NVIDIA's cards") {
		t.Error(err)
	}
}

func TestBF16RoundsProductsAndSumsInFloat32(t *testing.T) {
	spec := os.Getenv("LETHE_TEST_ENGINE")
	if !strings.HasPrefix(spec, "xla") {
		t.Skip("LETHE_TEST_ENGINE names no plugin")
	}
	e, err := Open(spec + ",bf16")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if !strings.HasSuffix(e.Info().Kernel, ", bf16") || e.Precision() != BF16 {
		t.Errorf("the store key does not name the precision: %s", e.Info())
	}
	if err := e.checkPrecision(); !errors.Is(err, ErrRounded) {
		t.Errorf("a convolution: %v", err)
	}
	// A product of rows that need eleven bits: each operand becomes 1, and 600 of them sum to
	// 600, which bfloat16 cannot write.
	exec, err := graph.NewExec(e.Backend(), func(x *graph.Node) []*graph.Node {
		product := graph.Dot(x, graph.Transpose(x, 0, 1)).Product()
		slope := graph.Gradient(graph.ReduceAllSum(graph.Mul(product, product)), x)[0]
		return []*graph.Node{product, slope}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	x, err := e.constantTensor(1+1.0/(1<<11), 2, 600)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Call(x)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float32{600, 4 * 2 * 600} {
		if err := tensors.ConstFlatData(out[i], func(flat []float32) {
			if flat[0] != want {
				t.Errorf("output %d is %g, want %g", i, flat[0], want)
			}
		}); err != nil {
			t.Error(err)
		}
	}
}

func TestProvenanceNamesThePluginAndItsFlags(t *testing.T) {
	e, err := Open("xla:" + testPlugin(t))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	d := e.Info().Device
	if d.Name == "" || !strings.Contains(d.Plugin, "PJRT 0.") || !strings.Contains(d.Flags, flagXNNPACK+"=false") && !e.SeparateMemory() {
		t.Errorf("%+v", d)
	}
	if strings.Contains(d.String(), "/") || strings.Contains(e.Info().String(), "PJRT") {
		t.Errorf("%s, key %s", d, e.Info())
	}
}

func TestFlagsOfProvenanceHaveNoFolders(t *testing.T) {
	if got := plainFlags(" --a=1 --xla_gpu_cuda_data_dir=/home/me/x  --b=true"); got != "--a=1 --b=true" {
		t.Errorf("%q", got)
	}
}

func TestTheDriverIsReadFromItsFile(t *testing.T) {
	old := driverFile
	defer func() { driverFile = old }()
	driverFile = filepath.Join(t.TempDir(), "version")
	if got := nvidiaDriver(); got != "" {
		t.Errorf("without a driver: %q", got)
	}
	for text, want := range map[string]string{
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\nGCC version: gcc\n":                      "550.54.15",
		"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (dvs-builder)  Sun Jul 27 07:13:13 UTC 2025\n": "580.65.06",
		"nothing": "",
	} {
		if err := os.WriteFile(driverFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := nvidiaDriver(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestACardThatAnOldDriverHidesIsExplained(t *testing.T) {
	old := driverFile
	defer func() { driverFile = old }()
	driverFile = filepath.Join(t.TempDir(), "version")
	hidden := Explain(errors.New("PJRT error (code=9): No visible GPU devices."))
	const plugin = "/site/jax_plugins/xla_cuda13/xla_cuda_plugin.so"
	for _, c := range []struct {
		driver, plugin string
		err            error
		want           bool
	}{
		{"535.288.01", plugin, hidden, true}, {"580.65.06", plugin, hidden, false}, {"535.288.01", "/site/xla_cuda12/x.so", hidden, false},
		{"535.288.01", plugin, errors.New("other"), false},
	} {
		text := "NVRM version: NVIDIA UNIX x86_64 Kernel Module  " + c.driver + "  Tue Mar  5\n"
		if err := os.WriteFile(driverFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		err := explainDriver(c.err, c.plugin)
		if errors.Is(err, ErrDriver) != c.want || strings.Contains(err.Error(), "driver 535.288.01 is here") != c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// The wheels of pip lie in one folder, with a folder for each wheel's version.
func TestAPluginOfAWheelIsNamedWithItsVersion(t *testing.T) {
	site := t.TempDir()
	for _, d := range []string{"jax_plugins/xla_cuda13", "jax_cuda13_pjrt-0.11.2.dist-info"} {
		if err := os.MkdirAll(filepath.Join(site, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if got := pluginName(filepath.Join(site, "jax_plugins/xla_cuda13/xla_cuda_plugin.so"), "0.115"); got != "xla_cuda_plugin of JAX 0.11.2, PJRT 0.115" {
		t.Errorf("%q", got)
	}
}
