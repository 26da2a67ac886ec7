// The report that is passed on: without the values of identifiers, groups and texts.

package own

import (
	"slices"
)

// hiddenCell stands in the place of a cell that is not shown.
const hiddenCell = "..."

// isPrivate reports whether the values of a column, which may be names, addresses or what somebody wrote, are for the owner of the data alone.
func (r Role) isPrivate() bool { return r == RoleIdentifier || r == RoleGroup || r == RoleText }

// PassOn returns the report without the values of identifiers, groups and texts: their examples are left out, and notes on
// them name lines alone. It is what is written into files; what is printed to the owner of the data shows all.
func (r Report) PassOn() Report {
	columns, notes, hidden := slices.Clone(r.Columns), slices.Clone(r.Notes), false
	for k, c := range columns {
		if c.Role.isPrivate() {
			columns[k].Examples = []string{"not shown"}
		}
	}
	for k, note := range notes {
		if bare, is := r.bare[note]; is {
			notes[k], hidden = bare, true
		}
	}
	if hidden {
		notes = append(notes, `"`+hiddenCell+`" stands for the cell of an identifier, a group or a text, which is not shown.`)
	}
	r.Columns, r.Notes, r.bare = columns, notes, nil
	return r
}

// hideCells returns what was seen of the columns without the cells of the private ones.
func (v *survey) hideCells(private func(j int) bool) *survey {
	out := *v
	out.columns = slices.Clone(v.columns)
	for j := range out.columns {
		if private(j) {
			out.columns[j].hideCells()
		}
	}
	for k := range out.decimals {
		if out.decimals[k].line > 0 && private(out.decimalOf[k]) {
			out.decimals[k].hide()
		}
	}
	return &out
}

// hideCells hides all cells that a note can show. None and the like are no values, and a note depends on them.
func (o *observed) hideCells() {
	m, s := &o.marks, &o.shapes
	for _, c := range []*firstCell{&o.inexact, &m.of[0].three, &m.of[0].decimal, &m.of[1].three, &m.of[1].decimal, &m.below, &m.four, &m.big, &m.exponent,
		&s.date, &s.amount} {
		c.hide()
	}
	for f := range o.first {
		if form(f) != absent {
			o.first[f].hide()
		}
	}
	o.odd = slices.Clone(o.odd)
	for k := range o.odd {
		if !isAbsent(o.odd[k].text) {
			o.odd[k].hide()
		}
	}
	o.marks.group, o.marks.decimal = nil, nil
}

// hide hides the text of a cell, if there is one.
func (c *firstCell) hide() {
	if c.line > 0 {
		c.text = hiddenCell
	}
}
