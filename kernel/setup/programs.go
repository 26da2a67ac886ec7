// Building the kernel program.

package setup

import (
	"cmp"
	"context"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/lethe-ml/lethe/lib/engine"
)

// buildRelay builds the kernel program from the library's sources, with the flags of cells.
// All kernels share it.
func (m *machine) buildRelay(ctx context.Context) error {
	m.buildDir = filepath.Join(m.home, "root-"+hashOf(m.location.root)[:12])
	m.more = m.xlaKernels(ctx)
	cells, long := cellEnvironment(KernelGo), "about 20 seconds"
	if isFile(m.relay()) {
		long = "a few seconds"
	}
	_, err := m.run(ctx, step{
		stamp: filepath.Join(m.buildDir, KernelGo, relayName+".json"), what: "building the notebook kernel", duration: long,
		inputs: append(append([]string{m.location.root, m.location.hash}, m.compiler()...), cells...),
		intact: func(map[string]string) bool { return isFile(m.relay()) },
		do: func(ctx context.Context) (map[string]string, error) {
			env := setEnv(m.goEnvironment(), setEnv(cells, "GOWORK=off")...)
			return nil, m.goBuild(ctx, m.location.root, env, filepath.Dir(m.relay()), relayPath)
		},
	})
	return err
}

func (m *machine) kernels() []string { return append([]string{KernelGo}, m.more...) }

// xlaKernels returns the kernels with XLA for which there is a plugin, and for CUDA a card. They
// are built with cgo: without a C compiler there are none, which is said once.
func (m *machine) xlaKernels(ctx context.Context) []string {
	var out []string
	if pjrtPlugin() != "" || downloadedPlugin(m.options.Home) != "" {
		out = append(out, KernelXLA)
	}
	if engine.InstalledPlugin(m.options.Home, "cuda") != "" && hasCard(ctx) {
		out = append(out, KernelCUDA)
	}
	if len(out) == 0 || m.hasCompiler() {
		return out
	}
	m.reporter.note("there is no kernel %s: it is built with a C compiler, and there is none on PATH: %s", displayName(out[len(out)-1]), compilerHint())
	return nil
}

// hasCompiler reports whether the go tool's C compiler is on PATH.
func (m *machine) hasCompiler() bool {
	name, _, _ := strings.Cut(cmp.Or(m.tool.env.CC, "gcc"), " ")
	_, err := exec.LookPath(name)
	return err == nil
}

// compilerHint says how to install a C compiler.
func compilerHint() string {
	for _, c := range [][2]string{{"apt-get", "gcc libc6-dev"}, {"dnf", "gcc"}, {"zypper", "gcc"}, {"apk", "gcc musl-dev"}} {
		if _, err := exec.LookPath(c[0]); err == nil {
			verb := " install "
			if c[0] == "apk" {
				verb = " add "
			}
			return "install it with: sudo " + c[0] + verb + c[1]
		}
	}
	return "install gcc"
}

// relay returns the path of the kernel program.
func (m *machine) relay() string { return filepath.Join(m.buildDir, KernelGo, "bin", relayName) }

// compiler returns the settings of the compiler, which decide the result of a build besides
// sources and flags.
func (m *machine) compiler() []string {
	e := m.tool.env
	return []string{e.GOVERSION, e.GOROOT, e.CGO_ENABLED, e.GOAMD64, e.CC}
}
