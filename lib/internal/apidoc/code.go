// Go code as highlighted HTML, with anchors for declared names and links for the others.

package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"html"
	"slices"
	"strings"
)

// mark is what a page adds to an identifier in its code: an anchor, a link, or
// both.
type mark struct{ anchor, link string }

// marks has the mark of the identifier that begins at an offset of the code.
type marks map[int]mark

// declaration returns a declaration as it stands in the source, without its
// body, as HTML with anchors for what it declares and links to the types that
// it names. The name of a type or a function has its anchor in the heading above.
func (w *pageWriter) declaration(decl ast.Decl) string {
	imports := w.importsAt(decl.Pos())
	if f, ok := decl.(*ast.FuncDecl); ok {
		f.Body = nil
	}
	const before = "package p\n"
	text := formatNode(w.files, decl)
	// The code is parsed once more as it is printed, for the offsets of its names.
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", before+text, parser.SkipObjectResolution)
	if err != nil || len(file.Decls) != 1 {
		return framed("highlight declaration", highlight(text, nil))
	}
	m := &marker{w: w, imports: imports, found: marks{}, offset: func(pos token.Pos) int { return files.Position(pos).Offset - len(before) }}
	m.decl(file.Decls[0])
	return framed("highlight declaration", highlight(text, m.found))
}

// exampleCode returns the code of an example as HTML with links.
func (w *pageWriter) exampleCode(text string, imports imports) string {
	for _, wrap := range [][2]string{{"", ""}, {"package p\nfunc _() {\n", "\n}\n"}} {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, "", wrap[0]+text+wrap[1], parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		m := &marker{w: w, imports: imports, found: marks{}, offset: func(pos token.Pos) int { return files.Position(pos).Offset - len(wrap[0]) }}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				m.selector(s)
			}
			return true
		})
		return frame(highlight(text, m.found))
	}
	return frame(highlight(text, nil))
}

// marker collects the marks of a piece of code.
type marker struct {
	w       *pageWriter
	imports imports
	found   marks
	offset  func(token.Pos) int
}

func (m *marker) decl(decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			m.links(d.Recv)
		}
		m.links(d.Type)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			m.spec(spec)
		}
	}
}

func (m *marker) spec(spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		m.anchors("", s.Names)
		m.links(s.Type)
		for _, v := range s.Values {
			m.links(v)
		}
	case *ast.TypeSpec:
		if s.TypeParams != nil {
			m.links(s.TypeParams)
		}
		switch t := s.Type.(type) {
		case *ast.StructType:
			m.fields(s.Name.Name+".", t.Fields)
		case *ast.InterfaceType:
			m.fields(s.Name.Name+".", t.Methods)
		default:
			m.links(s.Type)
		}
	}
}

func (m *marker) fields(prefix string, list *ast.FieldList) {
	for _, f := range list.List {
		m.anchors(prefix, f.Names)
		m.links(f.Type)
		if len(f.Names) == 0 {
			m.embedded(prefix, f.Type)
		}
	}
}

func (m *marker) anchors(prefix string, names []*ast.Ident) {
	for _, id := range names {
		if id.IsExported() {
			m.add(id, mark{anchor: prefix + id.Name})
		}
	}
}

// embedded gives the name of an embedded type an anchor: it is a field.
func (m *marker) embedded(prefix string, typ ast.Expr) {
	switch t := typ.(type) {
	case *ast.StarExpr:
		m.embedded(prefix, t.X)
	case *ast.IndexExpr:
		m.embedded(prefix, t.X)
	case *ast.IndexListExpr:
		m.embedded(prefix, t.X)
	case *ast.SelectorExpr:
		m.anchors(prefix, []*ast.Ident{t.Sel})
	case *ast.Ident:
		m.anchors(prefix, []*ast.Ident{t})
	}
}

// links marks every name in a type or a value that has a place to go to.
func (m *marker) links(n ast.Node) {
	if n == nil {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field: // its names are no types
			m.links(n.Type)
			return false
		case *ast.KeyValueExpr: // nor are its keys
			m.links(n.Value)
			return false
		case *ast.SelectorExpr:
			m.selector(n)
			return false
		case *ast.Ident:
			if m.w.names(m.w.ImportPath)[n.Name] {
				m.add(n, mark{link: "#" + n.Name})
			}
		}
		return true
	})
}

// selector marks the name after the dot of package.Name.
func (m *marker) selector(s *ast.SelectorExpr) {
	if x, ok := s.X.(*ast.Ident); ok {
		if importPath := m.imports[x.Name]; importPath != "" {
			m.add(s.Sel, mark{link: m.w.address(importPath, s.Sel.Name)})
		}
	}
}

func (m *marker) add(id *ast.Ident, added mark) {
	at := m.offset(id.Pos())
	has := m.found[at]
	if added.anchor != "" {
		has.anchor = added.anchor
	}
	if added.link != "" {
		has.link = added.link
	}
	m.found[at] = has
}

// formatNode prints a node as gofmt would.
func formatNode(files *token.FileSet, node any) string {
	var b bytes.Buffer
	if err := format.Node(&b, files, node); err != nil {
		return fmt.Sprintf("// %v", err)
	}
	return b.String()
}

// highlight turns Go code into HTML with the classes that the site's style has
// for tokens, and with the marks given.
func highlight(text string, found marks) string {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), func(token.Position, string) {}, scanner.ScanComments)
	var b strings.Builder
	done := 0
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			break
		}
		if literal == "" {
			literal = tok.String()
		}
		at := file.Offset(pos)
		if tok == token.SEMICOLON && !strings.HasPrefix(text[at:], ";") {
			continue // the scanner's own, at the end of a line
		}
		b.WriteString(escape(text[done:at]))
		done = min(at+len(literal), len(text))
		b.WriteString(found[at].around(span(tok, text[at:done])))
	}
	return b.String() + escape(text[done:])
}

// around puts the mark around a token that is HTML already.
func (m mark) around(token string) string {
	attributes := ""
	if m.anchor != "" {
		attributes += ` id="` + escape(m.anchor) + `"`
	}
	switch {
	case m.link != "":
		return `<a` + attributes + ` href="` + escape(m.link) + `">` + token + `</a>`
	case attributes != "":
		return `<span` + attributes + `>` + token + `</span>`
	}
	return token
}

// predeclared has the classes of names that Go itself declares.
var predeclared = map[string]string{"true": "kc", "false": "kc", "nil": "kc", "iota": "kc"}

func init() {
	const types = "any bool byte comparable complex64 complex128 error float32 float64 " +
		"int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr"
	for _, t := range strings.Fields(types) {
		predeclared[t] = "kt"
	}
}

// declaring has the keywords of declarations and types.
var declaring = []token.Token{token.FUNC, token.TYPE, token.CONST, token.VAR, token.STRUCT, token.INTERFACE, token.MAP, token.CHAN}

// span puts a token into the element that colours it.
func span(tok token.Token, text string) string {
	class := ""
	switch {
	case tok == token.COMMENT:
		class = "c1"
	case tok == token.STRING || tok == token.CHAR:
		class = "s"
	case tok == token.INT || tok == token.FLOAT || tok == token.IMAG:
		class = "m"
	case tok == token.IDENT:
		class = predeclared[text]
	case slices.Contains(declaring, tok):
		class = "kd"
	case tok.IsKeyword():
		class = "k"
	}
	if class == "" {
		return escape(text)
	}
	return `<span class="` + class + `">` + escape(text) + `</span>`
}

// frame puts code that is HTML already into the site's frame for code. The span is
// there because the theme takes anchors right below <code> for numbers of lines.
func frame(code string) string { return framed("highlight", code) }

func framed(class, code string) string {
	return "<div class=\"" + class + "\"><pre><code><span>" + strings.TrimRight(code, "\n") + "\n</span></code></pre></div>\n\n"
}

// escape makes text safe in HTML that stands in Markdown.
func escape(text string) string {
	return strings.ReplaceAll(html.EscapeString(text), "`", "&#96;")
}
