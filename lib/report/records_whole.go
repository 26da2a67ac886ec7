package report

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// whole refuses records of a type that leaves a number out where it is 0: a mean over the
// values that are given would be that of the others.
func (r Records) whole() error {
	seen := map[reflect.Type]bool{}
	for _, record := range r {
		t := reflect.TypeOf(record)
		if t == nil || seen[t] {
			continue
		}
		seen[t] = true
		if left := LeftOut(t); len(left) > 0 {
			return fmt.Errorf("records of %v leave numbers out that are 0: %s", t, strings.Join(left, ", "))
		}
	}
	return nil
}

// LeftOut are the fields of a type, and of all types inside it, that encoding/json leaves
// out where they are 0 or false, by their JSON names. What may be left out is what
// was not measured: a nil pointer, list or map.
func LeftOut(t reflect.Type) []string { return leftOut(t, "", map[reflect.Type]bool{}) }

func leftOut(t reflect.Type, name string, above map[reflect.Type]bool) (out []string) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return leftOut(t.Elem(), name, above)
	case reflect.Struct:
	default:
		return nil
	}
	if above[t] || ownForm(t) {
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
		said, options, _ := strings.Cut(tag, ",")
		inner := name
		if said == "" && !f.Anonymous {
			said = f.Name
		}
		if said != "" {
			inner = strings.TrimPrefix(name+"."+said, ".")
		}
		if lost(f.Type, options) {
			out = append(out, inner)
		}
		out = append(out, leftOut(f.Type, inner, above)...)
	}
	return out
}

// lost reports whether a field with these options is left out where it is 0.
func lost(t reflect.Type, options string) bool {
	for _, option := range strings.Split(options, ",") {
		switch {
		case option == "omitempty" && counts(t.Kind()):
			return true
		case option == "omitzero" && (counts(t.Kind()) || t.Kind() == reflect.Struct || t.Kind() == reflect.Array):
			return true
		}
	}
	return false
}

// counts reports whether 0 or false is a value like any other.
func counts(k reflect.Kind) bool { return k >= reflect.Bool && k <= reflect.Complex128 }

// ownForm reports whether values of the type write themselves.
func ownForm(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}
