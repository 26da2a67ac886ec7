package rulerpaper

// Columns of tables whose rows are variants: a heading is declared with the function that makes
// the cell.

import (
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// columns are neighbouring columns: their headings, and the cells that they make of a variant's
// rows.
type columns struct {
	heads []report.Column
	cells func(rows []Row) []report.Cell
}

func oneColumn(name, note string, cell func(rows []Row) report.Cell) columns {
	return columns{[]report.Column{{Name: name, Note: note}}, func(rows []Row) []report.Cell { return []report.Cell{cell(rows)} }}
}

// only is the columns for the rows for which keep is true.
func (c columns) only(keep func(Row) bool) columns {
	return columns{c.heads, func(rows []Row) []report.Cell { return c.cells(filter(rows, keep)) }}
}

// modelColumn names the model, where the label of a row is something else.
func modelColumn() columns {
	return oneColumn("model", "", func(rows []Row) report.Cell { return report.Str(rows[0].Variant) })
}

// testColumns are a metric's mean with the tests of the paper and ours; see effectColumns.
func testColumns(name string, m metric) columns {
	return columns{effectColumns(name), func(rows []Row) []report.Cell { return newEffect(rows, m).cells(m.Digits) }}
}

// effectColumn is a metric's mean with the interval of the mixed model.
func effectColumn(name, note string, m metric) columns {
	return oneColumn(name, note, func(rows []Row) report.Cell { return newEffect(rows, m).estimate(m.Digits) })
}

// effectShareColumn is effectColumn for a metric between 0 and 1, where its interval ends.
func effectShareColumn(name, note string, m metric) columns {
	return oneColumn(name, note, func(rows []Row) report.Cell { return newEffect(rows, m).share(m.Digits) })
}

// meanColumn is a metric's mean over rows, without an interval.
func meanColumn(name, note string, m metric) columns {
	return oneColumn(name, note, func(rows []Row) report.Cell { return report.Num(mean(values(rows, m.Value)), m.Digits) })
}

// movedColumn is how far methods move the weights.
func movedColumn() columns {
	return meanColumn("moved", "relative displacement of the weights, mean over runs", metric{Value: displacement.Value, Digits: 4})
}

// dataSetColumn is a metric's mean over data sets, with Student's interval.
func dataSetColumn(name, note string, m metric) columns {
	return oneColumn(name, note, func(rows []Row) report.Cell { return report.Est(overDataSets(rows, m.Value), m.Digits) })
}

// seedColumn is a metric's mean over seeds, with Student's interval and its null value.
func seedColumn(name, note string, m metric) columns {
	return oneColumn(name, note, func(rows []Row) report.Cell { return report.Est(seedMean(rows, m), m.Digits) })
}

// seedShareColumn is seedColumn for a metric between 0 and 1, where its interval ends.
func seedShareColumn(name, note string, m metric) columns {
	return oneColumn(name, note, func(rows []Row) report.Cell { return report.Est(seedMean(rows, m).ClampedTo(0, 1), m.Digits) })
}

// seedMean is a metric's mean over seeds, with Student's interval and its null value.
func seedMean(rows []Row, m metric) stats.Estimate {
	return stats.MeanInterval(values(rows, m.Value), 0.95, "seeds").WithNull(m.Null, stats.NearNull)
}

// variantTable starts a recipe's table of variants.
func (e *Env) variantTable(r Recipe, s Scale, all []columns, parts ...*Collected) *report.Table {
	return e.columnTable(r, s, "model", all, parts...)
}

// columnTable starts a recipe's table; label is the heading of the rows' labels.
func (e *Env) columnTable(r Recipe, s Scale, label string, all []columns, parts ...*Collected) *report.Table {
	t := e.table(r, s, parts...)
	t.Columns = []report.Column{{Name: label}}
	for _, c := range all {
		t.Columns = append(t.Columns, c.heads...)
	}
	return t
}

// addVariant adds a row to a table of variants.
func addVariant(t *report.Table, group, label string, kind report.Kind, rows []Row, all []columns) {
	cells := []report.Cell{report.Str(label)}
	for _, c := range all {
		cells = append(cells, c.cells(rows)...)
	}
	t.Rows = append(t.Rows, report.Row{Kind: kind, Group: group, Cells: cells})
}

// addFractions adds the variants of a study at each fraction.
func addFractions(t *report.Table, c *Collected, group string, all []columns) {
	for _, f := range c.Study.Fractions {
		for _, a := range c.variants() {
			addVariant(t, group+percent(f), a.Label, kindOf(a), rowsOf(c.Rows, a.Label, f), all)
		}
	}
}

// fractionGroup begins the names of row groups.
const fractionGroup = "forget fraction "
