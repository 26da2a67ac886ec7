// Lint: answers of exercises must not stand in clear.

package notebook

import (
	"go/ast"
	"go/parser"
	"strings"
)

// answers refuses exercises whose condition is about the answer alone, which gives it away.
func (l *linter) answers() {
	l.cells(Code, func(n int, c *Cell) {
		for _, call := range callsOf(c.Source, "nb.Exercise(") {
			if len(call.Args) > 2 && comparesOnly(call.Args[2], call.Args[1]) {
				l.add(n, "the answer to an exercise stands in clear", "seal it: nb.Answer, with what nb.Seal returns")
			}
		}
	})
}

// callsOf returns the calls in a cell that begin with a text. Calls that do not parse are
// left out; the compiler reports them.
func callsOf(source, begin string) []*ast.CallExpr {
	var out []*ast.CallExpr
	for {
		at := strings.Index(source, begin)
		if at < 0 {
			return out
		}
		source = source[at:]
		for end := range source {
			if source[end] != ')' {
				continue
			}
			if e, err := parser.ParseExpr(source[:end+1]); err == nil {
				out = append(out, e.(*ast.CallExpr))
				break
			}
		}
		source = source[len(begin):]
	}
}

// comparesOnly reports whether a condition mentions the answer and nothing else that a cell
// computes.
func comparesOnly(condition, answer ast.Expr) bool {
	name, ok := answer.(*ast.Ident)
	mentioned, other := false, false
	ast.Inspect(condition, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if pkg, ok := n.X.(*ast.Ident); ok && (pkg.Name == "math" || pkg.Name == "strings") {
				return false
			}
		case *ast.Ident:
			mentioned = mentioned || ok && n.Name == name.Name
			other = other || ok && n.Name != name.Name
		}
		return true
	})
	return mentioned && !other
}
