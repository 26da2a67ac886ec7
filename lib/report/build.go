package report

// Columns returns columns with the given names and no other settings.
func Columns(names ...string) []Column {
	out := make([]Column, len(names))
	for i, name := range names {
		out[i].Name = name
	}
	return out
}

// Add appends a row of a method.
func (t *Table) Add(cells ...Cell) { t.Rows = append(t.Rows, Row{Kind: Method, Cells: cells}) }
