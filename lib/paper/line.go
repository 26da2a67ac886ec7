package paper

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Line builds a row of a table from the models of one variant; most cells are means over the
// models.
type Line[R any] struct {
	group, label string
	control      bool
	rows         []R
	diverged     func(R) string
	cells        []report.Cell
}

// NewLine starts a row with the variant's label. diverged says how a model diverged, "" if it
// did not; diverged models have no values.
func NewLine[R any](group, label string, control bool, rows []R, diverged func(R) string) *Line[R] {
	return &Line[R]{group, label, control, rows, diverged, []report.Cell{report.Str(label)}}
}

// AddCell adds a cell.
func (l *Line[R]) AddCell(c report.Cell) { l.cells = append(l.cells, c) }

// AddMean adds the mean of a value over models, with its interval.
func (l *Line[R]) AddMean(digits int, value func(R) float64) {
	l.AddCell(report.Est(l.Mean(value), digits))
}

// AddShare is AddMean for a value between 0 and 1.
func (l *Line[R]) AddShare(value func(R) float64) { l.AddBounded(0, 1, value) }

// AddBounded is AddMean for a value between low and high; its interval is cut there.
func (l *Line[R]) AddBounded(low, high float64, value func(R) float64) {
	l.AddCell(report.Est(l.Mean(value).ClampedTo(low, high), 3))
}

// Mean is the mean of a value over models with Student's 95 % interval.
func (l *Line[R]) Mean(value func(R) float64) stats.Estimate {
	var x []float64
	for _, r := range l.rows {
		if l.diverged(r) == "" {
			x = append(x, value(r))
		}
	}
	return stats.MeanInterval(x, 0.95, stats.OverModels)
}

// Row is the finished row. If all or some models diverged, it has no numbers and says so.
func (l *Line[R]) Row() report.Row {
	out := report.Row{Group: l.group, Cells: l.cells}
	if l.control {
		out.Kind = report.Control
	}
	lost := 0
	for _, r := range l.rows {
		if l.diverged(r) != "" {
			lost++
		}
	}
	switch lost {
	case 0:
		return out
	case len(l.rows):
		return out.WithGaps("diverged")
	}
	return out.WithGaps(fmt.Sprintf("diverged in %d of %d", lost, len(l.rows)))
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
