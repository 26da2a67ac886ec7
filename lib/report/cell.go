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

// minus is the sign that people read; JSON numbers keep the ASCII hyphen.
const minus = "\u2212"

// nan is a value that is no number, in words.
const nan = "not a number"

// FormatNumber prints v with a fixed number of digits after the point and a
// proper minus sign. A negative number that rounds to zero loses its sign,
// numbers of 1e9 and above are printed as powers of ten, and what is not finite
// is printed as a word.
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

// FormatInterval prints "[low, high]" in the style of FormatNumber.
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

// FormatSeconds prints a time in three digits and the unit that suits it.
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

// Num is a number with a fixed count of digits after the point. A value that is
// not finite becomes a gap that says so.
func Num(v float64, digits int) Cell {
	if !finite(v) {
		return Gap(FormatNumber(v, 0))
	}
	return Cell{Text: FormatNumber(v, digits), Value: &v}
}

// Est is a number with its interval, "0.61 [0.59, 0.63]". A value that is not
// finite becomes a gap; a value without a finite interval says "no interval", and
// an interval over units that share records carries a mark, which a footnote of
// the table explains.
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

// PVal is a p-value. What is not a probability becomes a gap that says so.
func PVal(p float64) Cell {
	if !(p >= 0 && p <= 1) {
		return Gap(fmt.Sprintf("p = %v", p))
	}
	return Cell{Text: FormatP(p), P: &p}
}

// Share is k of n, printed as "17/20"; its value is k/n. Of none it is a gap.
func Share(k, n int) Cell {
	if n == 0 {
		return Gap("of none")
	}
	v := float64(k) / float64(n)
	return Cell{Text: fmt.Sprintf("%d/%d", k, n), Value: &v}
}

// Str is a cell of words.
func Str(s string) Cell { return Cell{Text: s} }

// Gap is a cell without a number; the reason is printed in its place.
func Gap(reason string) Cell {
	reason = cmp.Or(reason, "no reason given")
	return Cell{Missing: reason}
}

// GapRow is the row of a method of which nothing could be measured: its label and,
// up to the number of columns, the reason.
func GapRow(reason, group, label string, columns int) Row {
	row := Row{Kind: Method, Group: group, Cells: []Cell{Str(label)}}
	for len(row.Cells) < columns {
		row.Cells = append(row.Cells, Gap(reason))
	}
	return row
}

// WithGaps is the row of a method that has no numbers, with the reason in the place of each and
// of the mean of none. Words stay, what a paper prints among them.
func (r Row) WithGaps(reason string) Row {
	out := Row{Kind: Method, Group: r.Group, Cells: slices.Clone(r.Cells)}
	for i, c := range out.Cells {
		if c.numeric() || c.Missing == nan {
			out.Cells[i] = Gap(reason)
		}
	}
	return out
}

// display is what a reader sees in the cell.
func (c Cell) display() string {
	if c.Missing != "" {
		return "(" + c.Missing + ")"
	}
	return c.Text
}

// numeric says whether the cell holds a number.
func (c Cell) numeric() bool { return c.Value != nil || c.P != nil || c.Estimate != nil }

// orNaN is the number, or NaN where JSON had null.
func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
