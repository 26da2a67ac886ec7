// Cells of tables, and the format of their numbers.

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/lib/stats"
)

// minus is the typographic minus sign; JSON numbers keep the ASCII hyphen.
const minus = "\u2212"

// nan is the text of NaN.
const nan = "not a number"

// FormatNumber prints v with a fixed number of digits after the point and a typographic minus
// sign. A negative number that rounds to zero has no sign, numbers from 1e9 are printed as powers
// of ten, and values that are not finite as words.
func FormatNumber(v float64, digits int) string {
	switch {
	case math.IsNaN(v):
		return nan
	case math.IsInf(v, 1):
		return "infinite"
	case math.IsInf(v, -1):
		return minus + "infinite"
	}
	digits = min(max(digits, 0), 15)
	format := byte('f')
	if math.Abs(v) >= 1e9 {
		format = 'e'
	}
	s := strconv.FormatFloat(math.Abs(v), format, digits, 64)
	if v < 0 && strings.ContainsAny(s, "123456789") {
		return minus + s
	}
	return s
}

// FormatInterval prints "[low, high]" as FormatNumber does.
func FormatInterval(low, high float64, digits int) string {
	return "[" + FormatNumber(low, digits) + ", " + FormatNumber(high, digits) + "]"
}

// FormatP prints a p-value: three digits, and "<0.001" below that.
func FormatP(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}

// FormatSeconds prints a time with three digits in s, ms or us.
func FormatSeconds(v float64) string {
	unit := "s"
	switch {
	case v < 1e-3:
		v, unit = 1e6*v, "us"
	case v < 1:
		v, unit = 1e3*v, "ms"
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + " " + unit
}

// Num returns a cell with a number and a fixed number of digits after the point. A value that is
// not finite becomes a gap.
func Num(v float64, digits int) Cell {
	if !finite(v) {
		return Gap(FormatNumber(v, 0))
	}
	return Cell{Text: FormatNumber(v, digits), Value: &v}
}

// Est returns a cell with a number and its interval, "0.61 [0.59, 0.63]". A value that is not
// finite becomes a gap. A value without a finite interval prints "no interval". An interval over
// units that share records has a mark, which a footnote of the table explains.
func Est(e stats.Estimate, digits int) Cell {
	if !finite(e.Value) {
		return Gap(FormatNumber(e.Value, 0))
	}
	text := FormatNumber(e.Value, digits)
	if finite(e.Low) && finite(e.High) {
		text += " " + FormatInterval(e.Low, e.High, digits)
		if e.Overlapping() {
			text += overlapMark
		}
	} else {
		text += " [no interval]"
	}
	return Cell{Text: text, Value: &e.Value, Estimate: &e}
}

// PVal returns a cell with a p-value. A number that is not a probability becomes a gap.
func PVal(p float64) Cell {
	if !(p >= 0 && p <= 1) {
		return Gap(fmt.Sprintf("p = %v", p))
	}
	return Cell{Text: FormatP(p), P: &p}
}

// Share returns a cell "k/n" with the value k/n. For n = 0 it is a gap.
func Share(k, n int) Cell {
	if n == 0 {
		return Gap("of none")
	}
	v := float64(k) / float64(n)
	return Cell{Text: fmt.Sprintf("%d/%d", k, n), Value: &v}
}

// Str returns a cell of text.
func Str(s string) Cell { return Cell{Text: s} }

// Gap returns a cell without a number; the reason is printed in its place.
func Gap(reason string) Cell {
	reason = cmp.Or(reason, "no reason given")
	return Cell{Missing: reason}
}

// GapRow returns the row of a method that was not measured: its label, and the reason in all other
// columns.
func GapRow(reason, group, label string, columns int) Row {
	row := Row{Kind: Method, Group: group, Cells: []Cell{Str(label)}}
	for len(row.Cells) < columns {
		row.Cells = append(row.Cells, Gap(reason))
	}
	return row
}

// WithGaps returns the row with the reason in place of every number and of every NaN. Text cells,
// such as a paper's values, are kept.
func (r Row) WithGaps(reason string) Row {
	out := Row{Kind: r.Kind, Group: r.Group, Cells: slices.Clone(r.Cells)}
	for i, c := range out.Cells {
		if c.numeric() || c.Missing == nan {
			out.Cells[i] = Gap(reason)
		}
	}
	return out
}

// display returns the printed text of the cell.
func (c Cell) display() string {
	if c.Missing != "" {
		return "(" + c.Missing + ")"
	}
	return c.Text
}

// numeric reports whether the cell holds a number.
func (c Cell) numeric() bool { return c.Value != nil || c.P != nil || c.Estimate != nil }

// orNaN returns the number, or NaN for a JSON null.
func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
