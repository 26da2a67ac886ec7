// Kernelspecs: writing, installing, removing.

package setup

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/kernel/internal/paths"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/files"
)

// The kernels' icons, in the formats that Jupyter needs. Entries of JupyterLab's launcher that do
// different things have different icons.
var (
	//go:embed logo-svg.svg
	logoSVG string
	//go:embed logo-64x64.png
	logoPNG string
	//go:embed logo-xla-svg.svg
	logoXLASVG string
	//go:embed logo-xla-64x64.png
	logoXLAPNG string
	//go:embed logo-cuda-svg.svg
	logoCUDASVG string
	//go:embed logo-cuda-64x64.png
	logoCUDAPNG string
)

// kernelSpec is Jupyter's kernel.json.
type kernelSpec struct {
	Argv          []string          `json:"argv"`
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode"`
	Env           map[string]string `json:"env"`
	Metadata      map[string]any    `json:"metadata"`
}

// owner is the metadata key that marks a kernelspec as ours.
const owner = "lethe"

// writeSpecs writes the kernelspecs to a folder of JUPYTER_PATH.
func (m *machine) writeSpecs(ctx context.Context) error {
	m.spec = filepath.Join(m.buildDir, "jupyter")
	if m.options.NoCompletion {
		m.spec += "-no-completion"
	}
	tree := m.specFiles()
	_, err := m.run(ctx, step{
		stamp: m.spec + ".json", inputs: inputsOf(tree),
		intact: func(map[string]string) bool { return isFile(filepath.Join(m.spec, "kernels", KernelGo, "kernel.json")) },
		do: func(context.Context) (map[string]string, error) {
			return nil, files.WriteFolder(m.spec, func(work string) error { return files.WriteTree(work, tree) })
		},
	})
	return err
}

func (m *machine) specFiles() map[string]string {
	tree := map[string]string{}
	for _, kernel := range m.kernels() {
		tree["kernels/"+kernel+"/kernel.json"] = m.specFile(kernel)
		svg, png := logoSVG, logoPNG
		switch kernel {
		case KernelXLA:
			svg, png = logoXLASVG, logoXLAPNG
		case KernelCUDA:
			svg, png = logoCUDASVG, logoCUDAPNG
		}
		tree["kernels/"+kernel+"/logo-svg.svg"] = svg
		tree["kernels/"+kernel+"/logo-64x64.png"] = png
	}
	return tree
}

func (m *machine) specFile(kernel string) string {
	argv := []string{m.relay(), "--gonb", filepath.Join(m.tools, "bin", gonbName), "--go-work", m.location.root,
		"--log", filepath.Join(m.buildDir, "kernel.log")}
	if m.options.NoCompletion {
		argv = append(argv, "--no-completion")
	}
	spec := kernelSpec{
		Argv: append(argv, "{connection_file}"), DisplayName: displayName(kernel), Language: "go", InterruptMode: "message",
		Env: map[string]string{}, Metadata: map[string]any{"debugger": false, owner: map[string]string{"root": m.location.root}},
	}
	for _, kv := range m.kernelEnvironment(kernel) {
		name, value, _ := strings.Cut(kv, "=")
		spec.Env[name] = value
	}
	out, _ := json.MarshalIndent(spec, "", "  ") // strings only
	return string(out) + "\n"
}

func displayName(kernel string) string {
	switch kernel {
	case KernelXLA:
		return "Lethe (Go, XLA)"
	case KernelCUDA:
		return "Lethe (Go, CUDA)"
	}
	return "Lethe (Go)"
}

// kernelEnvironment returns the environment of a kernel and its cells: no downloads, and
// the pinned tools first on PATH.
func (m *machine) kernelEnvironment(kernel string) []string {
	env := append(cellEnvironment(kernel), "GOPROXY=off", "GOTOOLCHAIN=local", "GOPLSCACHE="+m.goplsCache(), "PATH="+m.path())
	if home, err := paths.Home(); os.Getenv(paths.EnvHome) != "" || err != nil || home != m.options.Home {
		env = append(env, paths.EnvHome+"="+m.options.Home)
	}
	if path := downloadedPlugin(m.options.Home); kernel == KernelXLA && path != "" {
		env = append(env, engine.EnvPlugin+"="+path)
	}
	if on := m.kernelEngine(kernel); on != "" {
		env = append(env, engine.EnvEngine+"="+on)
	}
	return env
}

// kernelEngine returns the engine that cells compute on unless they name one, "" for the
// default.
func (m *machine) kernelEngine(kernel string) string {
	switch {
	case kernel == KernelCUDA:
		return "xla:cuda"
	case kernel == KernelXLA && downloadedPlugin(m.options.Home) != "":
		return "xla:cpu"
	case kernel == KernelXLA:
		return "xla"
	}
	return ""
}

// path returns PATH with our programs and the go tool in front.
func (m *machine) path() string {
	ours := []string{filepath.Join(m.tools, "bin"), filepath.Dir(m.relay()), m.tool.bin}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if dir != "" && !slices.Contains(ours, dir) {
			ours = append(ours, dir)
		}
	}
	return strings.Join(ours, string(os.PathListSeparator))
}

// Install writes the kernelspecs below a data folder of Jupyter and returns the folders it
// wrote.
func (r *Ready) Install(dataDir string) ([]string, error) {
	var out []string
	for _, kernel := range AllKernels {
		from := filepath.Join(r.Kernels, kernel)
		if !isFile(filepath.Join(from, "kernel.json")) {
			continue
		}
		to := filepath.Join(dataDir, "kernels", kernel)
		if isFile(filepath.Join(to, "kernel.json")) && !Owned(to) {
			return out, fmt.Errorf("%s holds a kernel of this name that lethe did not install: remove it first", to)
		}
		if err := files.WriteFolder(to, func(work string) error { return os.CopyFS(work, os.DirFS(from)) }); err != nil {
			return out, fmt.Errorf("the kernel cannot be installed: %w", err)
		}
		out = append(out, to)
	}
	return out, nil
}

// Owned reports whether a kernelspec's folder is ours.
func Owned(dir string) bool {
	spec, ok := readSpec(dir)
	return ok && spec.Metadata[owner] != nil
}

func readSpec(dir string) (spec kernelSpec, ok bool) {
	b, err := files.Read(filepath.Join(dir, "kernel.json"), maxFile)
	return spec, err == nil && json.Unmarshal(b, &spec) == nil
}

// MissingFile returns the first missing file or folder that a kernelspec of ours names, or
// "".
func MissingFile(dir string) string {
	spec, ok := readSpec(dir)
	if !ok {
		return filepath.Join(dir, "kernel.json")
	}
	for i, arg := range spec.Argv {
		if !filepath.IsAbs(arg) || i > 0 && spec.Argv[i-1] == "--log" {
			continue
		}
		if _, err := os.Stat(arg); err != nil {
			return arg
		}
	}
	return ""
}

// Uninstall removes our kernelspecs below a data folder of Jupyter and returns the removed
// folders.
func Uninstall(dataDir string) ([]string, error) {
	var out []string
	for _, kernel := range AllKernels {
		dir := filepath.Join(dataDir, "kernels", kernel)
		if !Owned(dir) {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return out, err
		}
		out = append(out, dir)
	}
	return out, nil
}
