package setup

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/lethe-ml/lethe/kernel/internal/onestep"
)

// warmProgram is what is compiled to warm the build cache up.
const warmProgram = `package main

import _ "` + Module + `/kernel/setup/warm"

func main() {}
`

// warm compiles what cells import with the flags of cells, and in a workspace
// like the one that a kernel makes, so that afterwards everything a cell needs
// is on this machine.
func (m *machine) warm(ctx context.Context) error {
	for _, kernel := range m.kernels() {
		cells := cellEnvironment(kernel)
		inputs := append(append([]string{m.place.root, m.place.hash, m.tool.env.GOCACHE, m.tool.env.GOMODCACHE, warmProgram}, m.compiler()...), cells...)
		path, long := filepath.Join(m.own, kernel, "warm.json"), "about a minute"
		if old, ok := readStamp(path); ok && stillWarm(old.Values) {
			long = "a few seconds"
		}
		_, err := m.run(ctx, step{
			stamp: path, what: "compiling the library for the notebooks, so that cells start fast", long: long,
			inputs: inputs, there: stillWarm,
			do: func(ctx context.Context) (map[string]string, error) { return m.compileWorkspace(ctx, kernel) },
		})
		if err != nil && (kernel == KernelGo || ctx.Err() != nil || m.look) {
			return err
		}
		if err != nil {
			m.say.note("%v; there is no kernel with XLA", err)
			m.xla = false
		}
	}
	return nil
}

// stillWarm looks for one file of the build cache, which the go tool empties of
// what was not used for some days.
func stillWarm(values map[string]string) bool { return isFile(values["object"]) }

func (m *machine) compileWorkspace(ctx context.Context, kernel string) (map[string]string, error) {
	work, err := os.MkdirTemp(filepath.Join(m.own, kernel), onestep.Prefix)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	version := goVersionOf(m.place.root)
	files := map[string]string{
		"go.mod":  "module warm\n\ngo " + version + "\n",
		"go.work": "go " + version + "\n\nuse (\n\t.\n\t" + m.place.root + "\n)\n",
		"main.go": warmProgram,
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(work, name), []byte(content), 0o644); err != nil {
			return nil, err
		}
	}
	env := setEnv(m.goEnvironment(), cellEnvironment(kernel)...)
	_, err = task{dir: work, env: env, line: m.goProgress(), argv: []string{m.tool.path, "build", "-v", "-o", filepath.Join(work, "warm"), "."}}.run(ctx)
	if err != nil {
		return nil, buildError([]string{"the library for " + displayName(kernel)}, err)
	}
	object, err := task{dir: work, env: env, argv: []string{m.tool.path, "list", "-export", "-f", "{{.Export}}", Module + "/lib/engine"}}.output(ctx)
	return map[string]string{"object": strings.TrimSpace(object)}, err
}
