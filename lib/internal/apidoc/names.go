// The list of exported names by page, from the syntax alone, as a check on the pages.

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
)

// namesByPage lists the exported names of every package by its page's name:
// Name, Type.Method and Type.Field, sorted. It reads the syntax and knows
// nothing of the pages.
func namesByPage(packages []listedPackage) (map[string][]string, error) {
	all := map[string][]string{}
	for _, p := range packages {
		names, err := exportedNames(p)
		if err != nil {
			return nil, err
		}
		all[p.pageName()] = names
	}
	return all, nil
}

func exportedNames(p listedPackage) ([]string, error) {
	names := []string{}
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				names = append(names, nameOfFunc(d)...)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					names = append(names, namesOfSpec(spec)...)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// nameOfFunc has one element, or none where the function is not exported.
func nameOfFunc(d *ast.FuncDecl) []string {
	if !d.Name.IsExported() {
		return nil
	}
	if d.Recv == nil {
		return []string{d.Name.Name}
	}
	if receiver := baseName(d.Recv.List[0].Type); ast.IsExported(receiver) {
		return []string{receiver + "." + d.Name.Name}
	}
	return nil
}

func namesOfSpec(spec ast.Spec) []string {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		return exportedOnly("", s.Names)
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return nil
		}
		names := []string{s.Name.Name}
		switch t := s.Type.(type) {
		case *ast.StructType:
			return append(names, namesOfFields(s.Name.Name+".", t.Fields, true)...)
		case *ast.InterfaceType:
			return append(names, namesOfFields(s.Name.Name+".", t.Methods, false)...)
		}
		return names
	}
	return nil
}

func namesOfFields(prefix string, fields *ast.FieldList, embedded bool) (names []string) {
	for _, f := range fields.List {
		if len(f.Names) == 0 && embedded && ast.IsExported(baseName(f.Type)) {
			names = append(names, prefix+baseName(f.Type))
		}
		names = append(names, exportedOnly(prefix, f.Names)...)
	}
	return names
}

func exportedOnly(prefix string, idents []*ast.Ident) (names []string) {
	for _, id := range idents {
		if id.IsExported() {
			names = append(names, prefix+id.Name)
		}
	}
	return names
}

// baseName is the name of a type without its pointer, its package and its type
// arguments.
func baseName(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return baseName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.IndexExpr:
		return baseName(e.X)
	case *ast.IndexListExpr:
		return baseName(e.X)
	case *ast.ParenExpr:
		return baseName(e.X)
	}
	return ""
}
