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

// goTool is the go tool and what it says about itself.
type goTool struct {
	path string // on PATH
	bin  string // folder of the go tool that builds: with GOTOOLCHAIN it can be another one
	env  goEnv
}

type goEnv struct {
	GOVERSION, GOROOT, GOCACHE, GOMODCACHE, CGO_ENABLED, GOAMD64, CC string
}

// findGo checks the precondition that nobody else can bring: a go tool that can
// build the library.
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

// oldestGo is the Go version that this program was built with, and so one that
// certainly can build it.
func oldestGo() string { return strings.TrimPrefix(strings.Fields(runtime.Version())[0], "go") }

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

// goVersionOf is the version that root's go.mod asks for.
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

// goEnvironment is that of the user without what would change a build behind
// our back.
func (m *machine) goEnvironment() []string {
	return setEnv(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false", "GOEXPERIMENT=", "GO111MODULE=")
}

// cellEnvironment is what decides how a cell of the kernel is compiled. The
// same words stand in the kernelspec.
func cellEnvironment(kernel string) []string {
	// Without cgo, which only XLA needs, a cell links a tenth faster.
	tags, backend, cgo := "noxla", "go", "0"
	if kernel == KernelXLA {
		tags, backend, cgo = "xla", "xla", "1"
	}
	return []string{"GOFLAGS=-buildvcs=false -tags=" + tags + " -ldflags=-s", "GOMLX_BACKEND=" + backend, "CGO_ENABLED=" + cgo, "GOEXPERIMENT=",
		"GOWORK=", "GO111MODULE="}
}

// setEnv returns env with the variables set: of those that are there twice a
// program gets the last.
func setEnv(env []string, set ...string) []string { return slices.Concat(env, set) }

func unsetEnv(env []string, names ...string) []string {
	for i := range names {
		names[i] += "="
	}
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(kv, n) })
	})
}
