//go:build cgo && !noxla && (xla || (linux && (amd64 || arm64)))

// The search for an XLA plugin that works, and its opening without a download.

package engine

import (
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/compute/xla"
	"github.com/gomlx/go-xla/pjrt"

	"github.com/lethe-ml/lethe/lib/engine/early"
	"github.com/lethe-ml/lethe/lib/engine/plugin"
	"github.com/lethe-ml/lethe/lib/files"
)

// WithXLA reports whether this program was built with XLA.
const WithXLA = true

func init() { early.Restore() }

// chunkRowsXLA is large because XLA uses all cores or the whole accelerator for one
// execution, and each execution has a fixed cost.
const chunkRowsXLA = 65536

func openXLA(spec string, precision Precision) (*Engine, error) {
	_, plugin, _ := strings.Cut(spec, ":")
	if plugin == "" {
		return openFirst(precision, "cuda", "cpu")
	}
	if !strings.ContainsAny(plugin, `/\`) {
		return openNamed(plugin, precision, "asked for by name")
	}
	return openFile(plugin, precision, "asked for by path")
}

// openNamed opens a plugin in go-xla's folders, or the one that lethe xla has installed.
func openNamed(name string, precision Precision, why string) (*Engine, error) {
	path := namedPlugin(name)
	if path == "" {
		return nil, fmt.Errorf("engine: XLA plugin %s: there is none on this machine; %s", name, howToGet(name))
	}
	path, err := pluginFile(path)
	if err != nil {
		return nil, fmt.Errorf("engine: XLA plugin %s: %w", name, err)
	}
	return openPlugin(name, path, name, precision, why)
}

// namedPlugin returns the file of a plugin, or "". A name may be without the version that
// go-xla writes behind it: "cpu" for "cpu_v0.83.1".
func namedPlugin(name string) string {
	all := pjrt.AvailablePlugins()
	if path := all[name]; path != "" {
		return path
	}
	for _, other := range slices.Sorted(maps.Keys(all)) {
		if strings.HasPrefix(other, name+"_v") {
			return all[other]
		}
	}
	home, err := files.Home()
	if err != nil {
		return ""
	}
	return InstalledPlugin(home, name)
}

// howToGet says how to get a plugin by name.
func howToGet(name string) string {
	switch name {
	case "cpu":
		return "lethe xla gets it"
	case "cuda":
		return "lethe xla --cuda gets it"
	}
	return "go-xla looks for pjrt_c_api_" + name + "_plugin.so in its folders and those of the linker; --engine xla:/path/to/plugin.so names a file"
}

func openFile(file string, precision Precision, why string) (*Engine, error) {
	path, err := pluginFile(file)
	if err != nil {
		return nil, fmt.Errorf("engine: XLA plugin %s: %w", file, err)
	}
	return openPlugin(path, path, platform(path), precision, why)
}

// platform returns the platform in a plugin's file name: "cpu" for
// pjrt_c_api_cpu_plugin.so, the name without its extension for others.
func platform(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if inner, ok := strings.CutPrefix(name, "pjrt_c_api_"); ok {
		return strings.TrimSuffix(inner, "_plugin")
	}
	return name
}

// openFirst opens the first named plugin that works, or the one in LETHE_XLA_PLUGIN. Info.Why
// says why the ones before it failed.
func openFirst(precision Precision, names ...string) (*Engine, error) {
	var reasons []string
	for _, name := range names {
		e, err := openNamed(name, precision, "the first of CUDA and CPU that opens")
		if err == nil {
			if len(reasons) > 0 {
				e.info.Why = strings.Join(reasons, "; ")
			}
			return e, nil
		}
		reasons = append(reasons, strings.TrimPrefix(err.Error(), "engine: "))
	}
	if file := os.Getenv(EnvPlugin); file != "" {
		e, err := openFile(file, precision, "named by "+EnvPlugin)
		if err == nil {
			return e, nil
		}
		reasons = append(reasons, strings.TrimPrefix(err.Error(), "engine: "))
	}
	return nil, fmt.Errorf("engine: %s", strings.Join(reasons, "; "))
}

// openPlugin opens the plugin in a file, never with a download. name is for messages, kernel
// for store keys. In float32 TF32 is off: with its 10-bit mantissa results would not be
// comparable with those of other engines. A plugin that computes with stale or rounded inputs
// is an error.
func openPlugin(name, path, kernel string, precision Precision, why string) (*Engine, error) {
	failed := func(err error) error {
		return fmt.Errorf("engine: XLA plugin %s: %w", name, explainDriver(Explain(err), path))
	}
	xla.EnableAutoInstall(false)
	setDefault("GOMLX_NO_AUTO_INSTALL", "1")
	setDefault("TF_CPP_MIN_LOG_LEVEL", "3")
	if err := setTF32(path, precision); err != nil {
		return nil, failed(err)
	}
	defer setXLAFlags(path)()
	flags := os.Getenv("XLA_FLAGS")
	plugin.Preload(cudaLibraries(path))
	loaded, err := plugin.Load(path, programFolder(path), programKey(path, flags))
	if err != nil {
		return nil, failed(err)
	}
	backend, err := openSilently(func() (compute.Backend, error) {
		return xla.New(path + ",tf32=" + strconv.FormatBool(precision == TF32))
	})
	if err != nil {
		return nil, failed(err)
	}
	of, ok := backend.(interface{ IsCPU() bool })
	cpu := ok && of.IsCPU()
	if precision == BF16 {
		backend = bf16Backend{backend}
	}
	e := &Engine{
		backend:        backend,
		info:           Info{Kind: "xla", Kernel: kernelName(kernel, cpu) + precision.suffix(), Why: why},
		chunk:          chunkRowsXLA,
		slots:          make(chan struct{}, 1),
		separateMemory: !cpu,
		precision:      precision,
		plugin:         loadedPlugin{loaded},
	}
	if err := e.check(cpu); err != nil {
		e.Close()
		return nil, failed(err)
	}
	e.info.Device = e.describeDevice(path, flags)
	return e, nil
}

// check tries the plugin out.
func (e *Engine) check(cpu bool) error {
	if cpu && e.precision == TF32 {
		return errors.New("tf32 is arithmetic of NVIDIA's cards, and this plugin computes on the CPU")
	}
	if err := e.checkStaleInputs(); err != nil {
		return err
	}
	if cpu || e.precision != Float32 {
		return nil
	}
	return e.checkPrecision()
}

// setTF32 turns TF32 off for libraries that do not ask XLA, unless it is wanted. CUDA's
// libraries read the variable once in a process.
func setTF32(path string, precision Precision) error {
	if !pjrt.IsCUDAName(path) {
		return nil
	}
	if precision != TF32 {
		setDefault(envTF32, "0") // convolutions ignore the option tf32
		return nil
	}
	if os.Getenv(envTF32) == "0" {
		return fmt.Errorf("%s=0 turns tf32 off: unset it, and open no engine in float32 in the same process", envTF32)
	}
	return nil
}

const envTF32 = "NVIDIA_TF32_OVERRIDE"

// pluginFile returns the real path of a plugin, because the dynamic linker looks for a
// plugin's libraries in the directory of the name that it got and does not follow links. A
// file that is not a shared library is an error, because the plugin loader could crash.
func pluginFile(path string) (string, error) {
	if strings.Contains(path, ",") {
		return "", fmt.Errorf("the path has a comma, which GoMLX does not support; move or rename the file")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("is not a file")
	}
	if runtime.GOOS == "linux" {
		f, err := elf.Open(path)
		if err != nil {
			return "", fmt.Errorf("is not a shared library: %w", err)
		}
		defer f.Close()
		if f.Type != elf.ET_DYN {
			return "", fmt.Errorf("is not a shared library: its ELF type is %v", f.Type)
		}
	}
	hintCUDA(path)
	return path, nil
}

// hintCUDA tells XLA where the CUDA tools of a Python wheel are: a plugin in
// site-packages/jax_plugins/xla_cuda13 has them in site-packages/nvidia/cu13,
// where neither XLA nor the plugin loader looks.
func hintCUDA(plugin string) {
	if !strings.Contains(plugin, "cuda") {
		return
	}
	site := filepath.Dir(filepath.Dir(filepath.Dir(plugin)))
	found, _ := filepath.Glob(filepath.Join(site, "nvidia", "cu[0-9]*"))
	found = append(found, filepath.Join(site, "nvidia", "cuda_nvcc"))
	for _, dir := range found {
		flags := os.Getenv("XLA_FLAGS")
		info, err := os.Stat(dir)
		if err == nil && info.IsDir() && !strings.Contains(flags, "xla_gpu_cuda_data_dir") {
			os.Setenv("XLA_FLAGS", strings.TrimSpace(flags+" --xla_gpu_cuda_data_dir="+dir))
			setDefault("GOPJRT_CUDA_CHECKS", "0") // its warning is about the directory set above
		}
	}
}

// cudaNames are the libraries that XLA and cuDNN open by name while they run, in the order of
// their dependences.
var cudaNames = []string{"libcudart", "libnvrtc", "libnvJitLink", "libcublasLt", "libcublas", "libnccl", "libcupti", "libcusparse", "libcusolver",
	"libcufft", "libnvshmem_host", "libcudnn"}

// cudaLibraries returns CUDA's libraries beside a plugin of a Python wheel. Python's JAX loads
// them first too, because cuDNN does not find all of them, and a CUDA of the machine could come
// before them.
func cudaLibraries(plugin string) []string {
	if !strings.Contains(plugin, "cuda") {
		return nil
	}
	site := filepath.Dir(filepath.Dir(filepath.Dir(plugin)))
	var out []string
	for _, name := range cudaNames {
		found, _ := filepath.Glob(filepath.Join(site, "nvidia", "*", "lib", name+".so.*"))
		out = append(out, found...)
	}
	return out
}

func setDefault(name, value string) {
	if _, there := os.LookupEnv(name); !there {
		os.Setenv(name, value)
	}
}
