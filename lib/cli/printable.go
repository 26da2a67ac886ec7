// Escaping of control characters in foreign text.

package cli

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable escapes control characters of a text, such as a file name, that could otherwise
// control the terminal or reverse the reading direction, and bytes that are not UTF-8. Line
// ends and tabs stay.
func Printable(s string) string {
	control := func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
	}
	if utf8.ValidString(s) && !strings.ContainsFunc(s, control) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case control(r) && r >= 0x7f: // so that JSON stays JSON
			fmt.Fprintf(&b, `\u%04x`, r)
		case control(r):
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		default:
			b.WriteRune(r)
		}
		s = s[n:]
	}
	return b.String()
}
