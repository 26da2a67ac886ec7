// Numbers that stand for a missing value, such as -9 or 999: notes on them.

package own

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
)

// maxStandIns bounds the texts of one column that are counted.
const maxStandIns = 20

// isStandIn reports whether a text has the form of a number that stands for a missing value: -9, -99, 99, 999, with zeros after a mark or none.
func isStandIn(cell string) bool {
	whole, decimals := cell, ""
	if k := strings.IndexAny(cell, ".,"); k >= 0 {
		whole, decimals = cell[:k], cell[k+1:]
	}
	nines, negative := strings.CutPrefix(whole, "-")
	least := 2
	if negative {
		least = 1
	}
	return len(nines) >= least && len(nines) <= 9 && strings.Trim(nines, "9") == "" && strings.Trim(decimals, "0") == ""
}

// addStandIn counts a cell that can stand for a missing value.
func (o *observed) addStandIn(cell string, line int) {
	if !isStandIn(cell) {
		return
	}
	k := slices.IndexFunc(o.standIns, func(c oddCell) bool { return c.text == cell })
	switch {
	case k >= 0:
		o.standIns[k].cells++
	case len(o.standIns) < maxStandIns:
		o.standIns = append(o.standIns, oddCell{firstCell{line, strings.Clone(cell)}, 1})
	}
}

// addStandIns adds a note for every number of a feature, or of a target that is divided, that is hardly a measurement: a repeated one of the
// form of a stand-in, far from all others.
func (b *build) addStandIns(r *Report, columns []datasets.Column) {
	for j, o := range b.columns {
		k := slices.IndexFunc(r.Columns, func(c FoundColumn) bool { return c.Name == b.names[j] })
		if len(o.standIns) == 0 || k < 0 || r.Columns[k].Kind != datasets.Number || r.Columns[k].Role != RoleFeature && r.Columns[k].Role != RoleTarget {
			continue
		}
		c := columns[slices.IndexFunc(columns, func(c datasets.Column) bool { return c.Name == b.names[j] })]
		r.Notes = append(r.Notes, b.standInNotes(j, c)...)
	}
}

// standInNotes are the notes on the stand-ins of a column.
func (v *survey) standInNotes(j int, c datasets.Column) (notes []string) {
	var found []oddCell
	var values []float64
	for _, s := range v.columns[j].standIns {
		value, err := v.cellNumber(j, c.Kind, s.text)
		if err == nil && s.cells >= 2 && 100*s.cells >= v.columns[j].knownCells() {
			found, values = append(found, s), append(values, value)
		}
	}
	others := slices.DeleteFunc(sortedNumbers(c), func(x float64) bool { return slices.Contains(values, x) })
	if len(others) < 2 {
		return nil
	}
	low, high := others[0], others[len(others)-1]
	for k, s := range found {
		if distance := math.Max(low-values[k], values[k]-high); distance > high-low {
			notes = append(notes, fmt.Sprintf("%s: %s is in %d cells, the first in line %d, far from the other numbers, %s to %s, and is read as a "+
				"number. If it stands for a missing value, Missing(%q) says so, of every column.", c.Name, s.text, s.cells, s.line,
				formatNumber(low), formatNumber(high), s.text))
		}
	}
	return notes
}
