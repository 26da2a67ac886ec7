// The generated module that cells import from outside a clone.

package setup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
	"github.com/lethe-ml/lethe/lib/files"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// generated is the only Go file of a generated module.
const generated = `// Package notebooks is the module that notebook cells import from. It was made
// by lethe and is made again when it is lost.
package notebooks
`

// generate makes the module that cells import from outside a clone. It requires the library
// at this program's version, and the other modules at the versions of the library's go.mod.
func (m *machine) generate(ctx context.Context) error {
	if m.location.clone {
		return nil
	}
	root := m.location.root
	_, err := m.run(ctx, step{
		stamp: root + ".json", what: "fetching the library " + m.location.version, duration: "about 10 seconds",
		inputs: []string{m.location.version, m.location.sum, generated},
		intact: func(map[string]string) bool { return isFile(filepath.Join(root, "go.sum")) },
		do: func(ctx context.Context) (map[string]string, error) {
			return nil, files.WriteFolder(root, func(work string) error { return m.makeModule(ctx, work) })
		},
	})
	return err
}

// download is what the go tool says about a module that it was to fetch.
type download struct {
	Dir, GoMod, Sum, GoModSum, Error string
}

func (m *machine) makeModule(ctx context.Context, work string) error {
	lib := module.Version{Path: Module, Version: m.location.version}
	if err := os.WriteFile(filepath.Join(work, "go.mod"), []byte("module download\n"), 0o644); err != nil { // otherwise the go tool looks in the parent folders
		return err
	}
	argv := []string{m.tool.path, "mod", "download", "-json", lib.String()}
	out, err := proc.Task{Dir: work, Env: m.goEnvironment(), Argv: argv}.Output(ctx)
	var d download
	if bad := json.Unmarshal([]byte(out), &d); err == nil {
		err = bad
	}
	if err != nil {
		return fmt.Errorf("the library %s cannot be fetched: connect this machine to the network, or set GOPROXY to a module mirror "+
			"that it can reach, and start this again; a clone of Lethe needs no library from elsewhere: --module DIR names it (%s)",
			lib, downloadProblem(d, err))
	}
	if m.location.sum != "" && d.Sum != m.location.sum {
		return fmt.Errorf("the library %s that the module mirror has (%s) is not the one that this program was built from (%s): "+
			"install the program again", lib, d.Sum, m.location.sum)
	}
	tree, err := moduleFiles(lib, d)
	if err != nil {
		return fmt.Errorf("the library %s: %w", lib, err)
	}
	return files.WriteTree(work, tree)
}

// downloadProblem returns the go tool's reason in one line: what it says of the module, or
// what it printed.
func downloadProblem(d download, err error) string {
	var failed *proc.Failure
	reason := cmp.Or(d.Error, err.Error())
	if d.Error == "" && errors.As(err, &failed) {
		reason = failed.Message()
	}
	return strings.Join(strings.Fields(reason), " ")
}

// moduleFiles makes the files of the module from the library's go.mod and go.sum.
func moduleFiles(lib module.Version, d download) (map[string]string, error) {
	content, err := files.Read(d.GoMod, maxFile)
	if err != nil {
		return nil, err
	}
	theirs, err := modfile.ParseLax(d.GoMod, content, nil)
	if err != nil {
		return nil, err
	}
	sums, err := files.Read(filepath.Join(d.Dir, "go.sum"), maxFile)
	if err != nil {
		return nil, err
	}
	ours := new(modfile.File)
	if err := ours.AddModuleStmt("lethe-notebooks"); err != nil {
		return nil, err
	}
	if theirs.Go != nil {
		if err := ours.AddGoStmt(theirs.Go.Version); err != nil {
			return nil, err
		}
	}
	ours.AddNewRequire(lib.Path, lib.Version, false)
	for _, r := range theirs.Require {
		ours.AddNewRequire(r.Mod.Path, r.Mod.Version, true)
	}
	ours.Cleanup()
	gomod, err := ours.Format()
	if err != nil {
		return nil, err
	}
	gosum := string(sums) + fmt.Sprintf("%s %s %s\n%s %s/go.mod %s\n", lib.Path, lib.Version, d.Sum, lib.Path, lib.Version, d.GoModSum)
	return map[string]string{"go.mod": string(gomod), "go.sum": gosum, "notebooks.go": generated}, nil
}
