package npy

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parser reads the header: a Python dictionary with exactly the keys 'descr',
// 'fortran_order' and 'shape'. It knows strings without escapes, True, False,
// and tuples of integers, and nothing else of Python.
type parser struct {
	text string
	pos  int
}

func parseHeader(text string) (header, error) {
	p := parser{text: text}
	h := header{}
	seen := map[string]bool{}
	if err := p.expect("{"); err != nil {
		return header{}, err
	}
	for !p.accept("}") {
		key, err := p.quotedString()
		if err != nil {
			return header{}, err
		}
		if seen[key] {
			return header{}, p.errorf("key %q occurs twice", key)
		}
		seen[key] = true
		if err := p.expect(":"); err != nil {
			return header{}, err
		}
		if err := p.value(&h, key); err != nil {
			return header{}, err
		}
		if !p.accept(",") && !p.hasPrefix("}") {
			return header{}, p.errorf("expected ',' or '}'")
		}
	}
	p.skipSpace()
	if p.pos != len(p.text) {
		return header{}, p.errorf("expected the end of the header")
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return header{}, p.errorf("key %q is missing", key)
		}
	}
	return h, nil
}

// value reads the value of one of the three keys.
func (p *parser) value(h *header, key string) error {
	switch key {
	case "descr":
		if p.hasPrefix("[") {
			return fmt.Errorf("%w: the array has named fields; save one field", ErrType)
		}
		descr, err := p.quotedString()
		if err != nil {
			return err
		}
		return h.setDescr(descr)
	case "fortran_order":
		h.fortran = p.accept("True")
		if !h.fortran {
			return p.expect("False")
		}
		return nil
	case "shape":
		var err error
		h.shape, err = p.tuple()
		return err
	}
	return p.errorf("key %q is unknown", key)
}

func (p *parser) skipSpace() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// hasPrefix reports whether the text comes next; accept also steps over it.
func (p *parser) hasPrefix(text string) bool {
	p.skipSpace()
	return strings.HasPrefix(p.text[p.pos:], text)
}

func (p *parser) accept(text string) bool {
	ok := p.hasPrefix(text)
	if ok {
		p.pos += len(text)
	}
	return ok
}

func (p *parser) expect(text string) error {
	if !p.accept(text) {
		return p.errorf("expected %q", text)
	}
	return nil
}

// errorf adds the position and what is found there.
func (p *parser) errorf(format string, args ...any) error {
	found := p.text[p.pos:min(len(p.text), p.pos+12)]
	return fmt.Errorf("%w: header byte %d: %s, found %q", ErrFormat, p.pos, fmt.Sprintf(format, args...), found)
}

// quotedString reads a string in single or double quotes.
func (p *parser) quotedString() (string, error) {
	for _, quote := range []string{"'", `"`} {
		if !p.accept(quote) {
			continue
		}
		content, _, ok := strings.Cut(p.text[p.pos:], quote)
		if !ok {
			return "", p.errorf("expected a closing %s", quote)
		}
		if strings.ContainsAny(content, "\\\n") {
			return "", p.errorf("expected a string without escapes")
		}
		p.pos += len(content) + len(quote)
		return content, nil
	}
	return "", p.errorf("expected a string")
}

// tuple reads (), (n,) or (n, m, ...).
func (p *parser) tuple() ([]int, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	shape := []int{}
	for !p.accept(")") {
		n, err := p.number()
		if err != nil {
			return nil, err
		}
		shape = append(shape, n)
		if len(shape) > maxDims {
			return nil, p.errorf("expected at most %d dimensions", maxDims)
		}
		comma := p.accept(",")
		if !comma && (len(shape) == 1 || !p.hasPrefix(")")) {
			return nil, p.errorf("expected ','")
		}
	}
	return shape, nil
}

// number reads an integer >= 0; Python 2 wrote long ones with an L.
func (p *parser) number() (int, error) {
	p.skipSpace()
	rest := p.text[p.pos:]
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	if digits == "" {
		return 0, p.errorf("expected a whole number >= 0")
	}
	if len(digits) > 1 && digits[0] == '0' {
		return 0, p.errorf("a whole number begins with no 0")
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || n > math.MaxInt {
		return 0, p.errorf("the dimension is too large")
	}
	p.pos += len(digits)
	p.accept("L")
	return int(n), nil
}
