// Forms of cells: what a text can be read as.

package own

import (
	"math"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
)

// form is what a cell can be read as.
type form int

const (
	integer  form = iota // 17, -3, 1e5: the same with either decimal mark
	point                // 1.5
	comma                // 1,5
	infinite             // inf, 1e999
	isoDate              // see datasets.ParseDate
	code                 // digits that are no number: 007, or more than 53 bits
	word                 // anything else
	forms
)

// formOf returns the form of a cell that is not missing.
func formOf(cell string) form {
	if cell == "" {
		return word
	}
	if f, is := numberForm(cell); is {
		return f
	}
	if len(cell) >= len("2006-01-02") && cell[4] == '-' && cell[7] == '-' {
		if _, err := datasets.ParseDate(cell); err == nil {
			return isoDate
		}
	}
	switch strings.ToLower(strings.TrimLeft(cell, "+-")) {
	case "inf", "infinity":
		return infinite
	}
	return word
}

// numberForm recognises a sign, digits with one decimal mark, and an exponent.
func numberForm(cell string) (f form, is bool) {
	rest := cell
	if rest[0] == '-' || rest[0] == '+' {
		rest = rest[1:]
	}
	whole, rest := cutDigits(rest)
	mark, fraction := byte(0), ""
	if rest != "" && (rest[0] == '.' || rest[0] == ',') {
		mark = rest[0]
		fraction, rest = cutDigits(rest[1:])
	}
	if whole == "" && fraction == "" {
		return word, false
	}
	exponent := rest != ""
	if exponent && !isExponent(rest) {
		return word, false
	}
	switch {
	case (exponent || len(whole) > 300) && tooLarge(cell):
		return infinite, true
	case mark == '.':
		return point, true
	case mark == ',':
		return comma, true
	case !exponent && (len(whole) > 1 && whole[0] == '0' || !exact(whole)):
		return code, true
	}
	return integer, true
}

func cutDigits(text string) (digits, rest string) {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return text[:n], text[n:]
}

func isExponent(text string) bool {
	if text[0] != 'e' && text[0] != 'E' {
		return false
	}
	text = text[1:]
	if text != "" && (text[0] == '-' || text[0] == '+') {
		text = text[1:]
	}
	digits, rest := cutDigits(text)
	return digits != "" && rest == ""
}

// exact reports whether a float64 holds every whole number up to this one.
func exact(digits string) bool {
	if len(digits) < 16 {
		return true
	}
	v, err := strconv.ParseUint(digits, 10, 64)
	return err == nil && v <= 1<<53
}

func tooLarge(cell string) bool {
	v, err := parseNumber(cell)
	return err != nil || math.IsInf(v, 0)
}

// parseNumber parses a number of any form, with either decimal mark.
func parseNumber(cell string) (float64, error) {
	return strconv.ParseFloat(strings.Replace(cell, ",", ".", 1), 64)
}
