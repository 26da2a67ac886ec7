package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/lethe-ml/lethe/kernel/internal/paths"
	"github.com/lethe-ml/lethe/kernel/internal/proc"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/files"
)

// pluginWheel is XLA's plugin for the CPU as the OpenXLA authors publish it for
// Linux on amd64 and arm64, in pip's words. XLA's releases for Python hold the
// same code, but do not let other programs in.
const pluginWheel = `xla-cpu-pjrt==0.0.1 \
    --hash=sha256:55837b6b7b47daa717f2d9a5a03563ea0ceaa338d06a81a1e2d3f060d960decc \
    --hash=sha256:8f613be6e891858f40d64f9799319502fff42689661944fc18a6ffd8210b30c9
`

// pluginName is the file by which XLA's "cpu" is looked for.
const pluginName = "pjrt_c_api_cpu_plugin.so"

// Plugin gets XLA's plugin for the CPU, where it is not there yet, and returns
// its path. Programs built with XLA, and the kernel with XLA that Prepare sets up
// from then on, find it where the machine has no plugin of its own.
func Plugin(ctx context.Context, o Options) (string, error) {
	if runtime.GOOS != "linux" {
		return "", fmt.Errorf("XLA's CPU plugin is published for Linux, and this is %s: build one from XLA's sources, and name it "+
			"with --engine xla:PATH", runtime.GOOS)
	}
	m, err := newMachine(o)
	if err != nil {
		return "", err
	}
	defer m.unlock()
	path := pluginPath(m.options.Home)
	_, err = m.run(ctx, step{
		stamp: pluginStamp(path), inputs: []string{pluginWheel},
		intact: func(map[string]string) bool { return isFile(path) },
		do:     func(ctx context.Context) (map[string]string, error) { return nil, m.getPlugin(ctx, path) },
	})
	return path, err
}

// pluginPath is where Plugin puts what it gets.
func pluginPath(home string) string {
	return filepath.Join(home, "kernel", "xla-"+hashOf(pluginWheel)[:12], pluginName)
}

// pluginStamp is written when the plugin at path is whole.
func pluginStamp(path string) string { return filepath.Dir(path) + ".json" }

// downloadedPlugin is the plugin that Plugin has got, whole, or nothing.
func downloadedPlugin(home string) string {
	path := pluginPath(home)
	if isFile(pluginStamp(path)) && isFile(path) {
		return path
	}
	return ""
}

// OfferPlugin lets this process find the plugin that Plugin has got.
func OfferPlugin() {
	home, err := paths.Home()
	if err != nil || os.Getenv(engine.EnvPlugin) != "" {
		return
	}
	if path := downloadedPlugin(home); path != "" {
		_ = os.Setenv(engine.EnvPlugin, path)
	}
}

// getPlugin lets pip unpack the wheel, whose hash it checks, and takes the plugin out.
func (m *machine) getPlugin(ctx context.Context, to string) error {
	all, err := candidates(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("XLA's plugin is downloaded with pip, and there is no Python 3 on PATH: %s", pythonHint())
	}
	m.reporter.begin("getting XLA's CPU plugin with "+all[0].Path, "64 MB")
	defer m.reporter.end()
	return files.WriteFolder(filepath.Dir(to), func(work string) error {
		list := filepath.Join(work, "requirements.txt")
		if err := os.WriteFile(list, []byte(pluginWheel), 0o644); err != nil {
			return err
		}
		argv := append([]string{all[0].Path, "-m", "pip", "install", "--target", work, "--no-deps", "--only-binary=:all:"}, pipOptions(list)...)
		if err := (proc.Task{Dir: m.home, Env: m.pipEnvironment(), Argv: argv}).Run(ctx); err != nil {
			return pipError("XLA's plugin", err)
		}
		found, _ := filepath.Glob(filepath.Join(work, "*", "*", "*.so"))
		if len(found) != 1 {
			return fmt.Errorf("XLA's plugin holds %d shared libraries, expected one", len(found))
		}
		return os.Rename(found[0], filepath.Join(work, pluginName))
	})
}

// pjrtPlugin returns a PJRT plugin of XLA, or nothing. It looks where the
// library's engine looks and in the folders of the linker that the environment
// names, without opening what it finds.
func pjrtPlugin() string {
	dirs := filepath.SplitList(os.Getenv("PJRT_PLUGIN_LIBRARY_PATH"))
	if len(dirs) == 0 {
		if home, err := os.UserHomeDir(); err == nil {
			local := filepath.Join(home, ".local", "lib")
			dirs = append(dirs, filepath.Join(local, "go-xla"), filepath.Join(local, "go-xla", "nvidia"), filepath.Join(local, "gomlx", "pjrt"))
		}
		dirs = append(dirs, "/usr/local/lib/go-xla", "/usr/local/lib/go-xla/nvidia", "/usr/local/lib/gomlx/pjrt")
		dirs = append(dirs, filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))...)
		dirs = append(dirs, filepath.SplitList(os.Getenv("DYLD_LIBRARY_PATH"))...)
	}
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, pattern := range []string{"pjrt-plugin-*", "pjrt_plugin_*", "pjrt_c_api_*_plugin.*"} {
			found, _ := filepath.Glob(filepath.Join(dir, pattern))
			for _, path := range found {
				if ext := filepath.Ext(path); (ext == ".so" || ext == ".dylib") && !strings.Contains(path, ",") && isFile(path) {
					return path
				}
			}
		}
	}
	return ""
}
