// Rows of a table that the split keeps together.

package own

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
)

// groups returns a number per row, x being the rows' features; those of one number are in one part. nil: every
// row is on its own.
func (t *Table) groups(x array.Matrix[float64]) []int {
	if t.group < 0 && !t.copiesTogether {
		return nil
	}
	sets := newUnion(len(t.y))
	if t.group >= 0 {
		sets.join(datasets.NumberGroups(groupCells(t.about.Columns[t.group])))
	}
	if t.copiesTogether {
		sets.join(datasets.NumberGroups(x.Rows, func(i int) (string, bool) { return rowBits(x.Row(i)), true }))
	}
	return sets.numbers()
}

// KeepsCopies reports whether the split keeps rows with equal features together.
func (t *Table) KeepsCopies() bool { return t.copiesTogether }

// rowBits are the numbers of a row, as a key.
func rowBits(row []float64) string {
	out := make([]byte, 0, 8*len(row))
	for _, v := range row {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v+0)) // -0 is 0
	}
	return string(out)
}

// groupCells returns the number of rows, and the group of a row; ok is false for a missing cell.
func groupCells(c datasets.Column) (rows int, of func(i int) (group string, ok bool)) {
	if c.Kind.Numeric() {
		return len(c.Numbers), func(i int) (string, bool) { return fmt.Sprint(c.Numbers[i]), !c.Missing(i) }
	}
	return len(c.Codes), func(i int) (string, bool) { return cellText(c, i), !c.Missing(i) }
}

// union are sets of rows that are joined step by step. The number of a set is that of its first row.
type union []int

func newUnion(rows int) union {
	u := make(union, rows)
	for i := range u {
		u[i] = i
	}
	return u
}

func (u union) find(i int) int {
	for u[i] != i {
		u[i] = u[u[i]]
		i = u[i]
	}
	return i
}

// join joins the rows of every group, numbered as by datasets.NumberGroups.
func (u union) join(groups []int) {
	for i, g := range groups {
		a, b := u.find(g), u.find(i)
		u[max(a, b)] = min(a, b)
	}
}

// numbers returns the set of every row.
func (u union) numbers() []int {
	out := make([]int, len(u))
	for i := range u {
		out[i] = u.find(i)
	}
	return out
}

// columnNamed is the column with this name.
func columnNamed(columns []datasets.Column, name string) datasets.Column {
	return columns[slices.IndexFunc(columns, func(c datasets.Column) bool { return c.Name == name })]
}

// groupNote says how many groups there are, and how many of these records the largest has.
func groupNote(c datasets.Column, record string) string {
	rows, of := groupCells(c)
	sizes, missing := map[string]int{}, 0
	for i := range rows {
		if g, has := of(i); has {
			sizes[g]++
		} else {
			missing++
		}
	}
	largest := 0
	for _, n := range sizes {
		largest = max(largest, n)
	}
	text := fmt.Sprintf(
		"The split keeps the %ss of one %s together: %s, the largest with %s.", record, c.Name, count(len(sizes), "group"), count(largest, record))
	if missing > 0 {
		text += fmt.Sprintf(" %s without a %s: each is a group of its own.", count(missing, record), c.Name)
	}
	return text
}
