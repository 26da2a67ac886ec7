// Package report holds a table of results and prints it as terminal text, Markdown, HTML and JSON
// from one value.
//
// Methods and controls are separated, a value from a paper is always labelled as such, a cell
// without a number states why, and the provenance under the table names everything that is needed
// to compute it again. Nothing that changes from run to run (clock, date, path) is printed, so the
// same command gives the same bytes.
package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/stats"
)

// Align is the alignment of a column's cells. The zero value puts columns that hold a number to
// the right and all others to the left.
type Align string

// The alignments of a column.
const (
	AlignAuto  Align = ""
	AlignLeft  Align = "left"
	AlignRight Align = "right"
)

// Kind is the kind of a row. The zero value is a method.
type Kind string

// The kinds of rows. A header row spans the table and holds one cell or none;
// its text, or else the row's group, is the heading.
const (
	Method  Kind = "method"
	Control Kind = "control"
	Paper   Kind = "paper"
	Header  Kind = "header"
)

// Column describes one column.
type Column struct {
	Name  string
	Unit  string // printed in parentheses after the name
	Note  string // how to read it, printed under the table
	Align Align
	Paper bool // the column holds values printed in a paper, and is labelled so
}

// Row is one line of the table.
type Row struct {
	Kind  Kind
	Group string // rows of one group follow each other under the group's name
	Cells []Cell // as many as there are columns, except in a header row
}

// Cell is one entry. Text is printed; Value, Estimate and P are for programs. Missing is the
// reason why there is no number. Verdict is the word at the end of Text that judges a model; see
// WithVerdict.
type Cell struct {
	Text     string
	Verdict  string
	Value    *float64
	Estimate *stats.Estimate
	P        *float64
	Missing  string
}

// Table is a table of results.
type Table struct {
	ID         string // "ruler/table1"
	Title      string // "Table 1. ..."
	Caption    string // a few sentences: how to read it
	Columns    []Column
	Rows       []Row
	Notes      []string // findings and deviations, printed numbered
	Provenance Provenance
}

// Check returns an error for the first problem that keeps the table from being printed: no
// columns, a row that does not fit them, an unknown kind or alignment, and in a table with an ID, as recipes
// make them, a row that is there twice: of the same kind, under the same heading, with the same text in every cell.
func (t *Table) Check() error {
	if len(t.Columns) == 0 {
		return fmt.Errorf("table %q has no columns", t.ID)
	}
	for i, c := range t.Columns {
		switch c.Align {
		case AlignAuto, AlignLeft, AlignRight:
		default:
			return fmt.Errorf("table %q, column %d (%q): unknown alignment %q", t.ID, i+1, c.Name, c.Align)
		}
	}
	for i, r := range t.Rows {
		if err := t.checkRow(r); err != nil {
			return fmt.Errorf("table %q, row %d: %w", t.ID, i+1, err)
		}
	}
	if t.ID == "" {
		return nil
	}
	return t.checkRepeated()
}

// checkRepeated returns an error for a row that is there twice. Rows with the same label are not the same: other cells
// may tell them apart, such as a size.
func (t *Table) checkRepeated() error {
	first, heading := map[string]int{}, ""
	for i, r := range t.Rows {
		if r.Kind == Header {
			heading = r.heading()
			continue
		}
		key := fmt.Sprintf("%q %q %q", r.kind(), heading, r.Group)
		for _, c := range r.Cells {
			key += fmt.Sprintf(" %q %q", c.Text, c.Missing)
		}
		if k, twice := first[key]; twice {
			return fmt.Errorf("table %q: rows %d and %d are the same (%s); a row stands once", t.ID, k+1, i+1, r.label())
		}
		first[key] = i
	}
	return nil
}

// label names a row: its group and the text of its first cell.
func (r Row) label() string {
	if r.Group == "" {
		return fmt.Sprintf("%q", r.Cells[0].Text)
	}
	return fmt.Sprintf("%q, %q", r.Group, r.Cells[0].Text)
}

func (t *Table) checkRow(r Row) error {
	switch r.Kind {
	case Header:
		if len(r.Cells) > 1 {
			return fmt.Errorf("a header row holds at most one cell, got %d", len(r.Cells))
		}
		return nil
	case "", Method, Control, Paper:
	default:
		return fmt.Errorf("unknown kind %q", r.Kind)
	}
	if len(r.Cells) != len(t.Columns) {
		return fmt.Errorf("%d cells for %d columns", len(r.Cells), len(t.Columns))
	}
	return nil
}

// kind returns the row's kind, with the zero value replaced.
func (r Row) kind() Kind {
	if r.Kind == "" {
		return Method
	}
	return r.Kind
}

// heading returns the text of a header row.
func (r Row) heading() string {
	if len(r.Cells) == 1 && r.Cells[0].Text != "" {
		return r.Cells[0].Text
	}
	return r.Group
}

// columnNotes returns the columns with a note. Columns that share a note share an entry, under the
// names of all of them.
func (t *Table) columnNotes() []Column {
	var out []Column
	at := map[string]int{} // note -> place in out
	for _, c := range t.Columns {
		if c.Note == "" {
			continue
		}
		i, listed := at[c.Note]
		if !listed {
			at[c.Note] = len(out)
			out = append(out, c)
			continue
		}
		if !slices.Contains(strings.Split(out[i].Name, "; "), c.Name) {
			out[i].Name += "; " + c.Name
		}
	}
	return out
}

// Plural returns a number with its noun: "1 seed", "3 seeds".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
