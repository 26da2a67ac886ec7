package setup

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"golang.org/x/mod/modfile"
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
		if root, ok := cloneAbove(dir); ok {
			m.place = place{root: root, clone: true, notebooks: m.o.Folder}
			if dir == m.o.Folder {
				m.place.notebooks = firstFolder(filepath.Join(root, "notebooks"), root)
			}
			m.place.hash, err = sourceHash(root)
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

func firstFolder(dirs ...string) string {
	for _, dir := range dirs[:len(dirs)-1] {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return dirs[len(dirs)-1]
}

// cloneAbove walks up to the folder of the library's own module.
func cloneAbove(dir string) (string, bool) {
	for {
		if b, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && modfile.ModulePath(b) == Module {
			if info, err := os.Stat(filepath.Join(dir, "lib")); err == nil && info.IsDir() {
				return dir, true
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		dir = up
	}
}

// sourceHash covers what cells and our programs are compiled from: go.mod,
// go.sum, all Go files, and what may be embedded beside them in the rooms of
// the library. Notebooks change whenever somebody runs them and are left out,
// and so are tests, test data and hidden folders.
func sourceHash(root string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // somebody's temporary file that is gone again
			return nil
		}
		if err != nil || path == root {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name[0] == '.' || name[0] == '_' || name == "testdata" || name == "out" {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || !d.Type().IsRegular() || !isSource(filepath.ToSlash(rel)) {
			return err
		}
		return hashInto(h, path, filepath.ToSlash(rel))
	})
	if err != nil {
		return "", fmt.Errorf("reading the sources: %w", err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:24], nil
}

func isSource(rel string) bool {
	if strings.HasSuffix(rel, "_test.go") {
		return false
	}
	if strings.HasSuffix(rel, ".go") || rel == "go.mod" || rel == "go.sum" {
		return true
	}
	room, _, _ := strings.Cut(rel, "/")
	return room == "lib" || room == "kernel" || room == "datasets"
}

func hashInto(w io.Writer, path, name string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Fprintf(w, "\n%q\n", name)
	_, err = io.Copy(w, f)
	return err
}
