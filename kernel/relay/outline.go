// What a cell's code declares, uses and changes, as far as it parses.

package relay

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// outline is the syntax of a cell, as far as it parses. It has no types: a name stands for
// whatever is declared under it.
type outline struct {
	declared []declaration // above the line %%, or without one
	main     names         // under the line %%
	last     expression    // the expression that ends the cell; none where its text is ""
}

// names are the names that a piece of code uses and changes and that are not its own, and
// those that it declares for itself. A method or field M is listed as ".M".
type names struct {
	uses, changes, own []string
}

// expression is an expression statement: its text and its place in the cell, in bytes.
type expression struct {
	node       ast.Expr
	start, end int
}

// newOutline parses a cell.
func newOutline(code string) outline {
	if !isGo(code) {
		return outline{}
	}
	const head = "package main\n"
	src := head + asGo(code)
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution|parser.ParseComments)
	if file == nil {
		return outline{}
	}
	out := outline{declared: fileDeclarations(file, src)}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && functionName(f) == "main" && f.Body != nil {
			out.main = namesIn(f)
			if err == nil { // otherwise the parser has added what it missed
				out.last = lastExpression(f.Body, file, head, code)
			}
		}
	}
	return out
}

// lastExpression returns the expression statement at the end of main. The lines of a cell
// below %% stand unchanged in the parsed text, at other offsets.
func lastExpression(body *ast.BlockStmt, file *ast.File, head, code string) expression {
	if len(body.List) == 0 {
		return expression{}
	}
	s, ok := body.List[len(body.List)-1].(*ast.ExprStmt)
	if !ok {
		return expression{}
	}
	text := head + asGo(code)
	place := func(at token.Pos) int {
		offset := int(at - file.FileStart)
		line := strings.Count(text[:offset], "\n") - strings.Count(head, "\n")
		column := offset - (strings.LastIndex(text[:offset], "\n") + 1)
		return lineStart(code, line) + column
	}
	e := expression{node: s.X, start: place(s.Pos()), end: place(s.End())}
	if e.end > len(code) || code[e.start:e.end] != text[s.Pos()-file.FileStart:s.End()-file.FileStart] {
		return expression{} // a line of it is a command to GoNB
	}
	return e
}

// lineStart returns the offset of a line, from 0.
func lineStart(code string, line int) int {
	at := 0
	for range line {
		next := strings.IndexByte(code[at:], '\n')
		if next < 0 {
			return len(code)
		}
		at += next + 1
	}
	return at
}

// nameCollector walks through a piece of code.
type nameCollector struct {
	uses, changes, own map[string]bool
}

// namesIn returns the names in a declaration.
func namesIn(n ast.Node) names {
	c := nameCollector{uses: map[string]bool{}, changes: map[string]bool{}, own: map[string]bool{}}
	ast.Inspect(n, c.visit)
	for name := range c.own {
		delete(c.uses, name)
		delete(c.changes, name)
	}
	sorted := func(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
	return names{uses: sorted(c.uses), changes: sorted(c.changes), own: sorted(c.own)}
}

func (c nameCollector) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		c.uses["."+n.Sel.Name] = true
		ast.Inspect(n.X, c.visit)
		return false
	case *ast.Ident:
		c.uses[n.Name] = true
	case *ast.AssignStmt:
		for _, left := range n.Lhs {
			c.assigned(left, n.Tok == token.DEFINE)
		}
	case *ast.IncDecStmt:
		c.assigned(n.X, false)
	case *ast.RangeStmt:
		c.assigned(n.Key, n.Tok == token.DEFINE)
		c.assigned(n.Value, n.Tok == token.DEFINE)
	case *ast.ValueSpec:
		for _, name := range n.Names {
			c.own[name.Name] = true
		}
	case *ast.TypeSpec:
		c.own[n.Name.Name] = true
	case *ast.Field:
		for _, name := range n.Names {
			c.own[name.Name] = true
		}
	}
	return true
}

// assigned notes the variable that an assignment declares or changes: a itself in a, a[i]
// and a.f.
func (c nameCollector) assigned(to ast.Expr, declares bool) {
	for {
		switch e := to.(type) {
		case *ast.IndexExpr:
			to = e.X
		case *ast.SelectorExpr:
			to = e.X
		case *ast.ParenExpr:
			to = e.X
		case *ast.Ident:
			switch {
			case e.Name == "_":
			case declares:
				c.own[e.Name] = true
			default:
				c.changes[e.Name] = true
			}
			return
		default:
			return
		}
	}
}
