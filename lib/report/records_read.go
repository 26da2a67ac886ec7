// Reading of records back from CSV.

package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// ReadRecords reads rows of a type that Records.CSV wrote. An empty field keeps its zero value, a
// pointer nil. A column without a field in the type, and a text that is not a value of its field,
// are errors with line and column.
func ReadRecords[T any](r io.Reader) ([]T, error) {
	limited := &io.LimitedReader{R: r, N: maxJSON + 1}
	in := csv.NewReader(limited)
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("records: there is no header")
	}
	if err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	places := make([][]step, len(header))
	for i, name := range header {
		if name == HashColumn {
			continue
		}
		path, ok := pathTo(reflect.TypeFor[T](), name, len(header))
		if !ok {
			return nil, fmt.Errorf("records: column %q is none of %v", name, reflect.TypeFor[T]())
		}
		places[i] = path
	}
	var out []T
	for {
		line, err := in.Read()
		if limited.N <= 0 {
			return nil, fmt.Errorf("records: larger than %d bytes", maxJSON)
		}
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("records: %w", err)
		}
		var row T
		for i, text := range line {
			if text == "" || places[i] == nil {
				continue
			}
			if err := setPath(reflect.ValueOf(&row).Elem(), places[i], text); err != nil {
				n, _ := in.FieldPos(i)
				return nil, fmt.Errorf("records: line %d, column %q: %w", n, header[i], err)
			}
		}
		out = append(out, row)
	}
}

// ReadRunsHash returns the hash in HashColumn, or "" without such a column. All lines must have
// the same hash.
func ReadRunsHash(r io.Reader) (string, error) {
	rows, err := csv.NewReader(&io.LimitedReader{R: r, N: maxJSON}).ReadAll()
	if err != nil {
		return "", fmt.Errorf("records: %w", err)
	}
	hash := ""
	for i, row := range rows {
		for j, name := range rows[0] {
			switch {
			case name != HashColumn || i == 0:
			case i > 1 && row[j] != hash:
				return "", fmt.Errorf("records: line %d is of other runs than those above it", i+1)
			default:
				hash = row[j]
			}
		}
	}
	return hash, nil
}

// step goes one level down: to a field, a key of a map, or an element of a list.
type step struct {
	field []int
	key   string
	index int
}

// pathTo finds the field of a column's name in a type. Keys of maps and names of fields may
// contain dots; the shortest one that leaves a valid rest is used.
func pathTo(t reflect.Type, name string, most int) ([]step, bool) {
	if name == "" { // a scalar, or null
		return []step{}, true
	}
	switch t.Kind() {
	case reflect.Pointer:
		return pathTo(t.Elem(), name, most)
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			jsonName, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous && jsonName == "" || jsonName == "-" || !f.IsExported() || throughPointer(t, f.Index) {
				continue
			}
			if jsonName == "" {
				jsonName = f.Name
			}
			if inner, ok := pathBelow(f.Type, name, jsonName, most); ok && !shadowed(t, f, jsonName) {
				return append([]step{{field: f.Index}}, inner...), true
			}
		}
		return nil, false
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return nil, false
		}
		for at := 0; at <= len(name); at++ {
			if at < len(name) && name[at] != '.' {
				continue
			}
			if inner, ok := pathBelow(t.Elem(), name, name[:at], most); ok {
				return append([]step{{key: name[:at]}}, inner...), true
			}
		}
		return nil, false
	case reflect.Slice, reflect.Array:
		number, _, _ := strings.Cut(name, ".")
		k, err := strconv.Atoi(number)
		if err != nil || k < 0 || k >= most || strconv.Itoa(k) != number || t.Kind() == reflect.Array && k >= t.Len() {
			return nil, false
		}
		inner, ok := pathBelow(t.Elem(), name, number, most)
		return append([]step{{index: k}}, inner...), ok
	}
	return nil, false
}

// pathBelow returns the path of the rest of a name after its first part.
func pathBelow(t reflect.Type, name, first string, most int) ([]step, bool) {
	if name == first {
		return pathTo(t, "", most)
	}
	rest, ok := strings.CutPrefix(name, first+".")
	if !ok || rest == "" {
		return nil, false
	}
	return pathTo(t, rest, most)
}

// shadowed reports whether a field of another struct inside t has the same name at a lower depth.
func shadowed(t reflect.Type, f reflect.StructField, jsonName string) bool {
	for _, other := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(other.Tag.Get("json"), ",")
		if name == jsonName && len(other.Index) < len(f.Index) {
			return true
		}
	}
	return false
}

// throughPointer reports whether the path to an embedded field goes through a pointer.
func throughPointer(t reflect.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		if t = t.Field(i).Type; t.Kind() == reflect.Pointer {
			return true
		}
	}
	return false
}

// setPath sets the value at a path.
func setPath(v reflect.Value, path []step, text string) error {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		return setPath(v.Elem(), path, text)
	}
	if len(path) == 0 {
		return parse(v, text)
	}
	at, rest := path[0], path[1:]
	switch v.Kind() {
	case reflect.Struct:
		return setPath(v.FieldByIndex(at.field), rest, text)
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		key := reflect.ValueOf(at.key).Convert(v.Type().Key())
		inner := reflect.New(v.Type().Elem()).Elem()
		if old := v.MapIndex(key); old.IsValid() {
			inner.Set(old)
		}
		if err := setPath(inner, rest, text); err != nil {
			return err
		}
		v.SetMapIndex(key, inner)
		return nil
	case reflect.Slice:
		for v.Len() <= at.index {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		}
	}
	return setPath(v.Index(at.index), rest, text)
}

// parse sets a scalar.
func parse(v reflect.Value, text string) (err error) {
	bits := 64
	if v.CanInt() || v.CanUint() || v.CanFloat() {
		bits = v.Type().Bits()
	}
	switch {
	case v.Kind() == reflect.String:
		v.SetString(text)
	case v.Kind() == reflect.Bool:
		var x bool
		x, err = strconv.ParseBool(text)
		v.SetBool(x)
	case v.CanInt():
		var x int64
		x, err = strconv.ParseInt(text, 10, bits)
		v.SetInt(x)
	case v.CanUint():
		var x uint64
		x, err = strconv.ParseUint(text, 10, bits)
		v.SetUint(x)
	case v.CanFloat():
		var x float64
		x, err = strconv.ParseFloat(text, bits)
		v.SetFloat(x)
	default:
		err = fmt.Errorf("a %v cannot be read", v.Type())
	}
	return err
}
