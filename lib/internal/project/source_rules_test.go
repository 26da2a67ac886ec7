// Rules on the source: imports, streams, doc comments, line lengths, the top level.

package project

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

const module = "github.com/lethe-ml/lethe/"

// layers orders the package groups: a package imports only from layers below its own, or from its
// own group.
var layers = []struct {
	group string
	layer int
}{
	{"kernel/internal/bench", 13}, // before kernel/internal, which is below it
	{"lib/array", 0}, {"lib/cells", 0}, {"lib/defaults", 0}, {"lib/files", 0}, {"lib/internal", 0}, {"lib/memory", 0}, {"lib/privacy", 0}, {"lib/progress", 0}, {"lib/stats", 0}, {"lib/store", 0}, {"lib/text", 0}, {"lib/utility", 0},
	{"lib/engine", 1}, {"datasets", 1},
	{"lib/nn", 2}, {"lib/model", 2},
	{"lib/train", 3},
	{"lib/unlearn", 4}, {"lib/federated", 4}, {"lib/attack", 4}, {"lib/information", 4}, {"lib/verify", 4},
	{"lib/report", 5}, {"lib/plot", 5}, {"lib/lab", 5}, {"lib/audit", 5}, {"lib/paper", 6}, {"lib/nb", 6}, {"lib/sweep", 6}, {"lib/comparison", 6},
	{"figures", 6}, {"notebooks", 6},
	{"lib/cli", 7}, {"lib/command", 8}, {"lib", 7}, // lib itself, the front door; after its packages
	{"kernel/internal", 9}, {"kernel/relay", 10}, {"kernel/setup", 11},
	{"kernel/notebook", 12}, {"kernel/e2e", 12}, {"kernel", 14},
}

// sameLayerImports lists the groups of one layer that may import each other.
var sameLayerImports = map[string][]string{
	"lib/array":    {"lib/files"},
	"lib/store":    {"lib/array", "lib/files", "lib/progress"},
	"lib/cells":    {"lib/array", "lib/defaults", "lib/progress", "lib/stats"},
	"lib/internal": {"lib/files"}, // lib/internal/release
	"lib/privacy":  {"lib/array", "lib/defaults"},
	"lib/stats":    {"lib/progress"},
	"lib/text":     {"lib/files"},
	"lib/utility":  {"lib/array", "lib/progress", "lib/stats"},
	"lib/model":    {"lib/nn"},
	"lib/unlearn":  {"lib/attack", "lib/information", "lib/federated"}, // critics, and federated methods
	"lib/audit":    {"lib/lab", "lib/report", "lib/plot"},
}

func layerOf(path string) (string, int) {
	for _, l := range layers {
		if path == l.group || l.group != "lib" && strings.HasPrefix(path, l.group+"/") {
			return l.group, l.layer
		}
	}
	return "", -1
}

// sources calls visit with every Go file that is not a test.
func sources(t *testing.T, visit func(path string, file *ast.File)) {
	t.Helper()
	set := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || path == "out"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(path), file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The pages for contributors name every group of packages, development.md in the row of its layer.
func TestThePagesNameEveryGroupOfPackages(t *testing.T) {
	contributing, development := read(t, "CONTRIBUTING.md"), read(t, "docs/development.md")
	rows := map[int]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+)(?: to (\d+))? \| (.*)$`).FindAllStringSubmatch(development, -1) {
		first, _ := strconv.Atoi(row[1])
		last, _ := strconv.Atoi(cmp.Or(row[2], row[1]))
		for layer := first; layer <= last; layer++ {
			rows[layer] += row[3]
		}
	}
	for _, l := range layers {
		if !regexp.MustCompile("`" + l.group + "(/\\.\\.\\.)?`").MatchString(rows[l.layer]) {
			t.Errorf("docs/development.md does not name %s in the row of layer %d", l.group, l.layer)
		}
		if strings.HasPrefix(l.group, "kernel/") {
			continue // the row of kernel
		}
		if !regexp.MustCompile("`" + l.group + "(`|/project`)").MatchString(contributing) { // lib/internal/project
			t.Errorf("CONTRIBUTING.md does not name %s", l.group)
		}
	}
}

func TestPackagesImportOnlyFromLayersBelow(t *testing.T) {
	seen := 0
	sources(t, func(path string, file *ast.File) {
		group, layer := layerOf(filepath.ToSlash(filepath.Dir(path)))
		if group == "" {
			if filepath.Dir(path) != "." {
				t.Errorf("%s is in no layer", path)
			}
			return
		}
		for _, spec := range file.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			inner, ours := strings.CutPrefix(name, module)
			if !ours {
				continue
			}
			seen++
			other, below := layerOf(inner)
			if other == group || below >= 0 && below < layer {
				continue
			}
			allowed := false
			for _, w := range sameLayerImports[group] {
				allowed = allowed || w == other
			}
			if !allowed {
				t.Errorf("%s (layer %d) imports %s (layer %d)", path, layer, inner, below)
			}
		}
	})
	if seen < 50 {
		t.Errorf("only %d imports were looked at", seen)
	}
}

// Every notebook cell links what its library imports, and the network packages would be a
// sixth of that. Only downloads need them.
func TestOnlyDownloadsImportTheNetwork(t *testing.T) {
	found := false
	sources(t, func(path string, file *ast.File) {
		dir := filepath.ToSlash(filepath.Dir(path))
		for _, spec := range file.Imports {
			if spec.Path.Value != `"net/http"` {
				continue
			}
			found = found || dir == "datasets/fetch"
			if !strings.HasPrefix(dir, "kernel/") && dir != "datasets/fetch" {
				t.Errorf("%s imports net/http", path)
			}
		}
	})
	if !found {
		t.Error("no download imports the network: this test looks at nothing")
	}
}

// A stream's name determines every number drawn from it. All names are in
// lib/engine/streams.go, so that no two packages use the same one.
func TestStreamsAreNamedInOnePlace(t *testing.T) {
	seen := 0
	sources(t, func(path string, file *ast.File) {
		if strings.HasSuffix(filepath.Dir(path), "test") { // a suite draws data of its own
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || method.Sel.Name != "Stream" && method.Sel.Name != "Counter" {
				return true
			}
			seen++
			name, ok := call.Args[0].(*ast.SelectorExpr)
			if !ok || fmt.Sprint(name.X) != "engine" || !strings.HasPrefix(name.Sel.Name, "Stream") {
				t.Errorf("%s draws from a stream that lib/engine/streams.go does not name", path)
			}
			return true
		})
	})
	if seen < 20 {
		t.Errorf("only %d streams were looked at", seen)
	}
}

func TestEveryExportIsDocumented(t *testing.T) {
	seen := 0
	sources(t, func(path string, file *ast.File) {
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && exportedReceiver(d) {
					seen++
					if d.Doc == nil {
						t.Errorf("%s: %s has no doc comment", path, d.Name.Name)
					}
				}
			case *ast.GenDecl:
				seen += documented(t, path, d)
			}
		}
	})
	if seen < 200 {
		t.Errorf("only %d exports were looked at", seen)
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if index, ok := typ.(*ast.IndexExpr); ok {
		typ = index.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}

// documented checks types, constants and variables; the comment of a group counts for all its
// members.
func documented(t *testing.T, path string, d *ast.GenDecl) (seen int) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() {
				seen++
				if d.Doc == nil && s.Doc == nil {
					t.Errorf("%s: type %s has no doc comment", path, s.Name.Name)
				}
			}
		case *ast.ValueSpec:
			for _, n := range s.Names {
				if n.IsExported() {
					seen++
					if d.Doc == nil && s.Doc == nil && s.Comment == nil {
						t.Errorf("%s: %s has no doc comment", path, n.Name)
					}
				}
			}
		}
	}
	return seen
}

// A reader of any file learns from its first ten lines what it is for: they hold a comment that is
// neither a directive nor the mark of generated code.
func TestFirstLinesSayWhatAFileIsFor(t *testing.T) {
	const firstLines, seenAtLeast = 10, 1000
	seen := 0
	sources(t, func(path string, _ *ast.File) {
		if strings.Contains(path, "/testdata/") {
			return
		}
		seen++
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitN(string(text), "\n", firstLines+1)
		says := func(line string) bool {
			return strings.HasPrefix(line, "// ") && !strings.HasPrefix(line, "// +build") && !strings.HasPrefix(line, "// Code generated ")
		}
		if !slices.ContainsFunc(lines[:min(firstLines, len(lines))], says) {
			t.Errorf("%s: no comment in its first %d lines says what it is for", path, firstLines)
		}
	})
	if seen < seenAtLeast {
		t.Errorf("%d files were read", seen)
	}
}

// Lines have at most 160 columns. Rows of a table and raw strings cannot be broken; tests may
// hold golden values as another program printed them.
func TestLinesAreNotTooLong(t *testing.T) {
	const limit, seenAtLeast = 160, 300
	seen := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		prose := strings.HasSuffix(path, ".md")
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || path == "out" || path == "figures"):
			return fs.SkipDir
		case d.IsDir() || !prose && !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen++
		for i, line := range strings.Split(string(text), "\n") {
			if prose && strings.HasPrefix(line, "|") || !prose && strings.Contains(line, "`") {
				continue
			}
			if n := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")); n > limit {
				t.Errorf("%s:%d: %d columns, the limit is %d", path, i+1, n, limit)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < seenAtLeast {
		t.Errorf("only %d files were looked at", seen)
	}
}

// top lists what is allowed at the top of the repository besides names that begin with a dot, so
// that no stray file is committed.
var top = []string{
	"CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "Dockerfile", "LICENSE", "README.md", "SECURITY.md",
	"go.mod", "go.sum", "main.go",
	"datasets", "docs", "figures", "kernel", "lib", "notebooks",
}

func TestNothingElseIsAtTheTop(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	ignored := []string{"out", "lethe-notebooks", "lethe"} // by .gitignore
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || slices.Contains(top, name) || slices.Contains(ignored, name) {
			continue
		}
		t.Errorf("%s is not allowed at the top of the repository", name)
	}
}
