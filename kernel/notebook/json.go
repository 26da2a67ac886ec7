package notebook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a notebook's JSON.
const maxDepth = 200

// parseJSON reads one JSON value with nothing behind it. Unlike encoding/json
// it refuses an object that has a key twice, of which one value would be lost,
// and text that is not UTF-8. Numbers stay as they are written.
func parseJSON(b []byte) (any, error) {
	if !utf8.Valid(b) {
		return nil, fmt.Errorf("line %d: not UTF-8 text", lineOf(b, firstInvalid(b)))
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	v, err := value(d, 0)
	if err == nil {
		if _, next := d.Token(); next != io.EOF {
			err = fmt.Errorf("something follows the notebook's last brace")
		}
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", lineOf(b, int(d.InputOffset())), err)
	}
	return v, nil
}

func firstInvalid(b []byte) int {
	at := 0
	for at < len(b) {
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return at
}

func lineOf(b []byte, at int) int { return 1 + bytes.Count(b[:min(at, len(b))], []byte("\n")) }

func value(d *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested more than %d deep", maxDepth)
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		return object(d, depth)
	case json.Delim('['):
		return array(d, depth)
	}
	return t, nil
}

func object(d *json.Decoder, depth int) (any, error) {
	o := Object{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		key := t.(string) // the decoder has seen to that
		if _, twice := o[key]; twice {
			return nil, fmt.Errorf("the key %q appears twice in an object", key)
		}
		if o[key], err = value(d, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return o, err
}

func array(d *json.Decoder, depth int) (any, error) {
	list := []any{}
	for d.More() {
		v, err := value(d, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.Token()
	return list, err
}
