// Refusal of record types that omit zeros.

package report

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// checkZeros refuses records of a type that omits numbers that are 0, because a mean over the
// written values would be wrong.
func (r Records) checkZeros() error {
	seen := map[reflect.Type]bool{}
	for _, record := range r {
		t := reflect.TypeOf(record)
		if t == nil || seen[t] {
			continue
		}
		seen[t] = true
		if left := OmittedZeros(t); len(left) > 0 {
			return fmt.Errorf("records of %v omit numbers that are 0: %s", t, strings.Join(left, ", "))
		}
	}
	return nil
}

// OmittedZeros returns the JSON names of the fields of a type, and of all types inside it, that
// encoding/json omits if they are 0 or false. Nil pointers, lists and maps may be omitted: they
// mean "not measured".
func OmittedZeros(t reflect.Type) []string { return omittedZeros(t, "", map[reflect.Type]bool{}) }

func omittedZeros(t reflect.Type, name string, above map[reflect.Type]bool) (out []string) {
	t = structInside(t)
	if t == nil || above[t] {
		return nil
	}
	above[t] = true
	defer delete(above, t)
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if tag == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		jsonName, options, _ := strings.Cut(tag, ",")
		inner := name
		if jsonName == "" && !f.Anonymous {
			jsonName = f.Name
		}
		if jsonName != "" {
			inner = strings.TrimPrefix(name+"."+jsonName, ".")
		}
		if omitsZero(f.Type, options) {
			out = append(out, inner)
		}
		out = append(out, omittedZeros(f.Type, inner, above)...)
	}
	return out
}

// LostFields returns the fields of a type, and of all types inside it, that encoding/json would lose
// without a word: unexported ones, and several of one name. A field with the tag "-" is left out on
// purpose.
func LostFields(t reflect.Type) []string { return lostFields(t, "", map[reflect.Type]bool{}) }

func lostFields(t reflect.Type, name string, above map[reflect.Type]bool) (out []string) {
	t = structInside(t)
	if t == nil || above[t] {
		return nil
	}
	above[t] = true
	defer delete(above, t)
	written := map[string][]jsonField{}
	collectFields(t, 1, written)
	for _, jsonName := range slices.Sorted(maps.Keys(written)) {
		inner := strings.TrimPrefix(name+"."+jsonName, ".")
		switch f, unique := nearest(written[jsonName]); {
		case !unique:
			out = append(out, inner+" (twice)")
		case !f.IsExported():
			out = append(out, inner+" (not exported)")
		default:
			out = append(out, lostFields(f.Type, inner, above)...)
		}
	}
	return out
}

// jsonField is a field at a depth of embedding.
type jsonField struct {
	reflect.StructField
	depth int
}

// collectFields adds the fields of a type and of its embedded types under their names in JSON.
func collectFields(t reflect.Type, depth int, to map[string][]jsonField) {
	for i := range t.NumField() {
		f := t.Field(i)
		switch name, embedded := jsonNameOf(f); {
		case name == "-":
		case embedded && f.Type.Kind() == reflect.Pointer:
			if depth < 10 { // a type can embed a pointer to itself
				collectFields(f.Type.Elem(), depth+1, to)
			}
		case embedded:
			collectFields(f.Type, depth+1, to)
		default:
			to[name] = append(to[name], jsonField{f, depth})
		}
	}
}

// nearest returns the field that encoding/json writes of several with one name: that of the least
// depth, and of several there the one with a tag. Where that is not one field, it writes none.
func nearest(fields []jsonField) (f jsonField, unique bool) {
	least := slices.MinFunc(fields, func(a, b jsonField) int { return a.depth - b.depth }).depth
	fields = slices.DeleteFunc(fields, func(f jsonField) bool { return f.depth > least })
	if len(fields) > 1 {
		tagged := slices.DeleteFunc(slices.Clone(fields), func(f jsonField) bool { return f.Tag.Get("json") == "" })
		if len(tagged) == 1 {
			fields = tagged
		}
	}
	return fields[0], len(fields) == 1
}

// jsonNameOf returns the name of a field in JSON, "-" if it is left out, and whether its fields stand
// for it.
func jsonNameOf(f reflect.StructField) (name string, embedded bool) {
	tag := f.Tag.Get("json")
	if tag == "-" {
		return "-", false
	}
	name, _, _ = strings.Cut(tag, ",")
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if name == "" {
		return f.Name, f.Anonymous && t.Kind() == reflect.Struct && !marshalsItself(t)
	}
	return name, false
}

// structInside returns the struct that a type holds or leads to, whose fields encoding/json writes; nil
// if there is none.
func structInside(t reflect.Type) reflect.Type {
	for range 100 { // a list can be one of itself
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			t = t.Elem()
			continue
		case reflect.Struct:
			if !marshalsItself(t) {
				return t
			}
		}
		return nil
	}
	return nil
}

// omitsZero reports whether a field with these options is omitted if it is 0.
func omitsZero(t reflect.Type, options string) bool {
	for _, option := range strings.Split(options, ",") {
		switch {
		case option == "omitempty" && isScalar(t.Kind()):
			return true
		case option == "omitzero" && (isScalar(t.Kind()) || t.Kind() == reflect.Struct || t.Kind() == reflect.Array):
			return true
		}
	}
	return false
}

// isScalar reports whether 0 or false is an ordinary value of the kind.
func isScalar(k reflect.Kind) bool { return k >= reflect.Bool && k <= reflect.Complex128 }

// marshalsItself reports whether the type implements json.Marshaler or encoding.TextMarshaler.
func marshalsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}
