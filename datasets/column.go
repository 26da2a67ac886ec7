// Column, a column of a table as it was read, and its encoding for training.

package datasets

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/array"
)

// ColumnKind says what the cells of a Column are.
type ColumnKind int

// The kinds of columns. Number and Date use Column.Numbers, Category and Text use Column.Codes.
const (
	Number   ColumnKind = iota
	Category            // one of a few names
	Date                // a day, or a moment
	Text                // names or sentences, too many for categories
)

// String returns the kind in lower case.
func (k ColumnKind) String() string {
	switch k {
	case Number:
		return "number"
	case Category:
		return "category"
	case Date:
		return "date"
	case Text:
		return "text"
	}
	return fmt.Sprintf("ColumnKind(%d)", int(k))
}

// Numeric reports whether the column's cells are in Numbers.
func (k ColumnKind) Numeric() bool { return k == Number || k == Date }

// Column is one column of a table as it was read: before missing values are replaced, categories
// coded for the network, or anything is scaled. It has an entry per row of the table.
type Column struct {
	Name string
	Kind ColumnKind

	// Numbers are the cells of a Number or a Date, NaN where missing. Dates are days since
	// 1970-01-01 in UTC, with fractions for times; see Days.
	Numbers []float64

	// Codes are the cells of a Category or a Text as positions in Values, -1 where missing.
	// Values are the distinct texts, sorted as byte strings; those of a target are the classes
	// in their order.
	Codes  []int32
	Values []string
}

// SpeltAlike returns the first two names that differ in capitals or spaces alone, if there are such: often
// one name, written in two ways.
func SpeltAlike(names []string) (one, other string, found bool) {
	seen := map[string]string{}
	for _, name := range names {
		key := strings.ToLower(strings.Join(strings.Fields(name), " "))
		if before, there := seen[key]; there {
			return before, name, true
		}
		seen[key] = name
	}
	return "", "", false
}

// Rows returns the number of cells.
func (c Column) Rows() int {
	if c.Kind.Numeric() {
		return len(c.Numbers)
	}
	return len(c.Codes)
}

// Missing reports whether the cell of a row is missing.
func (c Column) Missing(row int) bool {
	if c.Kind.Numeric() {
		return math.IsNaN(c.Numbers[row])
	}
	return c.Codes[row] < 0
}

// Gather returns a column of the given rows, in that order. It shares Values.
func (c Column) Gather(rows []int) Column {
	c.Numbers, c.Codes = gather(c.Numbers, rows), gather(c.Codes, rows)
	return c
}

// GatherColumns returns the given rows of every column.
func GatherColumns(columns []Column, rows []int) []Column {
	if columns == nil {
		return nil
	}
	out := make([]Column, len(columns))
	for j, c := range columns {
		out[j] = c.Gather(rows)
	}
	return out
}

// Encode returns the columns as a matrix and its features, as the published experiments encode
// them: a missing number is the median of its column over all rows, a category is its position in
// the sorted Values, and a missing category is -1. Dates are numbers of days.
//
// It refuses columns of different lengths and a column of numbers that are all missing.
func Encode(columns []Column) (array.Matrix[float64], []Feature, error) {
	rows := 0
	if len(columns) > 0 {
		rows = columns[0].Rows()
	}
	x, features := array.New[float64](rows, len(columns)), make([]Feature, len(columns))
	for j, c := range columns {
		values, err := c.encoded()
		if err == nil && len(values) != rows {
			err = fmt.Errorf("%d rows, the first column has %d", len(values), rows)
		}
		if err != nil {
			return array.Matrix[float64]{}, nil, fmt.Errorf("datasets: column %d (%s): %w", j+1, c.Name, err)
		}
		for i, v := range values {
			x.Data[i*x.Cols+j] = v
		}
		features[j] = c.feature()
	}
	return x, features, nil
}

func (c Column) feature() Feature {
	if c.Kind.Numeric() {
		return Feature{Name: c.Name}
	}
	return Feature{Name: c.Name, Categorical: true, Categories: c.Values}
}

func (c Column) encoded() ([]float64, error) {
	if c.Kind.Numeric() {
		return fillMedian(c.Numbers)
	}
	out := make([]float64, len(c.Codes))
	for i, code := range c.Codes {
		out[i] = float64(code)
	}
	return out, nil
}

// NewTextColumn returns a Category or a Text of cells that were numbered in the order in which
// their texts first occurred: texts[ids[row]] is the cell of a row, and -1 a missing one. It sorts
// the texts and changes ids.
func NewTextColumn(name string, kind ColumnKind, ids []int32, texts []string) Column {
	sorted := slices.Sorted(slices.Values(texts))
	codes := make([]int32, len(texts))
	for id, text := range texts {
		at, _ := slices.BinarySearch(sorted, text)
		codes[id] = int32(at)
	}
	for i, id := range ids {
		if id >= 0 {
			ids[i] = codes[id]
		}
	}
	return Column{Name: name, Kind: kind, Codes: ids, Values: sorted}
}
