package where

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/lethe-ml/lethe"

// Root is the folder of the library's module that one of the folders lies in.
func Root(from ...string) (string, error) {
	for _, dir := range from {
		for filepath.IsAbs(dir) {
			if b, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
				if isModule(b) {
					return dir, nil
				}
				break
			}
			up := filepath.Dir(dir)
			if up == dir {
				break
			}
			dir = up
		}
	}
	return "", errors.New("its sources are not on this machine any more")
}

func isModule(gomod []byte) bool {
	for line := range bytes.Lines(gomod) {
		if f := strings.Fields(string(line)); len(f) > 1 && f[0] == "module" {
			return strings.Trim(f[1], `"`) == module
		}
	}
	return false
}

// Hash is the hash of what programs of the module, and cells of notebooks, are
// built from in root.
func Hash(root string) (string, error) {
	h := sha256.New()
	if err := hashTree(h, root); err != nil {
		return "", fmt.Errorf("reading the sources: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil))[:24], nil
}

// hashTree hashes what a build of the module's root package can read: go.mod,
// go.sum and Go files at the root, and all files in and below folders with Go
// files, because those may be embedded. Tests, test data and hidden folders are
// left out.
func hashTree(h hash.Hash, root string) error {
	files, err := sources(root)
	if err != nil {
		return err
	}
	for _, name := range files {
		err := hashFile(h, root, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // that would be somebody's temporary file, gone again
			return err
		}
	}
	return nil
}

func hashFile(h hash.Hash, root, name string) error {
	f, err := os.Open(filepath.Join(root, name))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	fmt.Fprintf(h, "%q %d\n", filepath.ToSlash(name), info.Size())
	_, err = io.Copy(h, f)
	return err
}

// sources lists the files that hashTree covers, sorted, relative to root.
func sources(root string) ([]string, error) {
	var out []string
	packages := map[string]bool{} // folders with a Go file in them or above them
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != root {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || rel == "." {
			return err
		}
		name, dir := d.Name(), filepath.Dir(rel)
		if d.IsDir() {
			if name[0] == '.' || name[0] == '_' || name == "testdata" {
				return fs.SkipDir
			}
			if packages[rel], err = holdsGo(path); err != nil {
				return err
			}
			packages[rel] = packages[rel] || packages[dir]
			return nil
		}
		atRoot := dir == "." && (name == "go.mod" || name == "go.sum" || strings.HasSuffix(name, ".go"))
		if d.Type().IsRegular() && !strings.HasSuffix(name, "_test.go") && !isNotebook(rel) && (atRoot || packages[dir]) {
			out = append(out, rel)
		}
		return nil
	})
	slices.Sort(out)
	return out, err
}

func isNotebook(rel string) bool {
	return strings.HasSuffix(rel, ".ipynb") && strings.HasPrefix(filepath.ToSlash(rel), "notebooks/")
}

func holdsGo(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), ".go") }), err
}
