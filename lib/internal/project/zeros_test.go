package project

import (
	"go/ast"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// configurations are types whose zeros stand for defaults, in keys of the store; a
// time of none is one that was not taken. Nobody computes with what they leave out.
var configurations = []string{
	"lib/paper/sdepaper/diffusion Setting", // defaults of a training
	"lib/paper/blindu Taken",               // seconds of a federation, which other methods have not
}

// No type that is written for users leaves a number out because it is 0: papers'
// evidence, tables, audits, answers of commands, measurements. What is reached from
// evidence in other packages is looked at by report.LeftOut.
func TestNoNumberForUsersIsLeftOut(t *testing.T) {
	looked, used := 0, map[string]bool{}
	sources(t, func(path string, file *ast.File) {
		if !slices.ContainsFunc([]string{"lib/paper/", "lib/report/", "lib/audit/", "lib/command/", "kernel/internal/bench/"}, func(p string) bool { return strings.HasPrefix(path, p) }) {
			return
		}
		folder := path[:strings.LastIndex(path, "/")]
		ast.Inspect(file, func(n ast.Node) bool {
			of, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			for _, field := range leavesOut(of.Type) {
				if name := folder + " " + of.Name.Name; slices.Contains(configurations, name) {
					used[name] = true
				} else {
					t.Errorf("%s: %s leaves %s out where it is 0", path, of.Name.Name, field)
				}
			}
			looked++
			return true
		})
	})
	for _, name := range configurations {
		if !used[name] {
			t.Errorf("%s leaves nothing out: take it off the list", name)
		}
	}
	if looked < 200 {
		t.Errorf("only %d types were looked at", looked)
	}
}

// leavesOut are the numbers among a type's fields that have the option omitempty or
// omitzero.
func leavesOut(of ast.Expr) (out []string) {
	ast.Inspect(of, func(n ast.Node) bool {
		f, ok := n.(*ast.Field)
		if !ok || f.Tag == nil {
			return true
		}
		text, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			return true
		}
		tag := reflect.StructTag(text).Get("json")
		kind, plain := f.Type.(*ast.Ident)
		number := plain && slices.ContainsFunc([]string{"int", "uint", "float", "byte", "rune"}, func(k string) bool { return strings.HasPrefix(kind.Name, k) })
		if number && (strings.Contains(tag, ",omitempty") || strings.Contains(tag, ",omitzero")) {
			out = append(out, strings.Split(tag, ",")[0])
		}
		return true
	})
	return out
}
