// Where the library and the notebooks are: in a clone, or installed.

package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/lethe-ml/lethe/kernel/internal/paths"
)

// location says where the library and the notebooks are.
type location struct {
	root      string // module that cells import from
	clone     bool
	version   string // of the library, where root is generated
	sum       string // of its module
	notebooks string
	hash      string // of the sources in root
}

// locate finds the clone that the folder is in, or else the version that this program was
// installed from.
func (m *machine) locate(context.Context) error {
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	for _, dir := range []string{m.options.Folder, cwd} {
		if root, err := paths.ModuleRoot(dir); err == nil {
			m.location = location{root: root, clone: true, notebooks: m.options.Folder}
			if dir == m.options.Folder {
				m.location.notebooks = filepath.Join(root, "notebooks")
			}
			m.location.hash, err = paths.HashSources(root)
			if strings.Contains(root, ",") {
				return fmt.Errorf("the clone's folder %q has a comma in its name, which the Go kernel cannot pass on: rename it", root)
			}
			return err
		}
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != Module || info.Main.Sum == "" {
		return fmt.Errorf("%s is not in a clone of Lethe, and this program was built from one: start it inside the clone, or install "+
			"a version that brings its own library: go install %s@latest", m.options.Folder, Module)
	}
	m.location = location{version: info.Main.Version, sum: info.Main.Sum, notebooks: m.options.Folder}
	m.location.hash = hashOf(info.Main.Version, info.Main.Sum)
	m.location.root = filepath.Join(m.home, "module-"+m.location.hash[:12])
	return nil
}
