// Building the kernel program.

package setup

import (
	"context"
	"path/filepath"
)

// buildRelay builds the kernel program from the library's sources, with the flags of cells.
// All kernels share it.
func (m *machine) buildRelay(ctx context.Context) error {
	m.buildDir = filepath.Join(m.home, "root-"+hashOf(m.location.root)[:12])
	m.xla = pjrtPlugin() != "" || downloadedPlugin(m.options.Home) != ""
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

func (m *machine) kernels() []string {
	if m.xla {
		return []string{KernelGo, KernelXLA}
	}
	return []string{KernelGo}
}

// relay returns the path of the kernel program.
func (m *machine) relay() string { return filepath.Join(m.buildDir, KernelGo, "bin", relayName) }

// compiler returns the settings of the compiler, which decide the result of a build besides
// sources and flags.
func (m *machine) compiler() []string {
	e := m.tool.env
	return []string{e.GOVERSION, e.GOROOT, e.CGO_ENABLED, e.GOAMD64, e.CC}
}
