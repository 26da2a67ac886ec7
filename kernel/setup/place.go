package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/lethe-ml/lethe/kernel/internal/where"
)

// place is where the library and the notebooks are.
type place struct {
	root      string // module that cells import from
	clone     bool
	version   string // of the library, where root is generated
	sum       string // of its module
	notebooks string
	hash      string // of the sources in root
}

// locate finds the clone that the folder is in, or else the version that this
// program was installed from.
func (m *machine) locate(context.Context) error {
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	for _, dir := range []string{m.o.Folder, cwd} {
		if root, err := where.Root(dir); err == nil {
			m.place = place{root: root, clone: true, notebooks: m.o.Folder}
			if dir == m.o.Folder {
				m.place.notebooks = filepath.Join(root, "notebooks")
			}
			m.place.hash, err = where.Hash(root)
			if strings.Contains(root, ",") {
				return fmt.Errorf("the clone's folder %q has a comma in its name, which the Go kernel cannot pass on: rename it", root)
			}
			return err
		}
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != Module || info.Main.Sum == "" {
		return fmt.Errorf("%s is not in a clone of Lethe, and this program was built from one: start it inside the clone, or install "+
			"a version that brings its own library: go install %s@latest", m.o.Folder, Module)
	}
	m.place = place{version: info.Main.Version, sum: info.Main.Sum, notebooks: m.o.Folder}
	m.place.hash = hashOf(info.Main.Version, info.Main.Sum)
	m.place.root = filepath.Join(m.home, "module-"+m.place.hash[:12])
	return nil
}
