// XLA's plugin for NVIDIA's cards: downloading it with CUDA's libraries, or taking that of JAX.

package setup

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/files"
)

//go:embed cuda.txt
var cudaRequirements string

// Sizes of the download, unpacked and while it is unpacked.
const (
	cudaDownload = "2 GB"
	cudaDisk     = 9e9
)

// CUDA says which plugin for NVIDIA's cards is in use.
type CUDA struct {
	Path string // of the plugin
	JAX  string // the JAX installation that it belongs to; empty: it was downloaded
}

// CUDAPlugin returns XLA's plugin for NVIDIA's cards, which --engine xla:cuda finds from then
// on: that of a JAX installation of a Python on PATH, or the pinned one, which pip downloads
// with CUDA's libraries and checks by hash. With download it is the pinned one.
func CUDAPlugin(ctx context.Context, o Options, download bool) (CUDA, error) {
	if runtime.GOOS != "linux" {
		return CUDA{}, fmt.Errorf("XLA's CUDA plugin is published for Linux, and this is %s: on Windows, run lethe inside WSL", runtime.GOOS)
	}
	cards, err := Cards(ctx)
	if err != nil {
		return CUDA{}, err
	}
	m, err := newMachine(o)
	if err != nil {
		return CUDA{}, err
	}
	defer m.unlock()
	if !download {
		if jax, err := findJAX(ctx); jax != "" || err != nil {
			if err != nil {
				return CUDA{}, err
			}
			path, err := m.linkPlugin(ctx, jax)
			return CUDA{Path: path, JAX: jax}, err
		}
	}
	if runtime.GOARCH != "amd64" {
		return CUDA{}, fmt.Errorf("the pinned plugin is for amd64, and this is %s: pip install \"jax[cuda13]\" in the active Python "+
			"environment, and start this again", runtime.GOARCH)
	}
	for _, c := range cards {
		if c.DriverTooOld() {
			return CUDA{}, fmt.Errorf("the driver %s of %s is too old for CUDA 13, which needs %d: install a newer one; or pip install "+
				"\"jax[cuda12]\" in the active Python environment, and start this again, which takes the plugin of that JAX",
				c.Driver, c.Name, engine.OldestDriver)
		}
	}
	if len(cards) == 0 {
		m.reporter.note("there is no NVIDIA card here (nvidia-smi lists none); the plugin is fetched for a machine with one")
	}
	path := m.cudaPath()
	_, err = m.run(ctx, step{
		stamp: pluginStamp(path), inputs: []string{cudaRequirements},
		intact: func(map[string]string) bool { return isFile(path) },
		do:     func(ctx context.Context) (map[string]string, error) { return nil, m.getCUDA(ctx, path) },
	})
	return CUDA{Path: path}, err
}

func (m *machine) cudaPath() string {
	return filepath.Join(engine.PluginFolder(m.options.Home), "xla-"+hashOf(cudaRequirements)[:12], engine.PluginFile("cuda"))
}

// linkPlugin makes a link to the plugin of a JAX installation where the engine looks.
func (m *machine) linkPlugin(ctx context.Context, jax string) (string, error) {
	path := filepath.Join(engine.PluginFolder(m.options.Home), "xla-"+hashOf(jax)[:12], engine.PluginFile("cuda"))
	_, err := m.run(ctx, step{
		stamp: pluginStamp(path), inputs: []string{jax},
		intact: func(map[string]string) bool { return files.SameFile(path, jax) },
		do: func(context.Context) (map[string]string, error) {
			return nil, files.WriteFolder(filepath.Dir(path), func(work string) error {
				return os.Symlink(jax, filepath.Join(work, filepath.Base(path)))
			})
		},
	})
	return path, err
}

// jaxScript prints the CUDA plugins of the JAX in an interpreter, the newest CUDA first.
const jaxScript = `
import importlib.util as u, os
spec = u.find_spec("jax_plugins")
for name in ("xla_cuda13", "xla_cuda12"):
    for root in (spec.submodule_search_locations if spec else []):
        path = os.path.join(root, name, "xla_cuda_plugin.so")
        if os.path.isfile(path):
            print(path)
`

// findJAX returns the CUDA plugin of the JAX in the first Python on PATH that has one, "" if
// none has.
func findJAX(ctx context.Context) (string, error) {
	all, err := candidates(ctx)
	if err != nil {
		return "", err
	}
	for _, c := range all {
		out, err := proc.Task{Dir: os.TempDir(), Env: os.Environ(), Argv: []string{c.Path, "-c", jaxScript}}.Output(ctx)
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		first, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
		if err == nil && filepath.IsAbs(first) && isFile(first) {
			return filepath.EvalSymlinks(first)
		}
	}
	return "", nil
}

// getCUDA downloads the wheels with pip, which checks their hashes, into the plugin's folder.
// The plugin finds CUDA's libraries beside itself, as in a Python installation.
func (m *machine) getCUDA(ctx context.Context, to string) error {
	all, err := candidates(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("XLA's plugin is downloaded with pip, and there is no Python 3 on PATH: %s", pythonHint())
	}
	disk := m.options.disk
	if disk == nil {
		disk = freeDisk
	}
	if free, known := disk(nearestExisting(m.home)); known && free < cudaDisk {
		return fmt.Errorf("%.1f GB are free for %s, and CUDA's libraries need %.0f while they are unpacked: set %s to a folder on another disk",
			float64(free)/1e9, m.home, cudaDisk/1e9, files.EnvHome)
	}
	m.reporter.begin("getting XLA's CUDA plugin and CUDA's libraries with "+all[0].Path, cudaDownload)
	defer m.reporter.end()
	return files.WriteFolder(filepath.Dir(to), func(work string) error {
		list, scratch := filepath.Join(work, "requirements.txt"), filepath.Join(work, "scratch")
		if err := errors.Join(os.WriteFile(list, []byte(cudaRequirements), 0o644), os.Mkdir(scratch, 0o755)); err != nil {
			return err
		}
		argv := append([]string{all[0].Path, "-m", "pip", "install", "--target", work, "--no-deps", "--only-binary=:all:", "--no-cache-dir"},
			pipOptions(list)...)
		env := setEnv(m.pipEnvironment(), "TMPDIR="+scratch) // the machine's own folder may be small
		if err := (proc.Task{Dir: m.home, Env: env, Line: m.pipProgress(cudaRequirements), Argv: argv}).Run(ctx); err != nil {
			return pipError("XLA's CUDA plugin", err)
		}
		if err := os.RemoveAll(scratch); err != nil {
			return err
		}
		found, _ := filepath.Glob(filepath.Join(work, "jax_plugins", "*", "xla_cuda_plugin.so"))
		if len(found) != 1 {
			return fmt.Errorf("XLA's CUDA plugin holds %d shared libraries, expected one", len(found))
		}
		rel, err := filepath.Rel(work, found[0])
		if err != nil {
			return err
		}
		return os.Symlink(rel, filepath.Join(work, filepath.Base(to)))
	})
}
