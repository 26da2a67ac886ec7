// The go tool: finding it, and the environments of its builds.

package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
	"github.com/lethe-ml/lethe/lib/files"

	"golang.org/x/mod/modfile"
)

// goTool is the go tool with its settings.
type goTool struct {
	path string // on PATH
	bin  string // folder of the go tool that builds: with GOTOOLCHAIN it can be another one
	env  goEnv
}

type goEnv struct {
	GOVERSION, GOROOT, GOCACHE, GOMODCACHE, CGO_ENABLED, GOAMD64, CC string
}

// findGo finds a go tool that can build the library. The user must have installed one.
func (m *machine) findGo(ctx context.Context) error {
	path, err := exec.LookPath("go")
	if err != nil {
		return fmt.Errorf("there is no go tool on PATH: install Go %s or newer from https://go.dev/dl/, then start this again", oldestGo())
	}
	m.tool.path = path
	if err := m.generate(ctx); err != nil {
		return err
	}
	argv := []string{path, "env", "-json", "GOVERSION", "GOROOT", "GOCACHE", "GOMODCACHE", "CGO_ENABLED", "GOAMD64", "CC"}
	out, err := proc.Task{Dir: m.location.root, Env: m.goEnvironment(), Argv: argv}.Output(ctx)
	if err != nil {
		return goToolError(path, m.location.root, err)
	}
	if err := json.Unmarshal([]byte(out), &m.tool.env); err != nil {
		return fmt.Errorf("the go tool %s does not say what it is: %w", path, err)
	}
	m.tool.bin = filepath.Join(m.tool.env.GOROOT, "bin")
	return nil
}

// oldestGo returns the Go version that this program was built with, which certainly can
// build it.
func oldestGo() string { return strings.TrimPrefix(strings.Fields(runtime.Version())[0], "go") }

// goToolError explains why the go tool failed.
func goToolError(path, root string, err error) error {
	var failed *proc.Failure
	if !errors.As(err, &failed) {
		return err
	}
	says := failed.Message()
	if !strings.Contains(says, "requires go") {
		return fmt.Errorf("the go tool %s does not work: %s", path, says)
	}
	return fmt.Errorf("the go tool %s is too old, the library needs Go %s: install it from https://go.dev/dl/, or let the go tool "+
		"get it itself (go env -u GOTOOLCHAIN) (%s)",
		path, goVersionOf(root), says)
}

// goVersionOf returns the version that root's go.mod requires.
func goVersionOf(root string) string {
	b, err := files.Read(filepath.Join(root, "go.mod"), maxFile)
	if err != nil {
		return oldestGo()
	}
	f, err := modfile.ParseLax("go.mod", b, nil)
	if err != nil || f.Go == nil {
		return oldestGo()
	}
	return f.Go.Version
}

// goEnvironment returns the user's environment without settings that would change a build.
func (m *machine) goEnvironment() []string {
	return setEnv(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false", "GOEXPERIMENT=", "GO111MODULE=")
}

// cellEnvironment returns the variables that decide how a kernel compiles cells. The
// kernelspec holds the same.
func cellEnvironment(kernel string) []string {
	// Without cgo, which only XLA needs, a cell links faster.
	tags, backend, cgo := "noxla", "go", "0"
	if kernel != KernelGo {
		tags, backend, cgo = "xla", "xla", "1"
	}
	return []string{"GOFLAGS=-buildvcs=false -tags=" + tags + " -ldflags=-s", "GOMLX_BACKEND=" + backend, "CGO_ENABLED=" + cgo, "GOEXPERIMENT=",
		"GOWORK=", "GO111MODULE="}
}

// setEnv returns env with the variables set. Of duplicates a program sees the last.
func setEnv(env []string, set ...string) []string { return slices.Concat(env, set) }

func unsetEnv(env []string, names ...string) []string {
	for i := range names {
		names[i] += "="
	}
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(kv, n) })
	})
}
