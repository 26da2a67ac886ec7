// The declarations of a notebook's cells, for gopls.

package relay

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/lethe-ml/lethe/kernel/internal/gopls"
)

// scope holds the declarations of a notebook's cells, from which the files for gopls are
// made. gonb's own program cannot be used: it has no imports while a cell does not parse,
// as it mostly does while a user types.
type scope []declaration

// declaration is one import, function, type, variable or group of constants.
type declaration struct {
	names    []string
	imported bool
	variable bool
	isType   bool
	results  []ast.Expr // types of a function's or method's results
	text     string
	inside   names // what its code uses and changes
}

// learn adds the declarations of a cell; they replace earlier ones of the same name.
func (s *scope) learn(code string) {
	if !isGo(code) {
		return
	}
	if strings.HasPrefix(code, "%reset") || strings.Contains(code, "\n%reset") {
		*s = nil
	}
	found := declarations(code)
	*s = append(s.without(found), found...)
}

// without returns the scope without the names that others declare.
func (s scope) without(others []declaration) scope {
	return slices.DeleteFunc(slices.Clone(s), func(d declaration) bool {
		return slices.ContainsFunc(others, func(o declaration) bool {
			return o.imported == d.imported && slices.ContainsFunc(o.names, func(n string) bool { return slices.Contains(d.names, n) })
		})
	})
}

// files returns a file with the cell that is being typed, the number of lines above the
// cell's, and a file with the other declarations.
func (s scope) files(code string) (cell string, above int, others string) {
	rest := s.without(declarations(code))
	var imports, declared strings.Builder
	for _, d := range rest {
		if d.imported {
			imports.WriteString("import " + d.text + "\n")
		} else {
			declared.WriteString(d.text + "\n\n")
		}
	}
	head := "package main\n\n" + imports.String()
	if isStatement(code) {
		return head + "func main() {\n" + goLines(code) + "\n}\n", strings.Count(head, "\n") + 1, head + declared.String()
	}
	return head + asGo(code), strings.Count(head, "\n"), head + declared.String()
}

// isGo reports whether a cell is Go: %%WORD makes it something else.
func isGo(code string) bool {
	return !strings.HasPrefix(code, "%%") || strings.TrimSpace(code[2:min(3, len(code))]) == ""
}

// asGo returns a cell as Go code with the same lines: %% becomes the beginning of the
// function main.
func asGo(code string) string {
	lines, inMain := strings.Split(code, "\n"), false
	for i, l := range lines {
		if mark := strings.TrimPrefix(l, "//gonb:"); !inMain && (mark == "%%" || strings.HasPrefix(mark, "%% ") || strings.HasPrefix(mark, "%main")) {
			lines[i], inMain = "func main() {", true
		}
	}
	out := goLines(strings.Join(lines, "\n"))
	if inMain {
		out += "\n}"
	}
	return out + "\n"
}

// isStatement reports whether a cell begins with a statement. It would not run, but needs
// completion while it is typed.
func isStatement(code string) bool {
	var s scanner.Scanner
	src := []byte(goLines(code))
	s.Init(token.NewFileSet().AddFile("", -1, len(src)), src, nil, 0)
	_, first, _ := s.Scan()
	declares := []token.Token{token.IMPORT, token.FUNC, token.TYPE, token.VAR, token.CONST, token.PACKAGE, token.EOF, token.ILLEGAL}
	return !slices.Contains(declares, first) && !strings.Contains("\n"+code, "\n%%") && !strings.Contains("\n"+code, "\n%main")
}

// declarations returns what a cell declares, as far as it parses.
func declarations(code string) []declaration {
	src := "package main\n" + asGo(code)
	file, _ := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution|parser.ParseComments)
	if file == nil {
		return nil
	}
	return fileDeclarations(file, src)
}

// fileDeclarations returns the declarations of a parsed cell but main.
func fileDeclarations(file *ast.File, src string) []declaration {
	text := func(n ast.Node) string {
		return src[n.Pos()-file.FileStart : min(int(n.End()-file.FileStart), len(src))]
	}
	var out []declaration
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if name := functionName(d); name != "main" {
				whole := text(d)
				if d.Doc != nil {
					whole = text(d.Doc) + "\n" + whole
				}
				out = append(out, declaration{names: []string{name}, text: whole, inside: namesIn(d), results: resultTypes(d)})
			}
		case *ast.GenDecl:
			out = append(out, generalDeclarations(d, text)...)
		}
	}
	return out
}

// functionName returns a function's name, or Type.Name for a method.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	kind := f.Recv.List[0].Type
	for {
		switch t := kind.(type) {
		case *ast.StarExpr:
			kind = t.X
		case *ast.IndexExpr:
			kind = t.X
		case *ast.IndexListExpr:
			kind = t.X
		case *ast.Ident:
			return t.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

func resultTypes(f *ast.FuncDecl) []ast.Expr {
	if f.Type.Results == nil {
		return nil
	}
	var out []ast.Expr
	for _, field := range f.Type.Results.List {
		out = append(out, field.Type)
	}
	return out
}

// generalDeclarations returns imports, types, variables and constants. A group of constants
// stays together, because it may use iota.
func generalDeclarations(d *ast.GenDecl, text func(ast.Node) string) []declaration {
	var out []declaration
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.ImportSpec:
			out = append(out, declaration{names: []string{text(s)}, imported: true, text: text(s)})
		case *ast.TypeSpec:
			out = append(out, declaration{names: []string{s.Name.Name}, text: "type " + text(s), inside: namesIn(s), isType: true})
		case *ast.ValueSpec:
			one := declaration{text: d.Tok.String() + " " + text(s), variable: d.Tok == token.VAR, inside: namesIn(s)}
			for _, n := range s.Names {
				one.names = append(one.names, n.Name)
			}
			out = append(out, one)
		}
	}
	if d.Tok != token.CONST || len(out) < 2 {
		return out
	}
	group := declaration{text: text(d)}
	for _, one := range out {
		group.names = append(group.names, one.names...)
		group.inside.uses = append(group.inside.uses, one.inside.uses...)
	}
	return []declaration{group}
}

// notebookCode returns the code of a notebook's cells, nil if the file is no notebook.
func notebookCode(file string) []string {
	var notebook struct {
		Cells []struct {
			Kind   string          `json:"cell_type"`
			Source json.RawMessage `json:"source"`
		} `json:"cells"`
	}
	b, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(b, &notebook) != nil {
		return nil
	}
	var out []string
	for _, c := range notebook.Cells {
		var lines []string
		var whole string
		if json.Unmarshal(c.Source, &lines) == nil {
			whole = strings.Join(lines, "")
		} else if json.Unmarshal(c.Source, &whole) != nil {
			continue
		}
		if c.Kind == "code" {
			out = append(out, whole)
		}
	}
	return out
}

// cursorPosition converts Jupyter's cursor, a number of characters, into a position.
func cursorPosition(code string, cursor int) gopls.Position {
	before := []rune(code)
	before = before[:max(0, min(cursor, len(before)))]
	at := gopls.Position{}
	for _, r := range before {
		if r == '\n' {
			at = gopls.Position{Line: at.Line + 1}
		} else {
			at.Character += utf16.RuneLen(r)
		}
	}
	return at
}
