// Package defaults fills in the settings that a user left open. A field's tag says its default:
//
//	Epochs int      `json:"epochs,omitempty" default:"10"`
//	Alpha  *float64 `json:"alpha,omitempty" default:"0.6"` // new(0.0): none
//
// A zero field means the default. Where zero is a setting of its own the field is a pointer, and
// nil means the default.
package defaults

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// Setter is a type, by its pointer, with defaults that depend on its other fields. [Fill] calls
// SetDefaults when the type's own tags and those of embedded structs are filled in, and before
// those of what other fields hold. Called again it must change nothing.
type Setter interface{ SetDefaults() }

// Fill returns a copy of v in which every zero field with a tag has its default: in v and in the
// structs that its fields hold directly, by a pointer or by an interface. A field with the tag
// "-" stays as it is, and so does one whose tag does not fit its type (see [Check]). Neither v
// nor what it points to is changed.
func Fill[T any](v T) T {
	fill(reflect.ValueOf(&v).Elem())
	return v
}

func fill(v reflect.Value) {
	switch {
	case v.Kind() == reflect.Struct:
		fillStruct(v)
	case v.Kind() == reflect.Interface && !v.IsNil():
		v.Set(filledCopy(v.Elem()))
	case v.Kind() == reflect.Pointer && !v.IsNil() && fillable(v.Type().Elem(), nil):
		v.Set(filledCopy(v.Elem()).Addr())
	}
}

// filledCopy returns a copy that can be changed.
func filledCopy(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	fill(out)
	return out
}

func fillStruct(v reflect.Value) {
	for i := range v.NumField() {
		field, f := v.Field(i), v.Type().Field(i)
		text := f.Tag.Get("default")
		switch {
		case f.Anonymous && text != "-" && (f.IsExported() || field.Kind() == reflect.Struct):
			fill(field)
		case text != "" && text != "-" && f.IsExported() && isZero(field):
			_ = set(field, text) // Check says what is wrong with a tag
		}
	}
	if v.CanInterface() { // else it is embedded, and its method is that of the type around it
		if s, ok := v.Addr().Interface().(Setter); ok {
			s.SetDefaults()
		}
	}
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && !f.Anonymous && f.Tag.Get("default") != "-" {
			fill(v.Field(i))
		}
	}
}

// isZero counts a negative zero as zero.
func isZero(v reflect.Value) bool { return v.IsZero() || v.CanFloat() && v.Float() == 0 }

// fillable reports whether Fill may change a value of a type. Others are not copied: their copies
// may be invalid, as a mutex's is.
func fillable(t reflect.Type, above []reflect.Type) bool {
	if slices.Contains(above, t) {
		return false
	}
	above = append(above, t)
	switch t.Kind() {
	case reflect.Pointer:
		return fillable(t.Elem(), above)
	case reflect.Struct:
	default:
		return false
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[Setter]()) {
		return true
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if tag := f.Tag.Get("default"); f.IsExported() && tag != "-" && (tag != "" || fillable(f.Type, above)) {
			return true
		}
	}
	return false
}

// set sets a field, or what it points to, to the value that a text says; after an error it is
// what it was.
func set(v reflect.Value, text string) error {
	switch {
	case v.Kind() == reflect.Pointer:
		to := reflect.New(v.Type().Elem())
		if err := set(to.Elem(), text); err != nil {
			return err
		}
		v.Set(to)
	case v.Kind() == reflect.String:
		v.SetString(text)
	case v.CanInt():
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		if err != nil {
			return err
		}
		v.SetInt(n)
	case v.CanUint():
		n, err := strconv.ParseUint(text, 10, v.Type().Bits())
		if err != nil {
			return err
		}
		v.SetUint(n)
	case v.CanFloat():
		x, err := strconv.ParseFloat(text, v.Type().Bits())
		if err != nil {
			return err
		}
		v.SetFloat(x)
	default:
		return fmt.Errorf("a %v has no default", v.Type())
	}
	return nil
}

// Check returns an error for the first tag, in the type of v and in those of its fields, that
// does not fit its field. The conformance suites call it.
func Check(v any) error {
	if v == nil {
		return nil
	}
	return checkType(reflect.TypeOf(v), nil)
}

func checkType(t reflect.Type, above []reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || slices.Contains(above, t) {
		return nil
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if tag := f.Tag.Get("default"); tag != "" && tag != "-" {
			if err := checkTag(f, tag); err != nil {
				return fmt.Errorf("%v.%s: default %q: %w", t, f.Name, tag, err)
			}
		}
		if err := checkType(f.Type, append(above, t)); err != nil {
			return err
		}
	}
	return nil
}

func checkTag(f reflect.StructField, tag string) error {
	if !f.IsExported() {
		return fmt.Errorf("the field is not exported")
	}
	v := reflect.New(f.Type).Elem()
	if err := set(v, tag); err != nil {
		return err
	}
	if isZero(v) {
		return fmt.Errorf("zero is what a field has without a default")
	}
	return nil
}
