// Strict decoding of JSON files.

package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ReadJSON reads a JSON value from a regular file of at most limit bytes into to, with the
// rules of DecodeStrict. Errors name the path and, where it is known, the line.
func ReadJSON(path string, limit int64, to any) error {
	b, err := Read(path, limit)
	if err != nil {
		return err
	}
	if err := DecodeStrict(b, to); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// DecodeStrict decodes one JSON value. It skips a byte-order mark, and refuses text that is not UTF-8
// (encoding/json would replace it), unknown names, duplicate names (encoding/json would drop the first value) and text after the
// value.
func DecodeStrict(b []byte, to any) error {
	b, err := TrimBOM(b)
	if err != nil {
		return err
	}
	if !utf8.Valid(b) {
		return fmt.Errorf("line %d: %w", lineOf(b, int64(firstInvalid(b))), ErrEncoding)
	}
	var syntax *json.SyntaxError
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(new(json.RawMessage)); errors.As(err, &syntax) {
		return fmt.Errorf("line %d: %w", lineOf(b, syntax.Offset), err)
	} else if err != nil && len(bytes.TrimSpace(b)) == 0 {
		return errors.New("it is empty")
	} else if err != nil {
		return errors.New("the value does not end")
	}
	if rest := bytes.TrimLeft(b[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return fmt.Errorf("line %d: there is text after the end", lineOf(b, int64(len(b)-len(rest))))
	}
	d = json.NewDecoder(bytes.NewReader(b))
	if err := checkDuplicates(d); err != nil {
		return fmt.Errorf("line %d: %w", lineOf(b, d.InputOffset()), err)
	}
	d = json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	err = d.Decode(to)
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Errorf("line %d: %w", lineOf(b, kind.Offset), wrongKind{kind})
	}
	if quoted, ok := strings.CutPrefix(fmt.Sprint(err), "json: unknown field "); ok {
		return unknownName(b, quoted)
	}
	return err
}

// firstInvalid is the place of the first byte that is not UTF-8.
func firstInvalid(b []byte) (at int) {
	for at < len(b) {
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return at
}

// unknownName says that a name is not known, with its line where it stands in the value once.
func unknownName(b []byte, quoted string) error {
	name, err := strconv.Unquote(quoted)
	if err != nil {
		return errors.New("unknown field " + quoted)
	}
	var lines []int
	namesOf(json.NewDecoder(bytes.NewReader(b)), func(found string, end int64) {
		if found == name {
			lines = append(lines, lineOf(b, end))
		}
	})
	if len(lines) != 1 {
		return errors.New("unknown field " + quoted)
	}
	return fmt.Errorf("line %d: unknown field %s", lines[0], quoted)
}

// namesOf reads a value of valid syntax and reports every name in it, with the place where it ends.
func namesOf(d *json.Decoder, report func(name string, end int64)) {
	t, err := d.Token()
	if err != nil || t != json.Delim('{') && t != json.Delim('[') {
		return
	}
	for d.More() {
		if t == json.Delim('{') {
			name, err := d.Token()
			if err != nil {
				return
			}
			report(fmt.Sprint(name), d.InputOffset())
		}
		namesOf(d, report)
	}
	_, _ = d.Token() // the end, which is there
}

// wrongKind says of a value of another kind, in plain words, what it is and what is expected.
type wrongKind struct{ *json.UnmarshalTypeError }

// Unwrap returns the error of package json.
func (e wrongKind) Unwrap() error { return e.UnmarshalTypeError }

// Error implements error.
func (e wrongKind) Error() string {
	what := "the value"
	if e.Field != "" {
		what = e.Field
	}
	name, number, _ := strings.Cut(e.Value, " ")
	is, ok := map[string]string{"array": "a list", "bool": "true or false", "number": "a number", "object": "an object", "string": "text"}[name]
	if !ok {
		is = e.Value
	}
	if number != "" {
		is = number
	}
	return fmt.Sprintf("%s is %s, and %s is expected", what, is, expected(e.Type))
}

// expected says what a value of a Go type is in JSON.
func expected(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "text"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number of at least 0"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	}
	return "a number"
}

func lineOf(b []byte, offset int64) int {
	return 1 + bytes.Count(b[:min(int(offset), len(b))], []byte("\n"))
}

// checkDuplicates reads a value of valid syntax and refuses an object with a duplicate
// name.
func checkDuplicates(d *json.Decoder) error {
	t, err := d.Token()
	if err != nil || t != json.Delim('{') && t != json.Delim('[') {
		return err
	}
	seen := map[json.Token]bool{}
	for d.More() {
		if t == json.Delim('{') {
			name, err := d.Token()
			if err != nil {
				return err
			}
			if seen[name] {
				return fmt.Errorf("%q is given twice", name)
			}
			seen[name] = true
		}
		if err := checkDuplicates(d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}
