// Figures as plain text.

package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// textWidth is the width of text drawings in characters.
const textWidth = 41

// asText returns the figure for a terminal, with title, caption and source.
func asText(f drawing) string {
	if err := verify(f); err != nil {
		return "(" + err.Error() + ")\n"
	}
	return f.scene().titledText(f.meta())
}

// titledText returns the text of a scene with title, caption and source.
func (s scene) titledText(m Meta) string {
	var b strings.Builder
	if m.Title != "" {
		fmt.Fprintf(&b, "%s\n", oneLine(m.Title))
	}
	b.WriteString(s.text())
	for _, s := range []string{m.Caption, m.Source} {
		if s != "" {
			fmt.Fprintf(&b, "%s\n", oneLine(s))
		}
	}
	return b.String()
}

// ruler maps values to columns of characters.
type ruler struct {
	s    span
	log  bool
	cols int
}

// col returns the column of v, and whether v is inside the axis.
func (r ruler) col(v float64) (int, bool) {
	lo, hi := r.s.lo, r.s.hi
	if r.log {
		if v <= 0 {
			return 0, false
		}
		lo, hi, v = math.Log(lo), math.Log(hi), math.Log(v)
	}
	at := math.Round((v - lo) / (hi - lo) * float64(r.cols-1))
	return int(clamp(at, 0, float64(r.cols-1))), at >= 0 && at <= float64(r.cols-1)
}

// row is one line of characters on a ruler.
type row struct {
	r     ruler
	cells []rune
}

func (r ruler) row(null *Null) row {
	l := row{r: r, cells: []rune(strings.Repeat(" ", r.cols))}
	if null == nil {
		return l
	}
	if null.Low != nil {
		l.fill(*null.Low, *null.High, '\u2591')
	}
	l.set(null.Value, '\u250a')
	return l
}

func (l row) set(v float64, mark rune) {
	if i, ok := l.r.col(v); ok {
		l.cells[i] = mark
	}
}

// holds reports whether one of the marks is already where v is.
func (l row) holds(v float64, marks ...rune) bool {
	i, ok := l.r.col(v)
	return ok && slices.Contains(marks, l.cells[i])
}

func (l row) fill(lo, hi float64, mark rune) {
	a, _ := l.r.col(lo)
	b, _ := l.r.col(hi)
	for i := a; i <= b; i++ {
		l.cells[i] = mark
	}
}

// interval draws an interval, crossing the null if it is inside; an end outside the axis becomes
// an arrow.
func (l row) interval(lo, hi float64) {
	a, inA := l.r.col(lo)
	b, inB := l.r.col(hi)
	for i := a; i <= b; i++ {
		if l.cells[i] == '\u250a' {
			l.cells[i] = '\u253c'
			continue
		}
		l.cells[i] = '\u2500'
	}
	l.cells[a], l.cells[b] = '\u251c', '\u2524'
	if !inA {
		l.cells[a] = '\u25c2'
	}
	if !inB {
		l.cells[b] = '\u25b8'
	}
}

func (l row) String() string { return string(l.cells) }

// scale returns the line of axis limits above or below a drawing.
func (r ruler) scale() string {
	lo, hi := shortNumber(r.s.lo), shortNumber(r.s.hi)
	gap := r.cols - uniseg.StringWidth(lo) - uniseg.StringWidth(hi)
	return lo + strings.Repeat(" ", max(1, gap)) + hi
}

// shortNumber prints a limit with three significant digits.
func shortNumber(v float64) string {
	return formatSigned(v, fmt.Sprintf("%.3g", math.Abs(v)))
}

// padRight fills s with spaces to a width on screen.
func padRight(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-uniseg.StringWidth(s)))
}

// padLeft fills s with spaces on the left.
func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-uniseg.StringWidth(s))) + s
}

// widest returns the greatest width on screen.
func widest(ss ...string) int {
	w := 0
	for _, s := range ss {
		w = max(w, uniseg.StringWidth(s))
	}
	return w
}

// oneLine puts s on one line and replaces control characters.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if unicode.IsControl(r) {
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// writeLine writes a line without spaces at its end.
func writeLine(b *strings.Builder, parts ...string) {
	b.WriteString(strings.TrimRight(strings.Join(parts, ""), " ") + "\n")
}
