// Numbers that Python writes into JSON and JSON does not have.

package logs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/lethe-ml/lethe/lib/files"
)

// decode is files.DecodeStrict, and names NaN and infinite numbers by their line and keys: Python writes them, and
// the syntax error that they are says nothing of what they belong to.
func decode(b []byte, to any) error {
	err := files.DecodeStrict(b, to)
	if err == nil {
		return nil
	}
	if w := findNonFinite(b); w.found > 0 {
		return fmt.Errorf("%s%s: Python writes it so, and JSON has no such number", w.first, w.more())
	}
	return err
}

// maxNesting is the depth up to which values are looked at. Logs have at most six.
const maxNesting = 20

// nonFinite looks for numbers that are not finite.
type nonFinite struct {
	text  []byte // with 0 in their places
	words map[int64]string
	d     *json.Decoder
	first string // the first of them, with its line and keys
	found int
}

// findNonFinite names the numbers of a JSON text that are not finite, up to where its syntax is wrong otherwise.
func findNonFinite(b []byte) *nonFinite {
	w := &nonFinite{words: map[int64]string{}}
	w.replace(b)
	w.d = json.NewDecoder(bytes.NewReader(w.text))
	_ = w.value("", 0) // a wrong syntax is reported by whoever decodes
	return w
}

// replace writes 0 for such numbers, as many digits as they have letters, and notes where they end.
func (w *nonFinite) replace(b []byte) {
	w.text = bytes.Clone(bytes.TrimPrefix(b, []byte("\ufeff")))
	inside := false // a string
	for i := 0; i < len(w.text); i++ {
		switch c := w.text[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case inside:
		default:
			i += w.replaceAt(i)
		}
	}
}

// replaceAt replaces the number at a place, and returns how many letters behind its first are passed over.
func (w *nonFinite) replaceAt(i int) int {
	for word, digits := range map[string]string{"NaN": "0.0", "Infinity": "0.000000"} {
		if !bytes.HasPrefix(w.text[i:], []byte(word)) {
			continue
		}
		copy(w.text[i:], digits)
		if i > 0 && w.text[i-1] == '-' {
			word = "-" + word
		}
		w.words[int64(i+len(digits))] = word
		return len(digits) - 1
	}
	return 0
}

// value reads a value, which lies below the keys of path.
func (w *nonFinite) value(path string, depth int) error {
	token, err := w.d.Token()
	if err != nil || depth > maxNesting {
		return fmt.Errorf("no value at depth %d: %w", depth, err)
	}
	if word := w.words[w.d.InputOffset()]; word != "" {
		if w.found++; w.found == 1 {
			w.first = fmt.Sprintf("line %d: %s is %s", 1+bytes.Count(w.text[:w.d.InputOffset()], []byte("\n")), path, word)
		}
	}
	list, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	for k := 0; w.d.More(); k++ {
		key := strconv.Itoa(k)
		if list == '{' {
			token, err := w.d.Token()
			if err != nil {
				return fmt.Errorf("no key: %w", err)
			}
			key = fmt.Sprint(token)
		}
		if path != "" {
			key = path + ", " + key
		}
		if err := w.value(key, depth+1); err != nil {
			return err
		}
	}
	if _, err = w.d.Token(); err != nil { // the end of the list
		return fmt.Errorf("no end: %w", err)
	}
	return nil
}

// more is empty for one such number, and otherwise " (and N more)".
func (w *nonFinite) more() string {
	if w.found < 2 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", w.found-1)
}
