// Refusal of record types that omit zeros.

package report

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
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
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return omittedZeros(t.Elem(), name, above)
	case reflect.Struct:
	default:
		return nil
	}
	if above[t] || marshalsItself(t) {
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
