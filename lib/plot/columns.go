// The columns of numbers beside a forest plot.

package plot

import (
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// columns are the numbers at the right of a forest plot: the estimate with its interval, p, and
// the paper's value, each only if some row has it.
type columns struct {
	digits int
	widths [3]vg.Length
}

var columnHeads = [3]string{"estimate", "p", "paper"}

func (f Forest) digits() int {
	if f.Digits == 0 {
		return 3
	}
	return min(max(f.Digits, 1), 9)
}

func (f Forest) columns() columns {
	t := columns{digits: f.digits()}
	for _, r := range f.Rows {
		for j, s := range t.cellTexts(r) {
			if s != "" {
				t.widths[j] = max(t.widths[j], smallPen().width(s), headPen().width(columnHeads[j]))
			}
		}
	}
	return t
}

// cellTexts returns the numbers of a row.
func (t columns) cellTexts(r ForestRow) [3]string {
	var out [3]string
	out[0] = "(" + r.Missing + ")"
	if r.Missing == "" {
		out[0] = formatFixed(r.Estimate.Value, t.digits)
		switch {
		case !r.hasInterval():
			out[0] += " [no interval]"
		default:
			out[0] += " [" + formatFixed(r.Estimate.Low, t.digits) + ", " + formatFixed(r.Estimate.High, t.digits) + "]"
		}
	}
	if r.P != nil {
		out[1] = formatP(*r.P)
	}
	if r.Paper != nil {
		out[2] = formatFixed(*r.Paper, t.digits)
	}
	return out
}

const columnGap = 16

func (t columns) width() vg.Length {
	var w vg.Length
	for _, n := range t.widths {
		if n > 0 {
			w += n + px(columnGap)
		}
	}
	return max(0, w-px(columnGap))
}

func (t columns) drawHeadings(c draw.Canvas, x, y vg.Length) {
	t.forEachCell(x, columnHeads, func(end vg.Length, s string) { headPen().write(c, end, y, 1, s) })
}

func (t columns) row(c draw.Canvas, r ForestRow, x, y vg.Length) {
	p := smallPen()
	if r.Control || r.Missing != "" {
		p.col = inkSoft
	}
	t.forEachCell(x, t.cellTexts(r), func(end vg.Length, s string) { p.middle(c, end, y, 1, s) })
}

// forEachCell calls f with the right end of every column that is shown.
func (t columns) forEachCell(x vg.Length, cells [3]string, f func(end vg.Length, s string)) {
	for j, w := range t.widths {
		if w > 0 {
			f(x+w, cells[j])
			x += w + px(columnGap)
		}
	}
}

// formatFixed prints a number with a fixed number of digits, as tables do.
func formatFixed(v float64, digits int) string {
	if math.Abs(v) >= 1e7 {
		return formatTick(v, digits)
	}
	return formatSigned(v, strconv.FormatFloat(math.Abs(v), 'f', digits, 64))
}

// formatP prints a p-value as tables do.
func formatP(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}
