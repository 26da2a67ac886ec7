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

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// location says where the library and the notebooks are.
type location struct {
	root      string // module that cells import from
	clone     bool   // root is a clone
	inside    bool   // the folder of the notebooks or the working directory is in root, which is a clone
	version   string // of the library, where root is generated
	sum       string // of its module, where go install has built this program
	notebooks string // folder that JupyterLab opens
	unpacked  string // folder that the notebooks were unpacked into; empty: none
	hash      string // of the sources in root
}

// locate finds the clone that cells import from: the one that is named, or the one that the
// folder or the working directory is in. Without a clone it is the library at the version of
// this program.
func (m *machine) locate(context.Context) error {
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	around := ""
	for _, dir := range []string{m.options.Folder, cwd} {
		if around, err = paths.ModuleRoot(dir); err == nil {
			break
		}
	}
	root := around
	if dir := m.options.Module; dir != "" {
		if root, err = paths.ModuleRoot(dir); err != nil {
			return fmt.Errorf("--module %s: expected a clone of Lethe, a folder whose go.mod begins with: module %s", dir, Module)
		}
	}
	if root != "" {
		return m.useClone(root, root == around)
	}
	return m.useInstalled()
}

func (m *machine) useClone(root string, inside bool) (err error) {
	if strings.Contains(root, ",") {
		return fmt.Errorf("the clone's folder %q has a comma in its name, which the Go kernel cannot pass on: rename it", root)
	}
	m.location = location{root: root, clone: true, inside: inside, notebooks: m.options.Folder}
	if inside && (!m.named || m.options.Folder == root) {
		m.location.notebooks = filepath.Join(root, "notebooks")
	}
	m.location.hash, err = paths.HashSources(root)
	return err
}

// useInstalled takes the library at the version of this program, which the go tool fetches.
func (m *machine) useInstalled() error {
	if !m.built.fetchable() {
		return fmt.Errorf("%s is not in a clone of Lethe, and %s: start it inside a clone, name a clone with --module DIR, or install "+
			"a version that brings its own library: go install %s@latest", m.options.Folder, m.built.whyNot(), Module)
	}
	m.location = location{version: m.built.version, sum: m.built.sum, notebooks: m.options.Folder}
	m.location.hash = hashOf(m.built.version, m.built.sum)
	m.location.root = filepath.Join(m.home, "module-"+m.location.hash[:12])
	return nil
}

// build says what a program was built from.
type build struct {
	path    string // of its module
	version string // "v1.2.3"; "(devel)" if the go tool knew none
	sum     string // of the module's content; empty in a program that was built in a clone, such as that of a release
}

// thisBuild returns what this program was built from. It is zero if that is not known.
func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return build{}
	}
	return build{info.Main.Path, info.Main.Version, info.Main.Sum}
}

// fetchable reports whether the go tool can fetch the library at this version: it is that of
// a commit, without changes.
func (b build) fetchable() bool {
	return b.path == Module && semver.IsValid(b.version) && module.CanonicalVersion(b.version) == b.version
}

// whyNot says why a build is not fetchable.
func (b build) whyNot() string {
	if b.path == Module && strings.HasSuffix(b.version, "+dirty") {
		return "this program was built from one with changes (" + b.version + "), whose library cannot be fetched"
	}
	return "this program was built from one and has no version, so that its library cannot be fetched"
}
