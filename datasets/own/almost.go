// Columns that are read as names although most of their cells are numbers or dates.

package own

import (
	"fmt"
	"strings"
)

// A column is refused or noted if so many percent of its cells are numbers or dates.
const almostShare = 30

// almost describes a column whose cells are numbers, or dates, in part.
type almost struct {
	text string   // how many are, and where others are
	odd  []string // what the others are, without None and the like if there is more; nil: names
}

// almost describes a column that is read as names; ok is false if too few cells are numbers or dates.
func (v *survey) almost(j int) (a almost, ok bool) {
	o := &v.columns[j]
	known := o.knownCells()
	n, what := o.numbers()+o.forms[comma]+o.forms[grouped], "numbers"
	if o.forms[isoDate] > n {
		n, what = o.forms[isoDate], "dates"
	}
	if n == known || 100*n < almostShare*known || o.only(integer, code) {
		return a, false
	}
	var places []string
	for _, c := range o.odd {
		places = append(places, fmt.Sprintf("line %d has %q%s", c.line, c.text, times(c.cells)))
	}
	if numbers := o.first[integer]; what == "dates" && numbers.line > 0 {
		places = append(places, fmt.Sprintf("line %d has %q", numbers.line, numbers.text))
	}
	others := o.shapes.dates+o.shapes.amounts > 0
	for _, c := range []firstCell{o.first[word], o.first[code]} {
		if len(places) == 0 && others && c.line > 0 {
			places = append(places, fmt.Sprintf("line %d has %q", c.line, c.text))
		}
	}
	if len(places) == 0 {
		return a, false // dates among numbers, or marks of other kinds
	}
	if o.manyOdd || others || len(o.odd) == 0 || o.forms[code] > 0 {
		places = places[:1]
	} else {
		a.odd = o.oddTexts()
	}
	a.text = fmt.Sprintf("%d of %d cells are %s, %s", n, known, what, strings.Join(places, ", "))
	return a, true
}

func times(cells int) string {
	if cells == 1 {
		return ""
	}
	return fmt.Sprintf(" (%d cells)", cells)
}

// oddTexts returns the texts among numbers. None and the like need no option once the others are
// missing values.
func (o *observed) oddTexts() (out []string) {
	for _, c := range o.odd {
		if !isAbsent(c.text) {
			out = append(out, c.text)
		}
	}
	if out == nil {
		for _, c := range o.odd {
			out = append(out, c.text)
		}
	}
	return out
}

// missingOptions are the options that make texts missing values.
func missingOptions(texts []string) string {
	options := make([]string, len(texts))
	for k, text := range texts {
		options[k] = fmt.Sprintf("Missing(%q)", text)
	}
	return strings.Join(options, " and ")
}

// otherwise says of a column whose cells are all numbers, but not as a program writes them, which
// options read it. ok is false for other columns.
func (v *survey) otherwise(j int) (text string, ok bool) {
	o, name := &v.columns[j], v.names[j]
	if o.forms[comma]+o.forms[grouped] == 0 || !o.only(integer, point, comma, grouped) || o.forms[grouped] == 0 && v.commas() {
		return "", false
	}
	c := o.first[comma]
	if o.forms[grouped] > 0 && (c.line == 0 || o.first[grouped].line < c.line) {
		c = o.first[grouped]
	}
	text = fmt.Sprintf("cells such as %s (line %d) are no numbers with a decimal point: ", c.text, c.line)
	m := &o.marks
	only := o.only(integer, comma)
	switch fits := m.fitThousands(); {
	case only && m.of[1].decimal.line > 0:
		return text + "DecimalComma() reads them as numbers if the comma is a decimal one", true
	case only && (m.big.line > 0 || m.four.line > 0 && m.of[1].lead):
		return text + "DecimalComma() reads them as numbers if the comma is a decimal one", true
	case only:
		return text + fmt.Sprintf("Thousands(%q) reads them as numbers if the comma stands between thousands, "+
			"DecimalComma() with Number(%q) if decimals follow it", name, name), true
	case fits:
		return text + fmt.Sprintf("Thousands(%q) reads them as numbers with marks between thousands", name), true
	}
	return text + "write all numbers of the column alike, such as 1234.5", true
}

// checkAlmost refuses a column of numbers or dates that would be read as names, in the order of the
// alphabet, because of a few marks or texts. One with few distinct cells can be a category.
func (v *survey) checkAlmost(j int, found FoundColumn) error {
	name := v.names[j]
	if v.force[j].What != "" || j == 0 && v.rowNames || looksLikeIdentifier(name) {
		return nil
	}
	o := &v.columns[j]
	if text, ok := v.otherwise(j); ok && found.Distinct > fewCategories {
		return fmt.Errorf("column %d (%s): %s; Category(%q) or Identifier(%q) if the column holds names", j+1, name, text, name, name)
	}
	a, ok := v.almost(j)
	most := 10*(o.numbers()+o.forms[isoDate]) >= 8*o.knownCells()
	switch {
	case !ok:
		return nil
	case a.odd != nil && (found.Distinct-len(o.odd) > fewCategories || most && found.Role == RoleIdentifier):
		return fmt.Errorf("column %d (%s): %s: say %s if it is a missing value, or Identifier(%q) or Category(%q) if the column holds names",
			j+1, name, a.text, missingOptions(a.odd), name, name)
	case most && found.Role == RoleIdentifier:
		return fmt.Errorf("column %d (%s): %s: write numbers or dates in all cells, or say Identifier(%q) or Category(%q) if the column holds names",
			j+1, name, a.text, name, name)
	}
	return nil
}

// notes returns a sentence on a column that was read as names although its cells look like numbers
// or dates, or on numbers that can be read in two ways.
func (v *survey) notes(j int) []string {
	o, name := &v.columns[j], v.names[j]
	if o.knownCells() == 0 {
		return nil
	}
	if text, _ := v.thousands(j); text != "" && o.only(integer, point, comma) {
		return []string{fmt.Sprintf("%s: %s. It is read as the decimal mark; Thousands(%q) reads it as one between thousands.", name, text, name)}
	}
	if len(o.offsets) > 0 {
		return []string{fmt.Sprintf("%s: times are read as they are written, without their offset (%s): a day is the day in the file. "+
			"Write times in a condition without an offset.", name, strings.Join(o.offsets, ", "))}
	}
	if v.force[j].What != "" {
		return nil
	}
	a, almost := v.almost(j)
	text, otherwise := v.otherwise(j)
	switch {
	case otherwise:
		text += "."
	case o.only(integer, code) && o.inexact.line > 0:
		text = fmt.Sprintf("cells such as %s (line %d) have more digits than a number holds: they are read as names.", o.inexact.text, o.inexact.line)
	case o.only(integer, code) && o.forms[code] > 0:
		text = fmt.Sprintf("cells such as %s (line %d) are codes, not numbers; Number(%q) reads them as numbers.", o.first[code].text, o.first[code].line, name)
	case almost && a.odd != nil:
		text = fmt.Sprintf("%s: read as names. %s makes it a missing value.", a.text, missingOptions(a.odd))
	case almost:
		text = fmt.Sprintf("%s: read as names. Category(%q) or Identifier(%q) says that they are.", a.text, name, name)
	default:
		text = v.shapeNote(j)
	}
	if text == "" {
		return v.absentNote(j)
	}
	return []string{name + ": " + text}
}

// absentClassNote says that None and the like are classes of a target of names.
func (v *survey) absentClassNote() string {
	o := &v.columns[v.target]
	if o.forms[absent] == 0 || v.force[v.target].What != "" {
		return ""
	}
	c := o.first[absent]
	return fmt.Sprintf("%s: %q (line %d) is read as a class; Missing(%q) with DropUnlabelled leaves such rows out.", v.names[v.target], c.text, c.line, c.text)
}

// absentNote says that None and the like are names in a column of names.
func (v *survey) absentNote(j int) []string {
	o := &v.columns[j]
	if o.forms[absent] == 0 {
		return nil
	}
	c := o.first[absent]
	return []string{fmt.Sprintf("%s: %q (line %d) is read as a name; Missing(%q) makes it a missing value.", v.names[j], c.text, c.line, c.text)}
}
