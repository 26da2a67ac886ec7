//go:build xla

// The search for an XLA plugin that works, and its opening without a download.

package engine

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/compute/xla"
	"github.com/gomlx/go-xla/pjrt"
)

// chunkRowsXLA is large because XLA uses all cores or the whole accelerator for one
// execution, and each execution has a fixed cost.
const chunkRowsXLA = 65536

// openAuto opens the first that works of: XLA on CUDA, XLA on the CPU, the plugin in
// LETHE_XLA_PLUGIN, Lethe's own engine.
func openAuto() (*Engine, error) {
	e, err := openXLA("xla")
	if err != nil {
		return openLethe("no XLA: " + strings.TrimPrefix(err.Error(), "engine: ")), nil
	}
	return e, nil
}

func openXLA(spec string) (*Engine, error) {
	_, plugin, _ := strings.Cut(spec, ":")
	if plugin == "" {
		return openFirst("cuda", "cpu")
	}
	if !strings.ContainsAny(plugin, `/\`) {
		return openPlugin(plugin, plugin, "asked for by name")
	}
	return openFile(plugin, "asked for by path")
}

func openFile(file, why string) (*Engine, error) {
	path, err := pluginFile(file)
	if err != nil {
		return nil, fmt.Errorf("engine: XLA plugin %s: %w", file, err)
	}
	return openPlugin(path, platform(path), why)
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
func openFirst(names ...string) (*Engine, error) {
	var reasons []string
	for _, name := range names {
		e, err := openPlugin(name, name, "the first of CUDA and CPU that opens")
		if err == nil {
			if len(reasons) > 0 {
				e.info.Why = strings.Join(reasons, "; ")
			}
			return e, nil
		}
		reasons = append(reasons, strings.TrimPrefix(err.Error(), "engine: "))
	}
	if file := os.Getenv(EnvPlugin); file != "" {
		e, err := openFile(file, "named by "+EnvPlugin)
		if err == nil {
			return e, nil
		}
		reasons = append(reasons, strings.TrimPrefix(err.Error(), "engine: "))
	}
	return nil, fmt.Errorf("engine: %s", strings.Join(reasons, "; "))
}

// openPlugin opens a plugin by name or absolute path, never with a download. TF32 is off:
// with its 10-bit mantissa results would not be comparable with those of other engines. A
// plugin that computes with stale or rounded inputs is an error.
func openPlugin(plugin, kernel, why string) (*Engine, error) {
	xla.EnableAutoInstall(false)
	setDefault("GOMLX_NO_AUTO_INSTALL", "1")
	defer setXLAFlags(plugin)()
	if pjrt.IsCUDAName(plugin) {
		setDefault("NVIDIA_TF32_OVERRIDE", "0") // convolutions ignore the option tf32
	}
	backend, err := openSilently(func() (compute.Backend, error) { return xla.New(plugin + ",tf32=false") })
	if err != nil {
		return nil, fmt.Errorf("engine: XLA plugin %s: %s", plugin, brief(err))
	}
	of, ok := backend.(interface{ IsCPU() bool })
	cpu := ok && of.IsCPU()
	kernel = kernelName(kernel, cpu)
	e := &Engine{
		backend:        backend,
		info:           Info{Kind: "xla", Kernel: kernel, Why: why},
		chunk:          chunkRowsXLA,
		slots:          make(chan struct{}, 1),
		separateMemory: !cpu,
	}
	err = e.checkStaleInputs()
	if err == nil && !cpu {
		err = e.checkPrecision()
	}
	if err != nil {
		e.Close()
		return nil, fmt.Errorf("engine: XLA plugin %s: %w", plugin, err)
	}
	return e, nil
}

// brief returns the first line of an error without GoMLX's advice about its own environment
// variables.
func brief(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	line, _, _ = strings.Cut(line, " -- ")
	return line
}

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

func setDefault(name, value string) {
	if _, there := os.LookupEnv(name); !there {
		os.Setenv(name, value)
	}
}
