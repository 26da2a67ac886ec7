// XLA's plugin for the CPU: downloading and finding it.

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

// pluginWheel is XLA's plugin for the CPU, as the OpenXLA authors publish it for Linux on
// amd64 and arm64, as a requirement of pip. XLA's own Python packages hold the same code,
// but other programs cannot load it.
const pluginWheel = `xla-cpu-pjrt==0.0.1 \
    --hash=sha256:55837b6b7b47daa717f2d9a5a03563ea0ceaa338d06a81a1e2d3f060d960decc \
    --hash=sha256:8f613be6e891858f40d64f9799319502fff42689661944fc18a6ffd8210b30c9
`

// pluginName is the file name that XLA's "cpu" is found by.
var pluginName = engine.PluginFile("cpu")

// Plugin downloads XLA's plugin for the CPU, if necessary, and returns its path. Programs
// built with XLA, and the XLA kernel that Prepare then sets up, use it if the machine has
// no other plugin.
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

// pluginPath returns the path of the downloaded plugin.
func pluginPath(home string) string {
	return filepath.Join(engine.PluginFolder(home), "xla-"+hashOf(pluginWheel)[:12], pluginName)
}

// pluginStamp returns the file that marks the plugin at path as complete.
func pluginStamp(path string) string { return filepath.Dir(path) + ".json" }

// downloadedPlugin returns the path of the downloaded plugin, or "" if it is missing or
// incomplete.
func downloadedPlugin(home string) string {
	path := pluginPath(home)
	if isFile(pluginStamp(path)) && isFile(path) {
		return path
	}
	return ""
}

// OfferPlugin makes this process use the downloaded plugin, if there is one.
func OfferPlugin() {
	home, err := paths.Home()
	if err != nil || os.Getenv(engine.EnvPlugin) != "" {
		return
	}
	if path := downloadedPlugin(home); path != "" {
		_ = os.Setenv(engine.EnvPlugin, path)
	}
}

// getPlugin downloads the wheel with pip, which checks its hash, and extracts the plugin.
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

// pjrtPlugin returns the path of a PJRT plugin, or "". It looks where the engine looks and
// in the linker's folders, without opening what it finds.
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
