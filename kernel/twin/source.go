package twin

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
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

const module = "github.com/lethe-ml/lethe"

// source is what a program was built from.
type source struct {
	root    string // folder of the module; empty where version says it
	version string // of the installed module
	hash    string // of everything that decides what the twin is
	tags    string
	experi  string // GOEXPERIMENT of the twin
	cgo     string
	fixed   bool // hash covers all sources; otherwise the twin is always built anew
}

// locate finds out what this program was built from: a module version that the
// go tool has downloaded, or a checkout.
func locate(info *debug.BuildInfo, exe string) (source, error) {
	s := source{fixed: true}
	settings := map[string]string{}
	for _, kv := range info.Settings {
		settings[kv.Key] = kv.Value
	}
	s.tags, s.cgo, s.experi = settings["-tags"], settings["CGO_ENABLED"], "simd"
	if other := settings["GOEXPERIMENT"]; other != "" {
		s.experi = other + ",simd"
	}
	if info.Main.Path != module || info.Path != module {
		return s, fmt.Errorf("it can be built for %s only, not for %s", module, info.Path)
	}
	for _, dep := range info.Deps {
		if dep.Replace != nil && dep.Replace.Version == "" {
			s.fixed = false // a folder somewhere else, whose content is not hashed
		}
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %s %s tags=%q cgo=%q GOEXPERIMENT=%s\n", runtime.Version(), runtime.GOOS, settings["GOAMD64"], s.tags, s.cgo, s.experi)
	if info.Main.Sum != "" {
		s.version = info.Main.Version
		fmt.Fprintf(h, "%s@%s %s\n", info.Main.Path, info.Main.Version, info.Main.Sum)
	} else if err := s.checkout(h, exe); err != nil {
		return s, err
	}
	s.hash = hex.EncodeToString(h.Sum(nil))[:24]
	return s, nil
}

func (s *source) checkout(h hash.Hash, exe string) error {
	_, here, _, _ := runtime.Caller(0)
	root, err := Root(filepath.Dir(here), filepath.Dir(exe))
	if err != nil {
		return err
	}
	s.root = root
	newest, err := hashTree(h, root)
	if err != nil {
		return fmt.Errorf("reading the sources: %w", err)
	}
	if info, err := os.Stat(exe); err == nil && !byGoRun(exe) && newest.After(info.ModTime()) {
		return fmt.Errorf("%s is older than its sources in %s, build it again", exe, root)
	}
	return nil
}

var cached = regexp.MustCompile(`^[0-9a-f]{64}-d$`)

// byGoRun reports whether exe was built by `go run`, in a temporary folder or
// the build cache: it is then as new as its sources, whatever its date.
func byGoRun(exe string) bool {
	return strings.Contains(filepath.ToSlash(exe), "/go-build") || cached.MatchString(filepath.Base(filepath.Dir(exe)))
}

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
	if _, err := hashTree(h, root); err != nil {
		return "", fmt.Errorf("reading the sources: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil))[:24], nil
}

// hashTree hashes what a build of the module's root package can read: go.mod,
// go.sum and Go files at the root, and all files in and below folders with Go
// files, because those may be embedded. Tests, test data and hidden folders are
// left out. It returns the time of the last change.
func hashTree(h hash.Hash, root string) (time.Time, error) {
	var newest time.Time
	files, err := sources(root)
	if err != nil {
		return newest, err
	}
	for _, name := range files {
		info, err := hashFile(h, root, name)
		if errors.Is(err, fs.ErrNotExist) { // somebody's temporary file that is gone again
			continue
		}
		if err != nil {
			return newest, err
		}
		if info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return newest, nil
}

func hashFile(h hash.Hash, root, name string) (fs.FileInfo, error) {
	f, err := os.Open(filepath.Join(root, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(h, "%q %d\n", filepath.ToSlash(name), info.Size())
	_, err = io.Copy(h, f)
	return info, err
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
