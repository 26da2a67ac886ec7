// The first reading of a table: what every column can be, and what it is.

package own

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/datasets"
)

// Role says what a column of a table is used for.
type Role string

// The roles. Identifiers and constant columns are no features; a forget set can name all columns
// but the ignored ones.
const (
	RoleFeature    Role = "feature"
	RoleTarget     Role = "target"
	RoleIdentifier Role = "identifier"
	RoleConstant   Role = "constant"
	RoleIgnored    Role = "ignored"
	RoleText       Role = "text"  // of ReadTexts: the documents
	RoleGroup      Role = "group" // of ReadTexts: whose documents stay together
)

// observed is what the first reading sees of a column.
type observed struct {
	forms    [forms]int
	first    [forms]firstCell // of every form
	missing  int
	examples []string // the first distinct cells
}

type firstCell struct {
	line int
	text string
}

const maxExamples = 3

func (o *observed) add(f form, cell string, line int) {
	if o.forms[f] == 0 {
		o.first[f] = firstCell{line, clip(cell)}
	}
	o.forms[f]++
	if len(o.examples) < maxExamples && !slices.Contains(o.examples, cell) {
		o.examples = append(o.examples, strings.Clone(cell))
	}
}

func (o *observed) knownCells() int {
	n := 0
	for _, k := range o.forms {
		n += k
	}
	return n
}

// only reports whether all known cells have one of the forms.
func (o *observed) only(some ...form) bool {
	n := 0
	for _, f := range some {
		n += o.forms[f]
	}
	return n == o.knownCells()
}

// survey is what the first reading finds of a file.
type survey struct {
	settings  *tableSettings
	path      string
	separator rune
	names     []string
	rowNames  bool
	columns   []observed
	force     []forced // what the user says of every column
	target    int      // its column
	text      int      // the column of the documents, -1: the records are no texts
	kept      int      // columns that are not ignored
	rows      int
	dropped   int // rows without a target
	textless  int // rows without a text
	empty     int // lines without any value
	hash      string
}

// surveyFile reads a file once in little memory, checks every record, and counts.
func surveyFile(ctx context.Context, path string, s *tableSettings) (v *survey, err error) {
	r, err := openRecords(path, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := s.checkNames(namedOnly(r.names)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	v = &survey{settings: s, path: path, separator: r.separator, names: r.names, rowNames: r.rowNames,
		columns: make([]observed, len(r.names)), target: slices.Index(r.names, s.Target)}
	for _, name := range v.names {
		force := s.Forced[name]
		v.force = append(v.force, force)
		if force.What != forcedIgnored {
			v.kept++
		}
	}
	if s.Above != nil {
		v.force[v.target].What = forcedNumber
	}
	if v.text = s.textColumn(v.names); v.text >= 0 {
		v.force[v.text].What = forcedCategory
	}
	err = eachRecord(ctx, r, func(record []string) error { return v.add(r, record) })
	v.hash, v.empty = r.hash(), r.empty
	switch {
	case err == nil && v.rows == 0 && v.textless > 0:
		err = fmt.Errorf("%s: no row has a target and a text", path)
	case err == nil && v.rows == 0:
		err = fmt.Errorf("%s: no row has a target", path)
	}
	return v, err
}

func namedOnly(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" })
}

func eachRecord(ctx context.Context, r *records, each func([]string) error) error {
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		record, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := each(record); err != nil {
			return err
		}
	}
}

// unlabelled reports whether a record has no target.
func (v *survey) unlabelled(record []string) bool { return v.settings.isMissing(record[v.target]) }

// withoutText reports whether a record of a file of texts has none.
func (v *survey) withoutText(record []string) bool {
	return v.text >= 0 && v.settings.isMissing(record[v.text])
}

func (v *survey) add(r *records, record []string) error {
	if v.unlabelled(record) {
		if !v.settings.DropUnlabelled {
			return r.cellError(v.target, "%q is a missing value: every row needs a target; DropUnlabelled leaves such rows out", record[v.target])
		}
		v.dropped++
		return nil
	}
	if v.withoutText(record) {
		if !v.settings.Texts.DropEmpty {
			return r.cellError(v.text, "%q is no text; write one, or say DropEmpty(), which leaves such rows out", record[v.text])
		}
		v.textless++
		return nil
	}
	v.rows++
	if values := v.rows * v.kept; values > maxValues {
		return r.errorf(r.line, "the table has more than %d cells; read a part of it", maxValues)
	}
	for j, cell := range record {
		if v.force[j].What == forcedIgnored {
			continue
		}
		if v.settings.isMissing(cell) {
			v.columns[j].missing++
			continue
		}
		if v.names[j] == "" {
			return r.cellError(j, "the column has the value %q and no name; name it in the header", clip(cell))
		}
		f := formOf(cell)
		if err := v.checkForced(r, j, cell, f); err != nil {
			return err
		}
		line := 0
		if v.columns[j].forms[f] == 0 {
			line = r.cellLine(j)
		}
		v.columns[j].add(f, cell, line)
	}
	return nil
}

// checkForced returns an error for a cell that is not what the user says the column is.
func (v *survey) checkForced(r *records, j int, cell string, f form) error {
	switch force := v.force[j]; force.What {
	case forcedNumber:
		if f == integer || f == point || f == code || f == comma && v.commas() {
			return nil
		}
		if f == comma {
			return r.cellError(j, "%q is not a number with a decimal point; say DecimalComma() if it has a decimal comma", clip(cell))
		}
		return r.cellError(j, "%q is not a finite number; leave it empty if it is missing, or say Missing(%q)", clip(cell), clip(cell))
	case forcedDate:
		if _, err := time.Parse(force.Layout, cell); err != nil {
			return r.cellError(j, "%q is not a date in the layout %q, which reads %s", clip(cell), force.Layout, exampleDate(force.Layout))
		}
	}
	return nil
}

func exampleDate(layout string) string {
	return time.Date(2021, time.April, 3, 15, 4, 5, 0, time.UTC).Format(layout) + " for 3 April 2021"
}

// commas reports whether decimal commas are read.
func (v *survey) commas() bool { return v.separator == ';' || v.settings.DecimalComma }

// kindOf decides what a column is by its cells, if the user does not say it.
func (v *survey) kindOf(j int) (datasets.ColumnKind, error) {
	o := &v.columns[j]
	switch v.force[j].What {
	case forcedNumber:
		return datasets.Number, v.checkMarks(j)
	case forcedDate:
		return datasets.Date, nil
	case forcedCategory:
		return datasets.Category, nil
	}
	numeric := o.only(integer, point, infinite) || o.only(integer, point, comma, infinite) && v.commas()
	switch {
	case o.knownCells() == 0:
		return datasets.Category, nil
	case o.only(isoDate):
		return datasets.Date, nil
	case !numeric:
		return datasets.Category, nil
	case o.forms[infinite] == o.knownCells():
		return datasets.Category, nil // a word that spells infinity
	case o.forms[infinite] > 0:
		c := o.first[infinite]
		return 0, fmt.Errorf("%s:%d: column %d (%s): %q in a column of numbers is not finite; leave it empty, or write a number",
			v.path, c.line, j+1, v.names[j], c.text)
	}
	return datasets.Number, v.checkMarks(j)
}

// checkMarks refuses a column of numbers with both decimal marks.
func (v *survey) checkMarks(j int) error {
	a, b := v.columns[j].first[point], v.columns[j].first[comma]
	if a.line == 0 || b.line == 0 {
		return nil
	}
	return fmt.Errorf("%s: column %d (%s): a decimal point in line %d (%q) and a decimal comma in line %d (%q): write all numbers of the column alike, "+
		"or say Category(%q)", v.path, j+1, v.names[j], a.line, a.text, b.line, b.text, v.names[j])
}

// cellNumber returns the number that a cell of a column of numbers or dates holds.
func (v *survey) cellNumber(j int, kind datasets.ColumnKind, cell string) (float64, error) {
	switch force := v.force[j]; {
	case force.What == forcedDate:
		t, err := time.Parse(force.Layout, cell)
		return datasets.Days(t), err
	case kind == datasets.Date:
		return datasets.ParseDate(cell)
	}
	value, err := parseNumber(cell)
	if err == nil && math.IsInf(value, 0) {
		err = fmt.Errorf("%q is not finite", clip(cell))
	}
	return value, err
}

// almost describes a column most of whose cells are numbers, or dates, but not all. ok is false for
// other columns.
func (v *survey) almost(j int) (text string, odd firstCell, ok bool) {
	o := &v.columns[j]
	known, numbers := o.knownCells(), o.forms[integer]+o.forms[point]
	for _, most := range []struct {
		n    int
		what string
	}{{numbers, "numbers"}, {o.forms[isoDate], "dates"}} {
		if most.n < known && 10*most.n >= 8*known {
			odd = firstOdd(o)
			return fmt.Sprintf("%d of %d cells are %s, line %d has %q", most.n, known, most.what, odd.line, odd.text), odd, true
		}
	}
	return "", odd, false
}

// checkAlmost refuses a column that would be kept out of the features because of a few cells.
func (v *survey) checkAlmost(j int) error {
	name := v.names[j]
	text, odd, ok := v.almost(j)
	if !ok || v.force[j].What != "" || j == 0 && v.rowNames || looksLikeIdentifier(name) {
		return nil
	}
	return fmt.Errorf("column %d (%s): %s: say Missing(%q) if it is a missing value, or Identifier(%q) or Category(%q) if the column holds names",
		j+1, name, text, odd.text, name, name)
}

// notes returns a sentence on a column that was read as names although its cells look like numbers
// or dates.
func (v *survey) notes(j int) []string {
	o, name := &v.columns[j], v.names[j]
	if o.knownCells() == 0 || v.force[j].What != "" {
		return nil
	}
	text, odd, almost := v.almost(j)
	switch {
	case o.only(integer, code) && o.forms[code] > 0:
		text = fmt.Sprintf("cells such as %s (line %d) are codes, not numbers; Number(%q) reads them as numbers.", o.first[code].text, o.first[code].line, name)
	case o.only(integer, point, comma) && o.forms[comma] > 0 && !v.commas():
		text = fmt.Sprintf("cells such as %s (line %d) are read as names; DecimalComma() reads them as numbers if the comma is a decimal one.",
			o.first[comma].text, o.first[comma].line)
	case almost:
		text += fmt.Sprintf(": read as names. Missing(%q) makes it a missing value.", odd.text)
	case looksLikeDate(o.first[word].text):
		text = fmt.Sprintf("%q (line %d) looks like a date; Date(%q, \"02/01/2006\") reads it as day/month/year.", o.first[word].text, o.first[word].line, name)
	case looksLikeNumber(o.first[word].text):
		text = fmt.Sprintf("%q (line %d) is read as a name; write a number as 1234.5, without units and without signs between thousands.",
			o.first[word].text, o.first[word].line)
	default:
		return nil
	}
	return []string{name + ": " + text}
}

// firstOdd returns the first cell that is neither a number nor a date; of a column of dates, that
// is no date.
func firstOdd(o *observed) firstCell {
	odd := o.first[word]
	for f := range forms {
		if f == integer || f == point || f == isoDate || o.forms[f] == 0 {
			continue
		}
		if odd.line == 0 || o.first[f].line < odd.line {
			odd = o.first[f]
		}
	}
	if odd.line == 0 { // numbers among dates
		odd = o.first[integer]
	}
	return odd
}

// looksLikeDate reports whether a text is three numbers between slashes, dots or hyphens.
func looksLikeDate(text string) bool {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '.' || r == '-' })
	if len(parts) != 3 || len(text) > len("02/01/2006") {
		return false
	}
	for _, part := range parts {
		if digits, rest := cutDigits(part); digits == "" || rest != "" {
			return false
		}
	}
	return true
}

// looksLikeNumber reports whether a text is digits with signs for thousands, percent or money.
func looksLikeNumber(text string) bool {
	return strings.ContainsAny(text, "0123456789") && strings.Trim(text, "0123456789.,'+-%$€£ \u00a0\u202f") == "" && !strings.Contains(text, "--")
}
