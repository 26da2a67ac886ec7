package report

import (
	"io"
	"strings"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// gap is how far columns stand apart.
const gap = 2

// narrowest is the width below which a column of words is not made narrower.
const narrowest = 16

// screenOf is the width of the terminal that w is, 0 where it is none.
func screenOf(w io.Writer) int {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// narrow takes width from the widest columns of words until the table fits, and
// not more than that; no word is broken. A width of 0 is no limit.
func (t *Table) narrow(widths []int, right []bool, limit int) {
	least := make([]int, len(widths))
	keep := func(cells []string) {
		for j, cell := range cells {
			for _, word := range strings.Fields(clean(cell)) {
				least[j] = max(least[j], narrowest, uniseg.StringWidth(word))
			}
		}
	}
	keep(t.heads())
	for _, l := range t.lines() {
		keep(l.cells)
	}
	for limit > 0 && spanOf(widths) > limit {
		at := -1
		for j, n := range widths {
			if !right[j] && n > least[j] && (at < 0 || n > widths[at]) {
				at = j
			}
		}
		if at < 0 {
			return
		}
		widths[at]--
	}
}

func spanOf(widths []int) int {
	total := gap * (len(widths) - 1)
	for _, n := range widths {
		total += n
	}
	return total
}

// blocks divides the columns so that each block fits. Every block begins with the
// first column, which says what a row is about.
func blocks(widths []int, limit int) [][]int {
	all := [][]int{{0}}
	for j := 1; j < len(widths); j++ {
		last := len(all) - 1
		used := widths[j]
		for _, k := range all[last] {
			used += widths[k] + gap
		}
		if limit > 0 && used > limit && len(all[last]) > 1 {
			all = append(all, []int{0})
			last++
		}
		all[last] = append(all[last], j)
	}
	return all
}

// pick is what a list holds at these places.
func pick[T any](list []T, at []int) []T {
	out := make([]T, len(at))
	for i, j := range at {
		out[i] = list[j]
	}
	return out
}

// Wrap breaks a text into lines of a width, at spaces.
func Wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
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
