// The table of lethe bench device.

package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/lib/report"
)

// wayTitles are the heads of the columns of PyTorch's ways.
var wayTitles = map[string]string{"eager": "PyTorch eager", "compile": "torch.compile", "graph": "CUDA graph"}

// bestMark marks PyTorch's fastest way.
const bestMark = " *"

// table returns a table with a row for every network; there must be at least one. Times are
// milliseconds per step. A peer that ran for no network has no column.
func (v *deviceBench) table(results []deviceResult) *report.Table {
	first := results[0]
	t := &report.Table{Title: fmt.Sprintf("Epochs of %d steps on %s by %s: milliseconds per step", first.Steps, first.Device, first.Engine)}
	columns := v.deviceColumns(results)
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
	}
	for _, r := range results {
		var row report.Row
		for _, c := range columns {
			row.Cells = append(row.Cells, c.cell(r))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Notes = v.deviceNotes(results)
	return t
}

// deviceColumn is a column with the function that makes its cells.
type deviceColumn struct {
	report.Column
	cell func(deviceResult) report.Cell
}

func (v *deviceBench) deviceColumns(results []deviceResult) []deviceColumn {
	number := func(name, note string, cell func(deviceResult) report.Cell) deviceColumn {
		return deviceColumn{report.Column{Name: name, Align: report.AlignRight, Note: note}, cell}
	}
	out := []deviceColumn{
		{report.Column{Name: "network"}, func(r deviceResult) report.Cell { return report.Str(r.Network) }},
		number("batch", "", func(r deviceResult) report.Cell { return report.Str(strconv.Itoa(r.Batch)) }),
		number("Lethe", "", func(r deviceResult) report.Cell { return report.Str(formatMillis(r.Lethe.Median)) }),
	}
	torch := slices.ContainsFunc(results, func(r deviceResult) bool { return len(r.PyTorch) > 0 })
	repeats := torch && v.deterministic
	jax := slices.ContainsFunc(results, func(r deviceResult) bool { return r.JAX != nil })
	if torch {
		for _, way := range v.ways {
			out = append(out, number(wayTitles[way], "", func(r deviceResult) report.Cell { return r.wayCell(way) }))
		}
	}
	if repeats {
		out = append(out, number("deterministic", "PyTorch's fastest way with deterministic algorithms; as Lethe's and JAX's, they repeat bit for bit",
			deviceResult.deterministicCell))
	}
	if jax {
		out = append(out, number("JAX", "", func(r deviceResult) report.Cell {
			if r.JAX == nil || r.JAX.Failed != "" {
				return report.Str("")
			}
			return report.Str(formatMillis(r.JAX.Median))
		}))
	}
	ratio := func(name, note string, of func(deviceRatios) *float64) {
		out = append(out, number(name, note, func(r deviceResult) report.Cell {
			if r.Ratios == nil || of(*r.Ratios) == nil {
				return report.Str("")
			}
			return report.Num(*of(*r.Ratios), 2)
		}))
	}
	if torch {
		ratio("to PyTorch's best", "Lethe's median over the other's; below 1 Lethe is faster", func(r deviceRatios) *float64 { return r.PyTorch })
	}
	if repeats {
		ratio("to its deterministic", "", func(r deviceRatios) *float64 { return r.Deterministic })
	}
	if jax {
		ratio("to JAX", "", func(r deviceRatios) *float64 { return r.JAX })
	}
	return append(out, number("first epoch, s", "seconds of Lethe's first epoch, with compiling and copying the records", func(r deviceResult) report.Cell {
		return report.Num(r.Lethe.First, 2)
	}))
}

// wayCell returns the time of one of PyTorch's ways with its fastest algorithms. If the best is
// the way with deterministic algorithms, it is marked in their column.
func (r deviceResult) wayCell(way string) report.Cell {
	for _, w := range r.PyTorch {
		if w.Way == way && !w.Deterministic && w.Failed == "" {
			return report.Str(formatMillis(w.Median) + w.mark())
		}
	}
	return report.Str("")
}

func (r deviceResult) deterministicCell() report.Cell {
	i := fastest(r.PyTorch, func(w epochTimes) bool { return w.Deterministic })
	if i < 0 {
		return report.Str("")
	}
	w := r.PyTorch[i]
	return report.Str(fmt.Sprintf("%s (%s)%s", formatMillis(w.Median), w.Way, w.mark()))
}

func (w epochTimes) mark() string {
	if w.Best {
		return bestMark
	}
	return ""
}

// deviceNotes says what the sides are, what did not run, and how goals are met.
func (v *deviceBench) deviceNotes(results []deviceResult) (out []string) {
	say := func(format string, args ...any) {
		if note := fmt.Sprintf(format, args...); !slices.Contains(out, note) {
			out = append(out, note)
		}
	}
	for _, r := range results {
		peers := slices.Clone(r.PyTorch)
		if r.JAX != nil {
			peers = append(peers, *r.JAX)
		}
		if slices.ContainsFunc(r.PyTorch, func(w epochTimes) bool { return w.Best }) {
			say("An asterisk marks PyTorch's fastest.")
		}
		for _, w := range peers {
			say("%s on %s.", w.What, cmp.Or(w.Device, "an unknown device"))
			if w.Failed != "" {
				say("%s: %s, %s%s: %s.", r.Network, w.What, w.Way, w.algorithms(), strings.TrimSuffix(w.Failed, "."))
			}
		}
		if r.Flags != "" && r.JAX != nil {
			say("XLA's flags of Lethe and JAX: %s.", r.Flags)
		}
		for _, note := range r.Notes {
			say("%s: %s", r.Network, note)
		}
	}
	for _, r := range results {
		for _, g := range r.Goals {
			say("%s: %s.", r.Network, g.text(false))
		}
	}
	if slices.ContainsFunc(results, func(r deviceResult) bool { return len(r.Goals) > 0 }) {
		say("Goals are for one NVIDIA H100.")
	}
	if v.peer == "" {
		say("No comparison: --peer PYTHON names a Python with PyTorch or JAX.")
	}
	return out
}

// algorithms says which of PyTorch's algorithms a way took.
func (w epochTimes) algorithms() string {
	if w.Deterministic {
		return " with deterministic algorithms"
	}
	return ""
}

// formatMillis formats seconds as milliseconds, to a thousandth below ten and to a tenth above.
func formatMillis(seconds float64) string {
	digits := 3
	if seconds >= 10e-3 {
		digits = 1
	}
	return strconv.FormatFloat(1e3*seconds, 'f', digits, 64)
}
