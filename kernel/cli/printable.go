package cli

import (
	"strconv"
	"strings"
	"unicode"
)

// Printable escapes the control characters of a text, such as a file name or a
// value in a file, that would otherwise give orders to the terminal. Line ends
// and tabs stay.
func Printable(s string) string {
	control := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	if !strings.ContainsFunc(s, control) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if control(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
