package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lethe-ml/lethe/kernel/internal/onestep"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// generated is the only Go file of a generated module. It keeps the packages
// that cells import among the module's dependencies.
const generated = `// Package notebooks is the module that notebook cells import from. It was made
// by lethe and is made again when it is lost.
package notebooks

import _ "` + Module + `/kernel/setup/warm"
`

// generate makes the module that cells import from where there is no clone: it
// requires the library at the version of this program, and everything else at
// the versions that the library was tested with.
func (m *machine) generate(ctx context.Context) error {
	if m.place.clone {
		return nil
	}
	root := m.place.root
	_, err := m.run(ctx, step{
		stamp: root + ".json", what: "fetching the library " + m.place.version, long: "about 10 seconds",
		inputs: []string{m.place.version, m.place.sum, generated},
		there:  func(map[string]string) bool { return isFile(filepath.Join(root, "go.sum")) },
		do:     func(ctx context.Context) (map[string]string, error) { return nil, m.makeModule(ctx, root) },
	})
	return err
}

// download is what the go tool says about a module.
type download struct {
	Dir, GoMod, Sum, GoModSum, Error string
}

func (m *machine) makeModule(ctx context.Context, root string) error {
	work, err := os.MkdirTemp(m.home, onestep.Prefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	lib := module.Version{Path: Module, Version: m.place.version}
	if err := os.WriteFile(filepath.Join(work, "go.mod"), []byte("module download\n"), 0o644); err != nil { // or the go tool looks for one above
		return err
	}
	out, err := task{dir: work, env: m.goEnvironment(), argv: []string{m.tool.path, "mod", "download", "-json", lib.String()}}.output(ctx)
	var d download
	if bad := json.Unmarshal([]byte(out), &d); err == nil {
		err = bad
	}
	if err != nil {
		return fmt.Errorf("the library %s cannot be fetched: connect this machine to the network, or set GOPROXY to a module mirror "+
			"that it can reach, and start this again (%w)", lib, err)
	}
	if d.Sum != m.place.sum {
		return fmt.Errorf("the library %s that the module mirror has (%s) is not the one that this program was built from (%s): "+
			"install the program again", lib, d.Sum, m.place.sum)
	}
	files, err := moduleFiles(lib, d)
	if err != nil {
		return fmt.Errorf("the library %s: %w", lib, err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(work, name), content, 0o644); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(root); err != nil {
		return err
	}
	return os.Rename(work, root)
}

// moduleFiles makes a module out of the library's go.mod and go.sum.
func moduleFiles(lib module.Version, d download) (map[string][]byte, error) {
	content, err := os.ReadFile(d.GoMod)
	if err != nil {
		return nil, err
	}
	theirs, err := modfile.ParseLax(d.GoMod, content, nil)
	if err != nil {
		return nil, err
	}
	sums, err := os.ReadFile(filepath.Join(d.Dir, "go.sum"))
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
	var gosum bytes.Buffer
	gosum.Write(sums)
	fmt.Fprintf(&gosum, "%s %s %s\n%s %s/go.mod %s\n", lib.Path, lib.Version, d.Sum, lib.Path, lib.Version, d.GoModSum)
	return map[string][]byte{"go.mod": gomod, "go.sum": gosum.Bytes(), "notebooks.go": []byte(generated)}, nil
}
