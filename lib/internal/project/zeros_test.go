// No exported number is omitted because it is 0.

package project

import (
	"go/ast"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// omitsAllowed are types whose zeros mean defaults in keys of the store, or a time that was not
// measured. No number is computed from the omitted fields.
var omitsAllowed = []string{
	"lib/paper/sdepaper/diffusion Setting", // defaults of a training
	"lib/paper/blindu RunCost",             // seconds of a federation, which other methods do not have
}

// No type that is written for users omits a number because it is 0: papers' evidence, tables,
// audits, output of commands, measurements. report.OmittedZeros checks what is reached from
// evidence in other packages.
func TestNoNumberForUsersIsLeftOut(t *testing.T) {
	looked, used := 0, map[string]bool{}
	sources(t, func(path string, file *ast.File) {
		if !slices.ContainsFunc([]string{"lib/paper/", "lib/report/", "lib/audit/", "lib/command/", "kernel/internal/bench/"}, func(p string) bool { return strings.HasPrefix(path, p) }) {
			return
		}
		folder := path[:strings.LastIndex(path, "/")]
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			for _, field := range omittedNumbers(spec.Type) {
				if name := folder + " " + spec.Name.Name; slices.Contains(omitsAllowed, name) {
					used[name] = true
				} else {
					t.Errorf("%s: %s leaves %s out where it is 0", path, spec.Name.Name, field)
				}
			}
			looked++
			return true
		})
	})
	for _, name := range omitsAllowed {
		if !used[name] {
			t.Errorf("%s leaves nothing out: take it off the list", name)
		}
	}
	if looked < 200 {
		t.Errorf("only %d types were looked at", looked)
	}
}

// omittedNumbers returns the numbers among a type's fields with the option omitempty or omitzero.
func omittedNumbers(spec ast.Expr) (out []string) {
	ast.Inspect(spec, func(n ast.Node) bool {
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
