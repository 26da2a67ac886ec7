package setup

import (
	"context"
	"path/filepath"
)

// buildPrograms builds from the library's own sources what the kernel needs:
// the relay that Jupyter starts, and lethe with SIMD for long jobs.
func (m *machine) buildPrograms(ctx context.Context) error {
	m.own = filepath.Join(m.home, "root-"+hashOf(m.place.root)[:12])
	if err := m.buildOwn(ctx, KernelGo, relayPath, "building the notebook kernel", "about 20 seconds"); err != nil {
		return err
	}
	if err := m.buildOwn(ctx, KernelGo, Module, "building lethe for long jobs of the notebooks", "about a minute"); err != nil {
		if ctx.Err() != nil || m.look {
			return err
		}
		m.say.note("%v; cells work, but cannot start long jobs", err)
	}
	if m.xla = pjrtPlugin() != "" || gotPlugin(m.o.Home) != ""; !m.xla {
		return nil
	}
	if err := m.buildOwn(ctx, KernelXLA, Module, "building lethe with XLA for the notebooks", "about a minute"); err != nil {
		if ctx.Err() != nil || m.look {
			return err
		}
		m.say.note("%v; there is no kernel with XLA", err)
		m.xla = false
	}
	return nil
}

// buildOwn builds a program from the library with the flags of a kernel's cells.
func (m *machine) buildOwn(ctx context.Context, kernel, path, what, long string) error {
	cells, bin, name := cellEnvironment(kernel), filepath.Dir(m.program(kernel)), filepath.Base(path)
	if isFile(filepath.Join(bin, name)) {
		long = "a few seconds"
	}
	_, err := m.run(ctx, step{
		stamp: filepath.Join(m.own, kernel, name+".json"), what: what, long: long,
		inputs: append(append([]string{m.place.root, m.place.hash}, m.compiler()...), cells...),
		there:  func(map[string]string) bool { return isFile(filepath.Join(bin, name)) },
		do: func(ctx context.Context) (map[string]string, error) {
			env := setEnv(m.goEnvironment(), setEnv(cells, "GOWORK=off")...)
			return nil, m.goBuild(ctx, m.place.root, env, bin, path)
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

// program is the lethe that cells of the kernel start.
func (m *machine) program(kernel string) string {
	return filepath.Join(m.own, kernel, "bin", programName)
}

// relay is the program that Jupyter starts; it is the same for all kernels.
func (m *machine) relay() string { return filepath.Join(filepath.Dir(m.program(KernelGo)), relayName) }

// compiler is what decides, besides sources and flags, what is compiled.
func (m *machine) compiler() []string {
	e := m.tool.env
	return []string{e.GOVERSION, e.GOROOT, e.CGO_ENABLED, e.GOAMD64, e.CC}
}
