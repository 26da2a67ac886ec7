// Tokens of the ARFF format: names, values, quotes.

package arff

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// cutWord splits at the first run of blanks.
func cutWord(s string) (word, rest string) {
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimLeft(s[i:], " \t")
}

// parseName reads one name at the start of s, quoted or up to a blank or a brace.
func parseName(s string) (name, rest string, err error) {
	s = strings.TrimLeft(s, " \t")
	if s == "" {
		return "", "", errors.New("a name is missing")
	}
	if isQuote(s[0]) {
		name, rest, err = parseQuoted(s)
		return name, strings.TrimLeft(rest, " \t"), err
	}
	i := strings.IndexAny(s, " \t{")
	if i < 0 {
		return s, "", nil
	}
	return s[:i], strings.TrimLeft(s[i:], " \t"), nil
}

// parseList reads values separated by commas up to end, or up to the end of s if end is 0; in that case
// a tab, or blanks and an opening brace, end it too. It returns the text after the list.
func parseList(s string, end byte) (values []string, rest string, err error) {
	for {
		var v string
		v, s, err = parseValue(s, end)
		if err != nil {
			return nil, "", err
		}
		values = append(values, v)
		switch {
		case s == "" && end != 0:
			return nil, "", fmt.Errorf("no %q at the end of the list of values", end)
		case s == "":
			return values, "", nil
		case s[0] == end && end != 0:
			return values, strings.TrimSpace(s[1:]), nil
		case s[0] != ',':
			return nil, "", fmt.Errorf("expected a comma, got %q", clip(s))
		}
		s = s[1:]
		if end == 0 && isWeight(strings.TrimSpace(s)) {
			return values, strings.TrimSpace(s), nil
		}
	}
}

// parseValue reads one value and the blanks around it.
func parseValue(s string, end byte) (v, rest string, err error) {
	s = strings.TrimLeft(s, " \t")
	if s != "" && isQuote(s[0]) {
		v, rest, err = parseQuoted(s)
		return v, strings.TrimLeft(rest, " \t"), err
	}
	i := 0
	for i < len(s) && s[i] != ',' && (end == 0 || s[i] != end) {
		i++
	}
	v = strings.TrimRight(s[:i], " \t")
	if v == "" {
		return "", "", errors.New("an empty value")
	}
	return v, s[i:], nil
}

// isWeight reports whether s is an instance weight such as {2.5}.
func isWeight(s string) bool {
	return len(s) > 2 && s[0] == '{' && s[len(s)-1] == '}' && !strings.ContainsAny(s[1:len(s)-1], "{}, \t")
}

func isQuote(c byte) bool { return c == '\'' || c == '"' }

// parseQuoted reads a quoted text with backslash escapes; s starts with the quote.
func parseQuoted(s string) (text, rest string, err error) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return b.String(), s[i+1:], nil
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(unescape(s[i]))
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", fmt.Errorf("no closing quote in %q", clip(s))
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	}
	return c
}

// quotedName returns a name for an error message, with control characters escaped.
func quotedName(name string) string {
	q := strconv.Quote(clip(name))
	return q[1 : len(q)-1]
}

// clip shortens a value for an error message.
func clip(s string) string {
	const limit = 60
	if len(s) <= limit {
		return s
	}
	return s[:limit] + "..."
}
