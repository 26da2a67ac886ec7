package setup

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestEveryPackageOfTheLibraryIsWarmed looks for packages that cells may import
// and that nobody compiles for them.
func TestEveryPackageOfTheLibraryIsWarmed(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("warm", "warm.go"), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	warmed := map[string]bool{}
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		warmed[path] = true
	}
	for _, need := range []string{
		gonbPath + "/gonbui", gonbPath + "/gonbui/widgets", "gonum.org/v1/gonum/stat", "gonum.org/v1/gonum/mat", "gonum.org/v1/plot",
		"github.com/gomlx/gomlx/core/graph", "github.com/gomlx/gomlx/core/tensors", "fmt", "math/rand/v2",
	} {
		if !warmed[need] {
			t.Errorf("%s is not warmed", need)
		}
	}
	root, found := filepath.Join("..", ".."), 0
	for _, room := range []string{"lib", "datasets"} {
		err := filepath.WalkDir(filepath.Join(root, room), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if name := d.Name(); name == "internal" || name == "testdata" || name[0] == '.' || name[0] == '_' {
				return fs.SkipDir
			}
			rel, err := filepath.Rel(root, path)
			if err != nil || strings.HasSuffix(rel, "test") || !isLibrary(t, path) { // suites are for tests, not for cells
				return err
			}
			found++
			if pkg := Module + "/" + filepath.ToSlash(rel); !warmed[pkg] {
				t.Errorf("%s is not in warm/warm.go", pkg)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 15 {
		t.Errorf("only %d packages were found", found)
	}
}

// isLibrary reports whether a folder holds a package that can be imported from
// a cell: helpers of tests are not.
func isLibrary(t *testing.T, dir string) bool {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(dir, "datatest") {
		return false
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".go") && !strings.HasSuffix(f.Name(), "_test.go") {
			return true
		}
	}
	return false
}
