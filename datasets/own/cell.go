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
	grouped              // 1.234.567, 1.234,50, 1'234: a number with marks between thousands, without doubt
	absent               // None, n/a: missing in a column of numbers or dates, see settle
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
	if isAbsent(cell) {
		return absent
	}
	if g, is := cutThousands(cell); is && g.group != 0 {
		return grouped // with one point or comma it would be a number
	}
	return word
}

// numberForm recognises a sign, digits with one decimal mark, and an exponent.
func numberForm(cell string) (f form, is bool) {
	n, is := cutNumber(cell)
	switch {
	case !is:
		return word, false
	case (n.exponent || len(n.whole) > 300) && tooLarge(cell):
		return infinite, true
	case !n.exponent && strings.Trim(n.fraction, "0") == "" && !exact(n.whole):
		return code, true
	case n.mark == '.':
		return point, true
	case n.mark == ',':
		return comma, true
	case !n.exponent && len(n.whole) > 1 && n.whole[0] == '0':
		return code, true
	}
	return integer, true
}

// cutCell are the parts of a number as it is written.
type cutCell struct {
	whole, fraction string // digits
	mark            byte   // between them: '.', ',' or 0
	exponent        bool
}

func cutNumber(cell string) (n cutCell, is bool) {
	rest := cell
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		rest = rest[1:]
	}
	n.whole, rest = cutDigits(rest)
	if rest != "" && (rest[0] == '.' || rest[0] == ',') {
		n.mark = rest[0]
		n.fraction, rest = cutDigits(rest[1:])
	}
	n.exponent = rest != ""
	return n, n.whole+n.fraction != "" && (!n.exponent || isExponent(rest))
}

// isWhole reports whether a number is written as a whole one, or as pandas writes one in a column of
// floats: 55.0.
func (n cutCell) isWhole() bool {
	return !n.exponent && n.whole != "" && strings.Trim(n.fraction, "0") == ""
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

// isAbsent reports whether a text is how pandas or a person writes a missing value, where it can be a
// name too: a symptom can be None.
func isAbsent(cell string) bool {
	switch cell {
	case "None", "n/a", "#NA", "#N/A N/A", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN":
		return true
	}
	return false
}

// cutOffset divides an ISO 8601 time from its offset from UTC, "" for none and for Z: a day is the
// day as it is written.
func cutOffset(cell string) (written, offset string) {
	const day = len("2006-01-02")
	if len(cell) <= day {
		return cell, ""
	}
	if k := strings.LastIndexAny(cell, "+-"); k > day {
		return cell[:k], cell[k:]
	}
	return cell, ""
}

// exact reports whether a float64 holds every whole number up to this one.
func exact(digits string) bool {
	if len(digits) < 16 {
		return true
	}
	v, err := strconv.ParseUint(digits, 10, 64)
	return err == nil && v <= 1<<53
}

// held reports whether a float64 holds a number that is written as a whole one as it is: another one,
// such as another person's, would be taken for it otherwise.
func held(cell string) bool {
	n, is := cutNumber(cell)
	if !is || !n.isWhole() || exact(n.whole) {
		return true
	}
	v, err := strconv.ParseFloat(n.whole, 64)
	return err == nil && strconv.FormatFloat(v, 'f', 0, 64) == strings.TrimLeft(n.whole, "0")
}

func tooLarge(cell string) bool {
	v, err := parseNumber(cell)
	return err != nil || math.IsInf(v, 0)
}

// parseNumber parses a number of any form, with either decimal mark.
func parseNumber(cell string) (float64, error) {
	return strconv.ParseFloat(strings.Replace(cell, ",", ".", 1), 64)
}
