// The numbers beside a forest plot.

package plot

import (
	"math"
	"strconv"
)

// columnHeads are the columns at the right of a forest plot, each only if some row has it.
var columnHeads = []string{"estimate", "p", "paper"}

func (f Forest) digits() int {
	if f.Digits == 0 {
		return 3
	}
	return min(max(f.Digits, 1), 9)
}

// cells returns the numbers of a row: the estimate with its interval, p, and the paper's value.
func (f Forest) cells(r ForestRow) []string {
	out := []string{"(" + r.Missing + ")", "", ""}
	if r.Missing == "" {
		out[0] = formatFixed(r.Estimate.Value, f.digits()) + " [no interval]"
	}
	if r.Missing == "" && r.hasInterval() {
		out[0] = formatInterval(r.Estimate.Value, r.Estimate.Low, r.Estimate.High, f.digits())
	}
	if r.P != nil {
		out[1] = formatP(*r.P)
	}
	if r.Paper != nil {
		out[2] = formatFixed(*r.Paper, f.digits())
	}
	return out
}

// formatInterval prints a number with its interval.
func formatInterval(v, low, high float64, digits int) string {
	return formatFixed(v, digits) + " [" + formatFixed(low, digits) + ", " + formatFixed(high, digits) + "]"
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
