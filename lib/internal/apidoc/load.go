// Public packages of the module, as "go list" finds them, with their parsed documentation.

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// listedPackage is what "go list -json" says of a package.
type listedPackage struct {
	ImportPath, Dir, Name              string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports                            []string
	Module                             struct{ Path, Dir string }
}

// pageName is the package's folder in the module, with slashes. It is also the
// title of its page and, with an ending, the page's file.
func (p listedPackage) pageName() string {
	return strings.TrimPrefix(p.ImportPath, p.Module.Path+"/")
}

// isPublic says whether a program elsewhere can import the package and finds
// something in it.
func (p listedPackage) isPublic() bool {
	inside := slices.Contains(strings.Split(p.ImportPath, "/"), "internal")
	return !inside && p.Name != "main" && len(p.GoFiles) > 0
}

// isForTests says whether the package helps tests: it imports testing.
func (p listedPackage) isForTests() bool { return slices.Contains(p.Imports, "testing") }

// listPackages returns the public packages of the module in dir, by path.
func listPackages(dir string) ([]listedPackage, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Name,GoFiles,TestGoFiles,XTestGoFiles,Imports,Module", "./...")
	cmd.Dir = dir
	listed, err := cmd.Output()
	if err != nil {
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("go list: %w", err)
	}
	var packages []listedPackage
	for decoder := json.NewDecoder(bytes.NewReader(listed)); ; {
		var p listedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.isPublic() {
			packages = append(packages, p)
		}
	}
	slices.SortFunc(packages, func(a, b listedPackage) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	return packages, nil
}

// documentedPackage is a package with its documentation, ready for a page.
type documentedPackage struct {
	listedPackage
	files   *token.FileSet
	doc     *doc.Package
	imports map[string]imports // by file name
}

// imports has the import path behind each name that a file gives to a package.
type imports map[string]string

// loadPackage parses the package's files and tests, from which examples come.
func loadPackage(listed listedPackage) (*documentedPackage, error) {
	p := &documentedPackage{listedPackage: listed, files: token.NewFileSet(), imports: map[string]imports{}}
	var parsed []*ast.File
	for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
		name = filepath.Join(p.Dir, name)
		file, err := parser.ParseFile(p.files, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, file)
		p.imports[name] = importsOf(file)
	}
	var err error
	p.doc, err = doc.NewFromFiles(p.files, parsed, p.ImportPath)
	return p, err
}

func importsOf(file *ast.File) imports {
	found := imports{}
	for _, spec := range file.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has seen to it
		}
		name := nameOfImport(importPath)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		found[name] = importPath
	}
	return found
}

// nameOfImport guesses a package's name from its import path: the last element
// that is not a version.
func nameOfImport(importPath string) string {
	name := path.Base(importPath)
	if version, ok := strings.CutPrefix(name, "v"); ok && version != "" && strings.Trim(version, "0123456789") == "" {
		name = path.Base(path.Dir(importPath))
	}
	return name
}

// importsAt returns the imports of the file that a position is in.
func (p *documentedPackage) importsAt(pos token.Pos) imports {
	return p.imports[p.files.Position(pos).Filename]
}

// sourceAt returns the file of a position, relative to the module, and its line.
func (p *documentedPackage) sourceAt(pos token.Pos) (file string, line int) {
	at := p.files.Position(pos)
	file, err := filepath.Rel(p.Module.Dir, at.Filename)
	if err != nil {
		file = filepath.Base(at.Filename)
	}
	return filepath.ToSlash(file), at.Line
}
