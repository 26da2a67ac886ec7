// The library's sources: their folder and their hash.

package paths

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/sumdb/dirhash"

	"github.com/lethe-ml/lethe/lib/files"
)

// Module is the path of the library's module.
const Module = "github.com/lethe-ml/lethe"

// maxFile bounds a go.mod.
const maxFile = 1 << 26

// ModuleRoot returns the folder of the library's module that contains dir.
func ModuleRoot(dir string) (string, error) {
	for filepath.IsAbs(dir) {
		b, err := files.Read(filepath.Join(dir, "go.mod"), maxFile)
		up := filepath.Dir(dir)
		switch {
		case err == nil && modfile.ModulePath(b) == Module:
			return dir, nil
		case err == nil || up == dir:
			dir = ""
		default:
			dir = up
		}
	}
	return "", errors.New("its sources are no longer on this machine")
}

// HashSources returns a hash of the sources below root from which programs of the module,
// and notebook cells, are built.
func HashSources(root string) (string, error) {
	names, err := listSources(root)
	if err == nil {
		var hash string
		hash, err = dirhash.Hash1(names, func(name string) (io.ReadCloser, error) {
			f, err := files.Open(filepath.Join(root, name))
			if errors.Is(err, fs.ErrNotExist) { // a temporary file that is gone again
				return io.NopCloser(strings.NewReader("")), nil
			}
			return f, err
		})
		if err == nil {
			return hash, nil
		}
	}
	return "", fmt.Errorf("reading the sources: %w", err)
}

// listSources returns the files, relative to root, that a build can read: go.mod, go.sum
// and Go files at the root, and all files below folders with Go files, because they may be
// embedded. Tests, test data and hidden folders are left out.
func listSources(root string) ([]string, error) {
	var out []string
	packages := map[string]bool{} // folders with a Go file in them or above them
	files := os.DirFS(root)
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if path == "." || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		name, dir := d.Name(), filepath.Dir(path)
		switch {
		case err != nil:
			return nil // gone again
		case d.IsDir() && (name[0] == '.' || name[0] == '_' || name == "testdata"):
			return fs.SkipDir
		case d.IsDir():
			inside, err := fs.ReadDir(files, path)
			packages[path] = packages[dir] || slices.ContainsFunc(inside, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), ".go") })
			return err
		}
		atRoot := dir == "." && (name == "go.mod" || name == "go.sum" || strings.HasSuffix(name, ".go"))
		if d.Type().IsRegular() && !strings.HasSuffix(name, "_test.go") && !isNotebook(path) && (atRoot || packages[dir]) {
			out = append(out, path)
		}
		return nil
	})
	return out, err
}

func isNotebook(path string) bool {
	return strings.HasSuffix(path, ".ipynb") && strings.HasPrefix(path, "notebooks/")
}
