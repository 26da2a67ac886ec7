// Lint: displayed equations that are wider than a page. A browser cuts them there.

package notebook

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxEquation is the largest width of a displayed equation in units of its font size (em).
// JupyterLab's default font has 18 pixels, and a window of 1,300 pixels leaves 841 to a cell beside
// the file browser, of which an equation's number and the same space at its other side take 74.
const maxEquation = 42.0

var displayed = regexp.MustCompile(`(?s)\$\$(.+?)\$\$`)

// equations reports displayed equations that do not fit a page.
func (l *linter) equations() {
	l.cells(Markdown, func(n int, c *Cell) {
		for _, m := range displayed.FindAllStringSubmatch(strings.Join(outsideFences(c.Source), "\n"), -1) {
			if width := equationWidth(m[1]); width > maxEquation {
				l.add(n, fmt.Sprintf("the equation %q is about %.0f letters wide", firstRunes(strings.TrimSpace(m[1]), 40), width/0.5),
					fmt.Sprintf("make two equations of it, each of at most %.0f letters: a page cuts what is wider", maxEquation/0.5))
			}
		}
	})
}

func firstRunes(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "..."
}

// equationWidth estimates the width of a displayed equation in em, to about a fifth. It does not
// check the equation: what it does not know has the width of a letter.
func equationWidth(tex string) float64 {
	if len(tex) > longestEquation {
		return float64(len(tex))
	}
	m := &mathText{rest: tex}
	widest, width := 0.0, 0.0
	for m.rest = strings.TrimSpace(m.rest); m.rest != ""; m.rest = strings.TrimSpace(m.rest) {
		if rest, found := strings.CutPrefix(m.rest, `\\`); found { // a new line
			m.rest, widest, width = rest, max(widest, width), 0
			continue
		}
		width += m.item()
	}
	return max(widest, width)
}

// longestEquation bounds the length of what is measured, in bytes, because groups are read once per
// level.
const longestEquation = 4096

// mathText is the part of a formula that is not measured yet.
type mathText struct{ rest string }

// Widths in em: letters and digits, upright text, signs with the space around them, and what
// stands close.
const (
	letterWidth = 0.55
	textWidth   = 0.47
	signWidth   = 1.3
	closeWidth  = 0.4
	scriptSize  = 0.7
)

// commandWidths are the widths of commands that are no letters.
var commandWidths = map[string]float64{
	"quad": 1, "qquad": 2, ",": 0.17, ":": 0.22, ";": 0.28, "!": -0.17, " ": 0.3,
	"sum": 1.2, "prod": 1.2, "int": 1, "log": 1.4, "ln": 0.9, "exp": 1.6, "max": 1.8, "min": 1.7, "Pr": 1.1,
	"le": signWidth, "ge": signWidth, "leq": signWidth, "geq": signWidth, "neq": signWidth, "approx": signWidth, "sim": signWidth,
	"in": signWidth, "subset": signWidth, "cdot": 0.7, "times": signWidth, "Rightarrow": 1.6, "Longrightarrow": 2.2, "to": 1.6,
	"left": 0, "right": 0, "big": 0, "bigl": 0, "bigr": 0, "Big": 0, "Bigl": 0, "Bigr": 0, "limits": 0, "nolimits": 0,
	"begin": 0, "end": 0, "rm": 0, "{": 0.5, "}": 0.5, "|": 0.5, "lVert": 0.5, "rVert": 0.5, "Vert": 0.5, "lfloor": 0.45, "rfloor": 0.45, "%": 0.8,
}

// item removes the first item, with its scripts, and returns its width. Under and over a sum stand
// its scripts; elsewhere they stand beside it.
func (m *mathText) item() float64 {
	m.rest = strings.TrimLeft(m.rest, " \n\t&")
	if m.rest == "" {
		return 0
	}
	r, size := utf8.DecodeRuneInString(m.rest)
	m.rest = m.rest[size:]
	switch {
	case r == '\\':
		return m.command()
	case r == '{':
		return equationWidth(m.group())
	case r == '^' || r == '_':
		return scriptSize * m.argument()
	case strings.ContainsRune("+-=<>\u2212", r):
		return signWidth
	case strings.ContainsRune("()[].,;:|/!'", r):
		return closeWidth
	}
	return letterWidth
}

// command removes a command, whose backslash is gone, with its arguments.
func (m *mathText) command() float64 {
	name := m.rest[:len(m.rest)-len(strings.TrimLeftFunc(m.rest, unicode.IsLetter))]
	if name == "" && m.rest != "" {
		_, size := utf8.DecodeRuneInString(m.rest)
		name = m.rest[:size]
	}
	m.rest = m.rest[len(name):]
	switch name {
	case "tag", "begin", "end":
		m.argumentText()
		return 0
	case "text", "mathrm", "operatorname", "operatorname*", "mathsf", "mathtt":
		m.rest = strings.TrimPrefix(m.rest, "*")
		width := textWidth * float64(utf8.RuneCountInString(m.argumentText()))
		if strings.HasPrefix(name, "operatorname") {
			return m.underOrOver(width)
		}
		return width
	case "frac", "dfrac":
		return max(m.argument(), m.argument()) + 0.25
	case "tfrac":
		return scriptSize*max(m.argument(), m.argument()) + 0.2
	case "sqrt":
		return m.argument() + 0.9
	case "underbrace", "overbrace", "sum", "prod", "max", "min":
		width, found := commandWidths[name]
		if !found {
			width = m.argument()
		}
		return m.underOrOver(width)
	case "bar", "hat", "overline", "tilde", "mathbb", "mathcal", "mathbf":
		return m.argument()
	}
	if width, found := commandWidths[name]; found {
		return width
	}
	return letterWidth
}

// underOrOver removes scripts that stand under and over something of a width, and returns the
// width of the whole.
func (m *mathText) underOrOver(width float64) float64 {
	for {
		m.rest = strings.TrimLeft(m.rest, " \n\t")
		if !strings.HasPrefix(m.rest, "_") && !strings.HasPrefix(m.rest, "^") {
			return width
		}
		m.rest = m.rest[1:]
		width = max(width, scriptSize*m.argument())
	}
}

// argument removes the argument of a command and returns its width.
func (m *mathText) argument() float64 {
	m.rest = strings.TrimLeft(m.rest, " \n\t")
	if rest, found := strings.CutPrefix(m.rest, "{"); found {
		m.rest = rest
		return equationWidth(m.group())
	}
	return m.item()
}

// argumentText removes an argument in braces and returns it.
func (m *mathText) argumentText() string {
	m.rest = strings.TrimLeft(m.rest, " \n\t")
	rest, found := strings.CutPrefix(m.rest, "{")
	if !found {
		return ""
	}
	m.rest = rest
	return m.group()
}

// group removes the text up to the brace that closes it, which is already open, and returns it.
func (m *mathText) group() string {
	depth := 1
	for i := 0; i < len(m.rest); i++ {
		switch m.rest[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				text := m.rest[:i]
				m.rest = m.rest[i+1:]
				return text
			}
		}
	}
	text := m.rest
	m.rest = ""
	return text
}
