// Column widths: fitting a table into a terminal, and wrapping of text.

package report

import (
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// gap is the number of spaces between columns.
const gap = 2

// minWordColumn is the width below which a column of words is narrowed only if nothing else helps.
const minWordColumn = 16

// terminalWidth returns the width of the terminal w, 0 if w is not a terminal. COLUMNS overrides
// what the terminal reports, but not for a pipe or a file.
func terminalWidth(w io.Writer) int {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// panel is a group of columns with their widths.
type panel struct{ columns, widths []int }

// panels divides the columns so that each panel fits into limit; 0 means no limit. Every panel
// begins with the first column, which names the rows. Columns are as wide as their cells if there
// is room, and no narrower than needed.
func (t *Table) panels(limit int) []panel {
	natural, least := t.widths(limit)
	all := [][]int{{0}}
	for j := 1; j < len(natural); j++ {
		last := len(all) - 1
		joined := append(elementsAt(least, all[last]), least[j])
		if limit > 0 && totalWidth(joined) > limit && len(all[last]) > 1 {
			all = append(all, []int{0})
			last++
		}
		all[last] = append(all[last], j)
	}
	out := make([]panel, len(all))
	for i, columns := range all {
		out[i] = panel{columns, shrinkWidths(elementsAt(natural, columns), elementsAt(least, columns), limit)}
	}
	return out
}

// widths returns, per column, the width of its cells and the least width: that of its longest
// word, or of a number with its interval. It may be less only if the first column and another one
// would not fit side by side.
func (t *Table) widths(limit int) (natural, least []int) {
	natural, least = make([]int, len(t.Columns)), make([]int, len(t.Columns))
	right := t.rightAligned()
	keep := func(cells []string) {
		for j, cell := range cells {
			cell = clean(cell)
			n := uniseg.StringWidth(cell)
			natural[j] = max(natural[j], n)
			if !right[j] {
				least[j] = max(least[j], min(n, minWordColumn))
			}
			for word := range strings.FieldsSeq(cell) {
				least[j] = max(least[j], uniseg.StringWidth(word))
			}
		}
	}
	keep(t.heads())
	for _, l := range t.lines() {
		keep(l.marked)
	}
	t.keepNumbers(least)
	if limit > 0 {
		limitWidths(least, limit)
	}
	return natural, least
}

// limitWidths makes the first column and any other fit side by side: the first gets what the
// widest other leaves, and at least half.
func limitWidths(least []int, limit int) {
	others := least[1:]
	if len(others) == 0 {
		least[0] = min(least[0], limit)
		return
	}
	room := max(2, limit-gap)
	least[0] = min(least[0], max(room/2, room-slices.Max(others)))
	for j := range others {
		others[j] = min(others[j], room-least[0])
	}
}

// keepNumbers widens columns so that a number and its interval stay on one line.
func (t *Table) keepNumbers(least []int) {
	for _, r := range t.Rows {
		if r.Kind == Header {
			continue
		}
		for j, c := range r.Cells {
			if c.numeric() {
				least[j] = max(least[j], uniseg.StringWidth(clean(c.marked())))
			}
		}
	}
}

// shrinkWidths takes width from the widest columns until they fit.
func shrinkWidths(widths, least []int, limit int) []int {
	for limit > 0 && totalWidth(widths) > limit {
		at := -1
		for j, n := range widths {
			if n > least[j] && (at < 0 || n > widths[at]) {
				at = j
			}
		}
		if at < 0 {
			break
		}
		widths[at]--
	}
	return widths
}

func totalWidth(widths []int) int {
	total := gap * (len(widths) - 1)
	for _, n := range widths {
		total += n
	}
	return total
}

// elementsAt returns the elements of a list at the given indices.
func elementsAt[T any](list []T, at []int) []T {
	out := make([]T, len(at))
	for i, j := range at {
		out[i] = list[j]
	}
	return out
}

// Wrap breaks a text into lines of a width, at spaces.
func Wrap(text string, width int) []string { return wrapWords(strings.Fields(text), width) }

// wrapKeepingNumbers is Wrap with a number, its interval and its per cent sign on one line, unless
// they are wider than a line.
func wrapKeepingNumbers(text string, width int) []string {
	var words []string
	for _, word := range strings.FieldsFunc(KeepNumbers(text), func(r rune) bool { return unicode.IsSpace(r) && r != '\u00a0' }) {
		if word = strings.ReplaceAll(word, "\u00a0", " "); uniseg.StringWidth(word) > width {
			words = append(words, strings.Fields(word)...)
			continue
		}
		words = append(words, word)
	}
	return wrapWords(words, width)
}

// wrapWords joins words to lines of a width.
func wrapWords(words []string, width int) []string {
	var lines []string
	line := ""
	for _, word := range words {
		if line != "" && uniseg.StringWidth(line)+1+uniseg.StringWidth(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// breakLongWords inserts spaces into words that are longer than a line, so that they can be
// wrapped. No character is divided.
func breakLongWords(text string, width int) string {
	words := strings.Fields(text)
	for i, word := range words {
		if uniseg.StringWidth(word) > width {
			words[i] = chop(word, width)
		}
	}
	return strings.Join(words, " ")
}

func chop(word string, width int) string {
	var b strings.Builder
	used := 0
	for g := uniseg.NewGraphemes(word); g.Next(); {
		if used > 0 && used+g.Width() > width {
			b.WriteByte(' ')
			used = 0
		}
		b.WriteString(g.Str())
		used += g.Width()
	}
	return b.String()
}
