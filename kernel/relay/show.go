// The value of a cell's last line is shown, as people know it from other notebooks.

package relay

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// showFunction is the function of showFile.
const showFunction = "letheShow"

// showFile is the name of the file beside a cell's program that shows the value.
const showFile = "a_show.go"

// showPlain prints values, long ones in part. A nil error beside other results is left out.
const showPlain = `package main

import letheFmt "fmt"

func letheShow(values ...any) {
	for _, v := range values {
		if v != nil || len(values) == 1 {
			lethePrint(v)
		}
	}
}
` + showPrint

const showPrint = `
func lethePrint(v any) {
	text := []rune(letheFmt.Sprintf("%+v", v))
	if _, is := v.(string); !is && len(text) > 2000 {
		letheFmt.Printf("%s ... (%d characters more; fmt.Println shows all)\n", string(text[:2000]), len(text)-2000)
		return
	}
	letheFmt.Println(string(text))
}
`

// showRich shows tables and figures as nb.Show does, and prints other values.
const showRich = `package main

import (
	letheFmt "fmt"

	letheNB "github.com/lethe-ml/lethe/lib/nb"
	lethePlot "github.com/lethe-ml/lethe/lib/plot"
	letheReport "github.com/lethe-ml/lethe/lib/report"
)

func letheShow(values ...any) {
	for _, v := range values {
		switch v := v.(type) {
		case *letheReport.Table, lethePlot.Figure:
			letheNB.Show(v)
		default:
			if v != nil || len(values) == 1 {
				lethePrint(v)
			}
		}
	}
}
` + showPrint

// withLastShown returns a cell whose last line, if it is a value, is shown, and the file that
// it needs; "" for none.
//
// It wraps only what the compiler would refuse as a value that is not used, and calls of
// functions that cells declare with results that print well. A call of a package's function or of a method
// stays a call: without types nobody knows whether it has a result, and Go programs often
// ignore one, as that of fmt.Println.
func (p *past) withLastShown(code string) (changed, file string) {
	o := newOutline(code)
	if o.last.node == nil || ownRunner.MatchString(code) || !p.hasValue(o.last.node, o) {
		return code, ""
	}
	changed = code[:o.last.start] + showFunction + "(" + code[o.last.start:o.last.end] + ")" + code[o.last.end:]
	if p.knowsLibrary(o) {
		return changed, showRich
	}
	return changed, showPlain
}

// ownRunner matches the commands that make a cell another kind of program.
var ownRunner = regexp.MustCompile(`(?m)^(?://gonb:)?%(?:test|wasm)\b`)

// knowsLibrary reports whether the cell or one before it imports a package of Lethe. Only
// such a cell can have a table or a figure, and only there the library is linked.
func (p *past) knowsLibrary(o outline) bool {
	return slices.ContainsFunc(slices.Concat(p.scope, o.declared), func(d declaration) bool {
		return d.imported && strings.Contains(d.text, strings.TrimSuffix(modulePath, "/"))
	})
}

// valueFunctions are the predeclared functions and types whose calls must be used.
var valueFunctions = strings.Fields(`append cap complex imag len make max min new real
	bool byte complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string
	uint uint8 uint16 uint32 uint64 uintptr any`)

// hasValue reports whether an expression statement surely has a value.
func (p *past) hasValue(e ast.Expr, o outline) bool {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return p.hasValue(e.X, o)
	case *ast.UnaryExpr:
		return e.Op != token.ARROW // a received value may be dropped
	case *ast.CallExpr:
		return p.callHasValue(e.Fun, o)
	case *ast.BadExpr, *ast.KeyValueExpr:
		return false
	}
	return true
}

// callHasValue reports whether a call of the function surely has results.
func (p *past) callHasValue(function ast.Expr, o outline) bool {
	switch f := function.(type) {
	case *ast.ParenExpr:
		return p.callHasValue(f.X, o)
	case *ast.IndexExpr:
		return p.callHasValue(f.X, o)
	case *ast.ArrayType, *ast.MapType, *ast.ChanType, *ast.InterfaceType, *ast.StarExpr:
		return true // conversions
	case *ast.Ident:
		if slices.Contains(o.main.own, f.Name) {
			return false
		}
		for _, d := range slices.Backward(slices.Concat(p.scope, o.declared)) {
			if !d.imported && slices.Contains(d.names, f.Name) {
				return d.isType || len(d.results) > 0 && !slices.ContainsFunc(d.results, func(t ast.Expr) bool { return !p.printsWell(t, o) })
			}
		}
		return slices.Contains(valueFunctions, f.Name)
	}
	return false
}

// printsWell reports whether values of a type are short and readable: predeclared types, types
// of cells, slices and maps of them, tables and figures. A function that returns something
// else, such as trained models, is mostly called for what it does.
func (p *past) printsWell(t ast.Expr, o outline) bool {
	switch t := t.(type) {
	case *ast.StarExpr:
		return p.printsWell(t.X, o)
	case *ast.ArrayType:
		return p.printsWell(t.Elt, o)
	case *ast.MapType:
		return p.printsWell(t.Key, o) && p.printsWell(t.Value, o)
	case *ast.SelectorExpr:
		from, ok := t.X.(*ast.Ident)
		return ok && slices.Contains([]string{"report", "plot", "time", "big"}, from.Name)
	case *ast.Ident:
		isType := func(d declaration) bool { return d.isType && slices.Contains(d.names, t.Name) }
		return slices.Contains(valueFunctions, t.Name) || slices.ContainsFunc(p.scope, isType) || slices.ContainsFunc(o.declared, isType)
	}
	return false
}

// withoutShow takes back in an error what withLastShown has put into the line, of which the
// original is given.
func (f *compileError) withoutShow(original string) {
	at := strings.Index(f.source, showFunction+"(")
	switch {
	case at >= 0 && f.column > at+1:
		f.column = max(at+1, f.column-len(showFunction)-1)
		f.source = original
	case at >= 0 || f.source == original+")":
		f.source = original
	}
}
