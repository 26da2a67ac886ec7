// Filling gopls's cache in advance, so that the very first Tab is answered fast.

package setup

import (
	"context"
	"os"
	"path/filepath"

	"github.com/lethe-ml/lethe/kernel/internal/gopls"
	"github.com/lethe-ml/lethe/lib/files"
)

// completionPackages are the packages that most notebooks import. What they need is nearly
// all that gopls reads.
var completionPackages = []string{
	Module + "/lib/lab", Module + "/lib/nb", Module + "/lib/audit", Module + "/lib/unlearn", Module + "/lib/train",
	Module + "/lib/plot", Module + "/lib/report",
	"github.com/gomlx/gomlx/core/graph",
}

// warmCompletion lets gopls read the library once. Completion works without it, later the
// first time, so that an error is no reason to stop; it is tried again next time.
func (m *machine) warmCompletion(ctx context.Context) error {
	program := filepath.Join(m.tools, "bin", goplsName)
	if m.options.NoCompletion || m.inspectOnly || !isExecutable(program) {
		return nil
	}
	inputs := append([]string{m.location.root, m.tools, m.tool.env.GOVERSION, m.tool.env.GOMODCACHE}, cellEnvironment(KernelGo)...)
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := files.Read(filepath.Join(m.location.root, name), maxFile)
		if err != nil && !os.IsNotExist(err) {
			return nil
		}
		inputs = append(inputs, string(content))
	}
	_, _ = m.run(ctx, step{
		stamp: filepath.Join(m.buildDir, KernelGo, "completion.json"), what: "reading the library for completion", duration: "about 10 seconds",
		inputs: inputs, intact: func(map[string]string) bool { return isFolder(m.goplsCache()) },
		do: func(ctx context.Context) (map[string]string, error) { return nil, m.fillGoplsCache(ctx, program) },
	})
	return ctx.Err()
}

func (m *machine) fillGoplsCache(ctx context.Context, program string) error {
	work, err := os.MkdirTemp(m.buildDir, files.TempPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	env := setEnv(os.Environ(), m.kernelEnvironment(KernelGo)...)
	return gopls.Warm(ctx, program, m.location.root, work, env, completionPackages, nil)
}

// goplsCache is the folder in which gopls keeps what it has read.
func (m *machine) goplsCache() string { return filepath.Join(m.home, "gopls-cache") }

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
