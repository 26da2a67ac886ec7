// Compiling the library in advance, so that cells start fast.

package setup

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
	"github.com/lethe-ml/lethe/lib/files"
)

// cellPackages are the packages that cells may import: the whole library, and useful
// others. They are compiled in advance, and their modules are on the machine before it goes
// offline.
var cellPackages = strings.Fields(`
	bufio bytes cmp context encoding/csv encoding/json errors flag fmt image image/color image/png io iter log maps
	math math/big math/bits math/cmplx math/rand math/rand/v2 os os/exec os/signal path/filepath regexp runtime
	runtime/debug slices sort strconv strings sync sync/atomic text/tabwriter time unicode
	` + Module + `/lib/... ` + Module + `/datasets/...
	github.com/gomlx/compute github.com/gomlx/compute/dtypes github.com/gomlx/compute/shapes
	github.com/gomlx/gomlx/core/graph github.com/gomlx/gomlx/core/tensors
	` + gonbPath + `/gonbui ` + gonbPath + `/gonbui/dom ` + gonbPath + `/gonbui/widgets
	gonum.org/v1/gonum/floats gonum.org/v1/gonum/mat gonum.org/v1/gonum/stat gonum.org/v1/gonum/stat/distuv
	gonum.org/v1/plot gonum.org/v1/plot/plotter gonum.org/v1/plot/vg`)

// warm compiles cellPackages with the flags of cells, in a workspace like that of a kernel.
func (m *machine) warm(ctx context.Context) error {
	for _, kernel := range m.kernels() {
		cells := cellEnvironment(kernel)
		inputs := append(append([]string{m.location.root, m.location.hash, m.tool.env.GOCACHE, m.tool.env.GOMODCACHE}, m.compiler()...), cells...)
		inputs = append(inputs, cellPackages...)
		path, long := filepath.Join(m.buildDir, kernel, "warm.json"), "about a minute"
		if old, ok := readStamp(path); ok && isWarm(old.Values) {
			long = "a few seconds"
		}
		_, err := m.run(ctx, step{
			stamp: path, what: "compiling the library for the notebooks, so that cells start fast", duration: long,
			inputs: inputs, intact: isWarm,
			do: func(ctx context.Context) (map[string]string, error) { return m.compileWorkspace(ctx, kernel) },
		})
		if err != nil && (kernel == KernelGo || ctx.Err() != nil || m.inspectOnly) {
			return err
		}
		if err != nil {
			m.reporter.note("%v; there is no kernel with XLA", err)
			m.more = slices.DeleteFunc(slices.Clone(m.more), func(k string) bool { return k == kernel })
		}
	}
	return nil
}

// isWarm checks for one file of the build cache, from which the go tool deletes what was
// not used for some days.
func isWarm(values map[string]string) bool { return isFile(values["object"]) }

func (m *machine) compileWorkspace(ctx context.Context, kernel string) (map[string]string, error) {
	work, err := os.MkdirTemp(filepath.Join(m.buildDir, kernel), files.TempPrefix)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	version := goVersionOf(m.location.root)
	tree := map[string]string{
		"go.mod":  "module warm\n\ngo " + version + "\n",
		"go.work": "go " + version + "\n\nuse (\n\t.\n\t" + m.location.root + "\n)\n",
	}
	if err := files.WriteTree(work, tree); err != nil {
		return nil, err
	}
	env := setEnv(m.goEnvironment(), cellEnvironment(kernel)...)
	argv := append([]string{m.tool.path, "build", "-v", "-o", work + "/"}, cellPackages...)
	err = proc.Task{Dir: work, Env: env, Line: m.goProgress(), Argv: argv}.Run(ctx)
	if err != nil {
		return nil, buildError([]string{"the library for " + displayName(kernel)}, err)
	}
	argv = []string{m.tool.path, "list", "-export", "-f", "{{.Export}}", Module + "/lib/engine"}
	object, err := proc.Task{Dir: work, Env: env, Argv: argv}.Output(ctx)
	return map[string]string{"object": strings.TrimSpace(object)}, err
}
