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
	"github.com/lethe-ml/lethe/lib/text/wordpiece"
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
	RoleGroup      Role = "group" // whose records stay together
)

// observed is what the first reading sees of a column.
type observed struct {
	forms    [forms]int
	first    [forms]firstCell // of every form
	missing  int
	examples []string // the first distinct cells
	marks    marks    // of numbers
	shapes   shapes   // of words
	floats   int      // whole numbers that are written as floats: 55.0
	inexact  firstCell
	odd      []oddCell // the first distinct cells that are neither numbers nor dates
	manyOdd  bool      // there are more of them
	absent   bool      // None and the like are missing
	offsets  []string  // of times: the first two of them
	standIns []oddCell // numbers such as -9 and 999, with how often they occur
}

// oddCell is a text among numbers or dates.
type oddCell struct {
	firstCell
	cells int
}

// maxOdd is the number of distinct texts up to which they are taken for marks such as "unknown".
const maxOdd = 10

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
	switch f {
	case integer, point, comma:
		o.addNumber(cell, line)
		o.addStandIn(cell, line)
		if isCompactDate(cell) {
			o.shapes.compact++
		}
	case isoDate:
		if _, offset := cutOffset(cell); offset != "" {
			o.addOffset(offset)
		}
	case grouped:
		o.marks.addThousands(cell, line)
	case code:
		if o.inexact.line == 0 && !held(cell) {
			o.inexact = firstCell{line, clip(cell)}
		}
		fallthrough
	case word, absent, infinite:
		if !o.shapes.add(cell, line) {
			o.addOdd(cell, line)
		}
	}
	if len(o.examples) < maxExamples && !slices.Contains(o.examples, cell) {
		o.examples = append(o.examples, strings.Clone(cell))
	}
}

// addOffset keeps an offset from UTC, such as -05:00.
func (o *observed) addOffset(offset string) {
	if len(o.offsets) < 2 && !slices.Contains(o.offsets, offset) {
		o.offsets = append(o.offsets, strings.Clone(offset))
	}
}

func (o *observed) addNumber(cell string, line int) {
	o.marks.add(cell, line)
	if n, is := cutNumber(cell); is && n.mark != 0 && n.isWhole() {
		o.floats++
	}
}

func (o *observed) addOdd(cell string, line int) {
	if o.manyOdd {
		return
	}
	if len(cell) > 40 {
		cell = clip(cell)
	}
	k := slices.IndexFunc(o.odd, func(c oddCell) bool { return c.text == cell })
	switch {
	case k >= 0:
		o.odd[k].cells++
	case len(o.odd) == maxOdd:
		o.manyOdd = true
	default:
		o.odd = append(o.odd, oddCell{firstCell{line, strings.Clone(cell)}, 1})
	}
}

// numbers is the number of cells that are numbers as they stand.
func (o *observed) numbers() int { return o.forms[integer] + o.forms[point] }

// isWhole reports whether all known cells are whole numbers, some written as floats: 55.0.
func (o *observed) isWhole() bool { return o.forms[integer]+o.floats == o.knownCells() }

// settle makes texts such as None missing values, if all others are numbers or dates.
func (o *observed) settle(numbers bool) {
	n := o.forms[absent]
	rest := o.knownCells() - n
	if n == 0 || rest == 0 && !numbers || !o.only(integer, point, comma, grouped, infinite, absent) && !o.only(isoDate, absent) && !numbers {
		return
	}
	o.missing, o.forms[absent] = o.missing+n, 0
	o.odd = slices.DeleteFunc(o.odd, func(c oddCell) bool { return isAbsent(c.text) })
	o.examples = slices.DeleteFunc(o.examples, isAbsent)
	o.absent = true
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
	numerals  int // names that are numbers, of a header in the file
	rowNames  bool
	columns   []observed
	force     []forced // what the user says of every column
	decimals  [2]firstCell
	decimalOf [2]int // their columns
	target    int    // its column
	text      int    // the column of the documents, -1: the records are no texts
	kept      int    // columns that are not ignored
	rows      int
	dropped   int // rows without a target
	textless  int // rows without a text
	empty     int // lines without any value
	total     int // records of the file, those without any value among them
	blank     int // the first line of nothing between records
	hash      string
	unseen    []string // texts that the user calls missing, and no cell holds
}

// surveyFile reads a file once in little memory, checks every record, and counts.
func surveyFile(ctx context.Context, path string, s *tableSettings) (v *survey, err error) {
	r, err := openRecords(path, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := s.checkNames(namedOnly(r.names)); err != nil {
		return nil, withoutHeader(r, fmt.Errorf("%s: %w", path, err))
	}
	v = &survey{settings: s, path: path, separator: r.separator, names: r.names, numerals: r.numerals, rowNames: r.rowNames,
		columns: make([]observed, len(r.names)), target: slices.Index(r.names, s.Target), unseen: slices.Clone(s.Missing)}
	for _, name := range v.names {
		force := s.Forced[name]
		v.force = append(v.force, force)
		if force.What != forcedIgnored {
			v.kept++
		}
	}
	if s.Above != nil && v.force[v.target].What == "" {
		v.force[v.target].What = forcedNumber
	}
	if v.text = s.textColumn(v.names); v.text >= 0 {
		v.force[v.text].What = forcedCategory
	}
	err = eachRecord(ctx, r, func(record []string) error { return v.add(r, record) })
	v.hash, v.empty, v.total, v.blank = r.hash(), r.empty, r.count, r.blank
	v.settle()
	switch {
	case err == nil && v.rows == 0 && v.textless > 0:
		err = fmt.Errorf("%s: no row has a target and a text", path)
	case err == nil && v.rows == 0:
		err = fmt.Errorf("%s: no row has a target", path)
	}
	return v, err
}

// withoutHeader adds to an error for a column that is not found that the header can be a record.
func withoutHeader(r *records, err error) error {
	var unknown *datasets.UnknownColumnError
	if !errors.As(err, &unknown) {
		return err
	}
	return fmt.Errorf("%w%s", err, r.asRecord())
}

// settle decides what the texts and marks of all columns mean, after the first reading.
func (v *survey) settle() {
	for j := range v.columns {
		if what := v.force[j].What; j != v.target && what != forcedCategory {
			v.columns[j].settle(what == forcedNumber || what == forcedThousands || what == forcedDate)
		}
	}
	v.findDecimals()
}

// isMissing reports whether a cell of a column holds no value, once the first reading has ended.
func (v *survey) isMissing(j int, cell string) bool {
	return v.settings.isMissing(cell) || v.columns[j].absent && isAbsent(cell) && !slices.Contains(v.settings.NotMissing, cell)
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
	return v.text >= 0 && (v.settings.isMissing(record[v.text]) || v.settings.Texts.DropEmpty && len(wordpiece.Words(record[v.text])) == 0)
}

func (v *survey) add(r *records, record []string) error {
	v.unseen = slices.DeleteFunc(v.unseen, func(text string) bool { return slices.Contains(record, text) })
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
		v.columns[j].add(f, cell, r.cellLine(j))
	}
	return nil
}

// checkForced returns an error for a cell that is not what the user says the column is.
func (v *survey) checkForced(r *records, j int, cell string, f form) error {
	force := v.force[j]
	if f == absent && j != v.target {
		return nil // a missing value in a column of numbers or dates
	}
	if what := force.What; (what == forcedNumber || what == forcedThousands) && !held(cell) {
		return r.cellError(j, "%q has more digits than a number holds; Identifier(%q) or Category(%q) keeps the digits", clip(cell), v.names[j], v.names[j])
	}
	switch force.What {
	case forcedThousands:
		if !v.columns[j].marks.addThousands(cell, r.cellLine(j)) {
			return r.cellError(j, "%q is not a number with marks between thousands; leave it empty if it is missing, or say Missing(%q)",
				clip(cell), clip(cell))
		}
	case forcedNumber:
		if f == integer || f == point || f == code || f == comma && v.commas() {
			return nil
		}
		if f == comma {
			if c, _ := cutThousands(cell); c.group != 0 {
				return r.cellError(j, "%q is not a number with a decimal point; say DecimalComma() if it has a decimal comma, "+
					"or Thousands(%q) in place of Number(%q) if the comma stands between thousands", clip(cell), v.names[j], v.names[j])
			}
			return r.cellError(j, "%q is not a number with a decimal point; say DecimalComma() if it has a decimal comma", clip(cell))
		}
		return r.cellError(j, "%q is not a finite number; leave it empty if it is missing, or say Missing(%q)", clip(cell), clip(cell))
	case forcedDate:
		t, err := time.Parse(force.Layout, cell)
		if _, offset := t.Zone(); err == nil && offset != 0 {
			v.columns[j].addOffset(t.Format("-07:00"))
		}
		if err != nil {
			return r.cellError(j, "%q is not a date in the layout %q, which reads %s", clip(cell), force.Layout, exampleDate(force.Layout))
		}
	}
	return nil
}

func exampleDate(layout string) string {
	return time.Date(2021, time.April, 3, 15, 4, 5, 0, time.UTC).Format(layout) + " for 3 April 2021"
}

// hasCommas reports whether a column of numbers has decimal commas, and not commas between thousands.
func (v *survey) hasCommas(j int) bool {
	if v.force[j].What == forcedThousands {
		return v.columns[j].marks.decimal[','].line > 0
	}
	return v.columns[j].forms[comma] > 0
}

// commas reports whether decimal commas are read.
func (v *survey) commas() bool { return v.separator == ';' || v.settings.DecimalComma }

// kindOf decides what a column is by its cells, if the user does not say it.
func (v *survey) kindOf(j int) (datasets.ColumnKind, error) {
	o := &v.columns[j]
	switch v.force[j].What {
	case forcedNumber:
		return datasets.Number, v.checkNumbers(j)
	case forcedThousands:
		return datasets.Number, v.checkGroups(j)
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
	return datasets.Number, v.checkNumbers(j)
}

// checkNumbers refuses a column of numbers whose marks can mean two things.
func (v *survey) checkNumbers(j int) error {
	if err := v.checkMarks(j); err != nil {
		return err
	}
	return v.checkThousands(j)
}

// checkMarks refuses a column of numbers with both decimal marks.
func (v *survey) checkMarks(j int) error {
	a, b := v.columns[j].first[point], v.columns[j].first[comma]
	if a.line == 0 || b.line == 0 {
		return nil
	}
	thousands := ""
	if of := v.columns[j].marks.of; of[0].decimal.line == 0 || of[1].decimal.line == 0 {
		thousands = fmt.Sprintf("Thousands(%q) if one of the marks stands between thousands, or ", v.names[j])
	}
	return fmt.Errorf("%s: column %d (%s): a decimal point in line %d (%q) and a decimal comma in line %d (%q): write all numbers of the column alike, "+
		"or say %sCategory(%q)", v.path, j+1, v.names[j], a.line, a.text, b.line, b.text, thousands, v.names[j])
}

// cellNumber returns the number that a cell of a column of numbers or dates holds.
func (v *survey) cellNumber(j int, kind datasets.ColumnKind, cell string) (float64, error) {
	switch force := v.force[j]; {
	case force.What == forcedDate:
		t, err := time.Parse(force.Layout, cell)
		_, offset := t.Zone()
		return datasets.Days(t.Add(time.Duration(offset) * time.Second)), err // as written
	case kind == datasets.Date:
		written, _ := cutOffset(cell)
		return datasets.ParseDate(written)
	case force.What == forcedThousands:
		c, _ := cutThousands(cell) // the first reading has checked it
		cell = c.plain
	}
	value, err := parseNumber(cell)
	if err == nil && math.IsInf(value, 0) {
		err = fmt.Errorf("%q is not finite", clip(cell))
	}
	return value, err
}
