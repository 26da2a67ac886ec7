package report

// A table is first laid out as lines of strings, which are then printed as text,
// Markdown or HTML: all show the same rows, separators and labels in the same order.

// line is one printed line: a heading or separator that spans the table, or the strings of one
// row.
type line struct {
	span   string // set for headings and separators
	kind   Kind   // of the row, or of the rows that follow a separator
	cells  []string
	marked []string // cells with the marks of verdicts
	row    Row      // of cells
}

// kindLabels are the separators printed where the kind of rows changes.
var kindLabels = map[Kind]string{
	Method:  "methods",
	Control: "controls",
	Paper:   "printed in the paper",
}

// lines lays out the rows, with a line before each group and before each change between methods,
// controls and the paper's values.
func (t *Table) lines() []line {
	var out []line
	group, kind := "", Method
	for _, r := range t.Rows {
		if r.Kind == Header {
			out = append(out, line{span: r.heading(), kind: Header})
			group, kind = r.Group, Method
			continue
		}
		if r.Group != group {
			if r.Group != "" {
				out = append(out, line{span: r.Group, kind: Header})
			}
			group, kind = r.Group, Method
		}
		if r.kind() != kind {
			kind = r.kind()
			out = append(out, line{span: kindLabels[kind], kind: kind})
		}
		out = append(out, line{kind: kind, cells: r.strings(Cell.display), marked: r.strings(Cell.marked), row: r})
	}
	return out
}

// strings returns the printed cells of the row. A row of the paper's values has "paper: " in its
// first cell, so that it stays labelled when it is copied.
func (r Row) strings(print func(Cell) string) []string {
	out := make([]string, len(r.Cells))
	for j, c := range r.Cells {
		out[j] = print(c)
	}
	if r.Kind == Paper && len(out) > 0 {
		out[0] = paperLabel + out[0]
	}
	return out
}

// paperLabel is before everything that is printed in a paper.
const paperLabel = "paper: "

// heads returns the column headings.
func (t *Table) heads() []string {
	out := make([]string, len(t.Columns))
	for j, c := range t.Columns {
		out[j] = c.Name
		if c.Unit != "" {
			out[j] += " (" + c.Unit + ")"
		}
		if c.Paper {
			out[j] = paperLabel + out[j]
		}
	}
	return out
}

// rightAligned reports for each column whether its cells are aligned to the right.
func (t *Table) rightAligned() []bool {
	out := make([]bool, len(t.Columns))
	for j, c := range t.Columns {
		if c.Align != AlignAuto {
			out[j] = c.Align == AlignRight
			continue
		}
		for _, r := range t.Rows {
			if r.Kind != Header && r.Cells[j].numeric() {
				out[j] = true
			}
		}
	}
	return out
}
