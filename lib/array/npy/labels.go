// Class labels: numbers of any type, or text of a fixed width.

package npy

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Labels are the class labels of records.
type Labels struct {
	// Codes holds the class code of every record, a position in Names.
	Codes []int
	// Names are the distinct labels: numbers ascending, texts sorted as byte strings. They are
	// printed as Python prints them: 3, True, setosa.
	Names []string
}

// ReadLabels reads class labels: an array of shape (n,) or (n, 1) of integers, whole floats, bools,
// or text of a fixed width (NumPy's U and S). Unlike ReadClasses it accepts numbers below 0 and
// numbers without 0, and counts only the labels that occur.
func ReadLabels(path string) (Labels, error) { return readWith(path, openAny, labels) }

func labels(s *source) (Labels, error) {
	if err := s.checkVector(); err != nil {
		return Labels{}, err
	}
	switch s.kind {
	case 'U', 'S':
		return textLabels(s)
	case 'f':
		return floatLabels(s)
	case 'b':
		return boolLabels(s)
	}
	values := make([]int64, s.shape[0])
	err := s.chunks(len(values), func(first int, b []byte) error {
		for i := range len(b) / s.size {
			v := s.integer(b[i*s.size:])
			if !v.negative && v.bits > math.MaxInt64 {
				return fmt.Errorf("%w: element %d is %v, labels are below 2^63", ErrValue, first+i, v)
			}
			values[first+i] = int64(v.bits)
		}
		return nil
	})
	return numberLabels(values), err
}

func floatLabels(s *source) (Labels, error) {
	floats, err := vector(s)
	if err != nil {
		return Labels{}, err
	}
	values := make([]int64, len(floats))
	for i, v := range floats {
		if v != math.Trunc(v) || math.Abs(v) > 1<<53 { // NaN is not equal to itself
			return Labels{}, fmt.Errorf("%w: element %d is %v, a label is a whole number", ErrValue, i, v)
		}
		values[i] = int64(v)
	}
	return numberLabels(values), nil
}

func boolLabels(s *source) (Labels, error) {
	s.kind = 'u' // a bool is a byte that is 0 or 1
	l, err := labels(s)
	if err != nil {
		return Labels{}, err
	}
	for k, name := range l.Names {
		if name != "0" && name != "1" {
			return Labels{}, fmt.Errorf("%w: a bool is %s, expected 0 or 1", ErrValue, name)
		}
		l.Names[k] = map[string]string{"0": "False", "1": "True"}[name]
	}
	return l, nil
}

func numberLabels(values []int64) Labels {
	distinct := slices.Compact(slices.Sorted(slices.Values(values)))
	l := Labels{Codes: make([]int, len(values)), Names: make([]string, len(distinct))}
	for k, v := range distinct {
		l.Names[k] = strconv.FormatInt(v, 10)
	}
	for i, v := range values {
		l.Codes[i], _ = slices.BinarySearch(distinct, v)
	}
	return l
}

func textLabels(s *source) (Labels, error) {
	values := make([]string, 0, s.shape[0])
	err := s.chunks(s.shape[0], func(first int, b []byte) error {
		for i := range len(b) / s.size {
			text, ok := s.text(b[i*s.size : (i+1)*s.size])
			if !ok {
				return fmt.Errorf("%w: element %d is not valid Unicode text", ErrValue, first+i)
			}
			values = append(values, text)
		}
		return nil
	})
	if err != nil {
		return Labels{}, err
	}
	l := Labels{Codes: make([]int, len(values)), Names: slices.Compact(slices.Sorted(slices.Values(values)))}
	for i, v := range values {
		l.Codes[i], _ = slices.BinarySearch(l.Names, v)
	}
	return l, nil
}

// setText interprets a type of text such as "<U12" (32 bits per character) or "|S3" (bytes). It
// returns false for other types.
func (h *header) setText(descr string) bool {
	if len(descr) < 3 || descr[1] != 'U' && descr[1] != 'S' {
		return false
	}
	width, err := strconv.ParseUint(descr[2:], 10, 31)
	if err != nil || width == 0 {
		return false
	}
	h.kind, h.size, h.order = descr[1], int(width), binary.LittleEndian
	if h.kind == 'S' {
		return descr[0] == '|'
	}
	h.size *= 4
	if descr[0] == '>' {
		h.order = binary.BigEndian
	}
	return descr[0] == '<' || descr[0] == '>'
}

func (h header) isText() bool { return h.kind == 'U' || h.kind == 'S' }

// text decodes one element, without the zeros that fill it up.
func (h header) text(b []byte) (string, bool) {
	if h.kind == 'S' {
		text := strings.TrimRight(string(b), "\x00")
		return text, utf8.ValidString(text)
	}
	var out strings.Builder
	for ; len(b) > 0; b = b[4:] {
		r := h.order.Uint32(b)
		if r > utf8.MaxRune || !utf8.ValidRune(rune(r)) {
			return "", false
		}
		out.WriteRune(rune(r))
	}
	return strings.TrimRight(out.String(), "\x00"), true
}
