package paper

// The rows of a table whose cells are made of the models of one variant.

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Line is a variant of a case with the rows R of its models.
type Line[R any] struct {
	Group, Label string // the case and the variant
	Control      bool
	Models       []R
	// Diverged says how a model diverged, "" if it did not; diverged models have no values. nil: none did.
	Diverged func(R) string
}

// Column is a column of a table of lines: its heading, and the cell that it makes of a line.
type Column[R any] struct {
	Name, Note string
	Unit       string // of the numbers, "" if they have none
	Cell       func(l Line[R]) report.Cell
}

// MeanColumn has the mean of a value over models, with its interval.
func MeanColumn[R any](name, note string, digits int, value func(R) float64) Column[R] {
	return Column[R]{Name: name, Note: note, Cell: func(l Line[R]) report.Cell { return report.Est(l.Mean(value), digits) }}
}

// ShareColumn is MeanColumn for a value between 0 and 1.
func ShareColumn[R any](name, note string, value func(R) float64) Column[R] {
	return BoundedColumn(name, note, 0, 1, value)
}

// BoundedColumn is MeanColumn for a value between low and high; its interval is cut there, and a mean outside is a gap.
func BoundedColumn[R any](name, note string, low, high float64, value func(R) float64) Column[R] {
	return Column[R]{Name: name, Note: note, Cell: func(l Line[R]) report.Cell {
		e := l.Mean(value)
		if e.Value < low || e.Value > high {
			return report.Gap(fmt.Sprintf("%.4g is not between %v and %v", e.Value, low, high))
		}
		return report.Est(e.ClampedTo(low, high), 3)
	}}
}

// TextColumn has a text, such as the paper's value, or a gap for the reason if the text is "".
func TextColumn[R any](name, note, reason string, text func(l Line[R]) string) Column[R] {
	return Column[R]{Name: name, Note: note, Cell: func(l Line[R]) report.Cell {
		if s := text(l); s != "" || reason == "" {
			return report.Str(s)
		}
		return report.Gap(reason)
	}}
}

// Headings are the headings of a table of lines: that of the labels, and the columns'.
func Headings[R any](label string, columns []Column[R]) []report.Column {
	out := []report.Column{{Name: label}}
	for _, c := range columns {
		out = append(out, report.Column{Name: c.Name, Note: c.Note, Unit: c.Unit})
	}
	return out
}

// divergence is Diverged, which may be nil.
func (l Line[R]) divergence(r R) string {
	if l.Diverged == nil {
		return ""
	}
	return l.Diverged(r)
}

// Mean is the mean of a value over models with Student's 95 % interval.
func (l Line[R]) Mean(value func(R) float64) stats.Estimate {
	var x []float64
	for _, r := range l.Models {
		if l.divergence(r) == "" {
			x = append(x, value(r))
		}
	}
	return stats.MeanInterval(x, 0.95, stats.OverModels)
}

// Row is the line's row. If all or some models diverged, it has no numbers and says so.
func (l Line[R]) Row(columns []Column[R]) report.Row {
	out := report.Row{Group: l.Group, Cells: []report.Cell{report.Str(l.Label)}}
	for _, c := range columns {
		out.Cells = append(out.Cells, c.Cell(l))
	}
	if l.Control {
		out.Kind = report.Control
	}
	lost := 0
	for _, r := range l.Models {
		if l.divergence(r) != "" {
			lost++
		}
	}
	switch lost {
	case 0:
		return out
	case len(l.Models):
		return out.WithGaps("diverged")
	}
	return out.WithGaps(fmt.Sprintf("diverged in %d of %d", lost, len(l.Models)))
}

// RunRecords are the rows as records: record(row), or the row itself if that is nil. A number
// that was not measured is null, never 0; a diverged model has no numbers.
func RunRecords[R any](rows []R, record func(R) any) report.Records {
	out := report.NewRecords(rows)
	for i, r := range rows {
		if rec := record(r); rec != nil {
			out[i] = rec
		}
	}
	return out
}

// Diverged is the record of a model that diverged.
type Diverged struct {
	Case    string `json:"case"`
	Variant string `json:"arm"`
	Control bool   `json:"control"`
	Seed    int    `json:"seed"`
	How     string `json:"diverged"`
}
