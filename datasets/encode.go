// Encoding of text records as a Table: numbers, categories, missing values.

package datasets

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets/arff"
)

// missing is the text of a missing value in all of these tables.
const missing = "?"

// field is one column of a file.
type field struct {
	name        string
	categorical bool
}

// numbers and categories return fields of one kind.
func numbers(names ...string) []field    { return fields(false, names) }
func categories(names ...string) []field { return fields(true, names) }

func fields(categorical bool, names []string) []field {
	out := make([]field, len(names))
	for i, n := range names {
		out[i] = field{name: n, categorical: categorical}
	}
	return out
}

// encoder turns text records into a Table.
//
// Numbers are kept; a missing number becomes the median of its column over all rows, so before any
// split, as in the published experiments. Categories are sorted as byte strings and coded by their
// position; a missing category becomes -1. The published models fit sorted codes only, not the
// order that an ARFF file declares (see doc.go).
type encoder struct {
	columns []column
	classes []string
	target  func(string) (int, bool)
	y       []int

	targetFirst bool // the target comes before the fields, not after them
	large       bool // About.Columns are left out, to save memory
}

type column struct {
	field
	numbers []float64 // NaN where missing
	ids     []int32   // order of first appearance, -1 where missing
	seen    map[string]int32
	names   []string
}

// newEncoder returns an encoder for records of these fields followed by the
// target; target maps its text to a code of classes.
func newEncoder(fs []field, classes []string, target func(string) (int, bool)) *encoder {
	e := &encoder{classes: classes, target: target, columns: make([]column, len(fs))}
	for i, f := range fs {
		e.columns[i] = column{field: f, seen: map[string]int32{}}
	}
	return e
}

// targetCodes returns a target function that accepts exactly these texts and codes them by
// position.
func targetCodes(texts ...string) func(string) (int, bool) {
	return func(s string) (int, bool) {
		i := slices.Index(texts, s)
		return i, i >= 0
	}
}

// expect allocates memory for the given number of rows, all of them numbers. Growing a large table
// step by step would need twice its memory, and keeping its columns would double it again.
func (e *encoder) expect(rows int) {
	e.large = true
	e.y = slices.Grow(e.y, rows)
	for j := range e.columns {
		e.columns[j].numbers = slices.Grow(e.columns[j].numbers, rows)
	}
}

// add appends one record; file and line are for the error.
func (e *encoder) add(record []string, file string, line int) error {
	if len(record) != len(e.columns)+1 {
		return fmt.Errorf("datasets: %s:%d: %d fields, expected %d", file, line, len(record), len(e.columns)+1)
	}
	target, from := len(e.columns), 0
	if e.targetFirst {
		target, from = 0, 1
	}
	code, ok := e.target(record[target])
	if !ok {
		return fmt.Errorf("datasets: %s:%d: column %d (target): unexpected value %q", file, line, target+1, clip(record[target]))
	}
	for j := range e.columns {
		if err := e.columns[j].add(record[from+j]); err != nil {
			return fmt.Errorf("datasets: %s:%d: column %d (%s): %w", file, line, from+j+1, e.columns[j].name, err)
		}
	}
	e.y = append(e.y, code)
	return nil
}

func (c *column) add(text string) error {
	if c.categorical {
		c.addCategory(text)
		return nil
	}
	if text == missing {
		c.numbers = append(c.numbers, math.NaN())
		return nil
	}
	v, err := arff.ParseNumber(text)
	if err != nil {
		return err
	}
	c.numbers = append(c.numbers, v)
	return nil
}

func (c *column) addCategory(text string) {
	if text == missing {
		c.ids = append(c.ids, -1)
		return
	}
	id, ok := c.seen[text]
	if !ok {
		id = int32(len(c.names))
		name := strings.Clone(text) // so that the whole line can be freed
		c.seen[name] = id
		c.names = append(c.names, name)
	}
	c.ids = append(c.ids, id)
}

// table encodes the records added so far.
func (e *encoder) table() (*Table, error) {
	columns := make([]Column, len(e.columns))
	for j := range e.columns {
		columns[j] = e.columns[j].asRead()
	}
	x, features, err := Encode(columns)
	if err != nil {
		return nil, err
	}
	t := &Table{X: x, Y: e.y, About: About{Features: features, Classes: e.classes}}
	if !e.large {
		t.Columns = append(columns, classColumn(columns, e.y, e.classes))
	}
	return t, nil
}

func (c *column) asRead() Column {
	if !c.categorical {
		return Column{Name: c.name, Kind: Number, Numbers: c.numbers}
	}
	return NewTextColumn(c.name, Category, c.ids, c.names)
}

// classColumn returns the classes as a column. It is called "class", or "target" if a column has
// that name.
func classColumn(others []Column, y []int, classes []string) Column {
	c := Column{Name: "class", Kind: Category, Codes: make([]int32, len(y)), Values: classes}
	if slices.ContainsFunc(others, func(o Column) bool { return o.Name == c.Name }) {
		c.Name = "target"
	}
	for i, code := range y {
		c.Codes[i] = int32(code)
	}
	return c
}

// fillMedian replaces NaN by the median of the other values.
func fillMedian(values []float64) ([]float64, error) {
	known := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(known) == len(values) {
		return values, nil
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("all %d values are missing", len(values))
	}
	slices.Sort(known)
	median := float64(known[(len(known)-1)/2]+known[len(known)/2]) / 2
	out := slices.Clone(values)
	for i, v := range out {
		if math.IsNaN(v) {
			out[i] = median
		}
	}
	return out, nil
}

// clip shortens a value for an error message.
func clip(s string) string {
	const limit = 60
	if len(s) <= limit {
		return s
	}
	return s[:limit] + "..."
}
