// The tools of the kernel: gonb, goimports, gopls.

package setup

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
	"github.com/lethe-ml/lethe/lib/files"
)

// The module that pins the tools, separate from the library's module, so that their
// dependencies do not mix. For new versions, copy both files into an empty folder as
// go.mod and go.sum, change the versions, run go mod tidy, and copy them back.
var (
	//go:embed tools.mod
	toolsMod string
	//go:embed tools.sum
	toolsSum string
)

const (
	gonbPath      = "github.com/janpfeifer/gonb"
	goimportsPath = "golang.org/x/tools/cmd/goimports"
	goplsPath     = "golang.org/x/tools/gopls"
	relayPath     = Module + "/kernel/relay/lethe-kernel"
)

// Names of the programs.
const (
	gonbName      = "gonb"
	goimportsName = "goimports"
	goplsName     = "gopls"
	relayName     = "lethe-kernel"
)

func (m *machine) buildTools(ctx context.Context) error {
	inputs := []string{toolsMod, toolsSum, m.tool.env.GOVERSION}
	m.tools = filepath.Join(m.home, "tools-"+hashOf(inputs...)[:12])
	sets := []struct {
		what, long, stamp string
		paths             []string
	}{
		{"building gonb and goimports", "about 20 seconds", "gonb", []string{gonbPath, goimportsPath}},
		{"building gopls, which completes names (" + EnvCompletion + "=off does without)", "about a minute", "gopls", []string{goplsPath}},
	}
	if m.options.NoCompletion {
		sets = sets[:1]
	}
	for _, set := range sets {
		_, err := m.run(ctx, step{
			stamp: filepath.Join(m.tools, set.stamp+".json"), what: set.what, duration: set.long, inputs: append(inputs, set.paths...),
			intact: func(map[string]string) bool {
				return !slices.ContainsFunc(set.paths, func(p string) bool { return !isFile(filepath.Join(m.tools, "bin", filepath.Base(p))) })
			},
			do: func(ctx context.Context) (map[string]string, error) { return nil, m.buildTool(ctx, set.paths) },
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (m *machine) buildTool(ctx context.Context, paths []string) error {
	work, err := os.MkdirTemp(m.tools, files.TempPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := files.WriteTree(work, map[string]string{"go.mod": toolsMod, "go.sum": toolsSum}); err != nil {
		return err
	}
	if err := m.goBuild(ctx, work, m.goEnvironment(), filepath.Join(m.tools, "bin"), paths...); err != nil {
		return err
	}
	prune(m.tools, func(dir string) string { return filepath.Join(dir, "gonb.json") })
	return nil
}

// goBuild builds programs in a temporary folder and moves them to bin.
func (m *machine) goBuild(ctx context.Context, dir string, env []string, bin string, paths ...string) error {
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	made, err := os.MkdirTemp(filepath.Dir(bin), files.TempPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(made)
	argv := append([]string{m.tool.path, "build", "-v", "-o", made + string(os.PathSeparator)}, paths...)
	err = proc.Task{Dir: dir, Env: env, Line: m.goProgress(), Argv: argv}.Run(ctx)
	if err != nil {
		return buildError(paths, err)
	}
	for _, p := range paths {
		name := filepath.Base(p)
		if err := os.Rename(filepath.Join(made, name), filepath.Join(bin, name)); err != nil {
			return err
		}
	}
	return nil
}

// goProgress counts the lines that the go tool prints with -v.
func (m *machine) goProgress() func(string) {
	downloaded, compiled := 0, 0
	return func(line string) {
		switch {
		case strings.HasPrefix(line, "go: downloading"):
			downloaded++
		case strings.HasPrefix(line, "#"), strings.Contains(line, " "):
			return
		default:
			compiled++
		}
		text := formatCount(compiled, "package", "compiled")
		if downloaded > 0 {
			text = formatCount(downloaded, "module", "downloaded") + ", " + text
		}
		m.reporter.progress("%s", text)
	}
}

func formatCount(n int, what, done string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s %s", n, what, done)
}

// buildError explains what could not be built and, if the network is the reason, what to
// do.
func buildError(paths []string, err error) error {
	var failed *proc.Failure
	if !errors.As(err, &failed) {
		return err
	}
	var names []string
	for _, p := range paths {
		names = append(names, filepath.Base(p))
	}
	what := strings.Join(names, " and ")
	line := failed.LineWith("dial tcp", "no such host", "i/o timeout", "module lookup disabled", "connection refused", "403 Forbidden", "502 Bad",
		"503 Service", "TLS handshake", "network is unreachable")
	if line != "" {
		return fmt.Errorf("%s cannot be built, because a Go module cannot be downloaded: connect this machine to the network, or set "+
			"GOPROXY to a module mirror that it can reach, and start this again; all that is done stays done (%s)", what, line)
	}
	return fmt.Errorf("%s cannot be built: %s", what, failed.Message())
}
