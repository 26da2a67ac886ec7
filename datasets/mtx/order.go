package mtx

import (
	"slices"
	"sort"
)

// sortRow sorts rows, ascending, and values with them. Rows that are already ascending or
// descending, as in published files, cost linear time.
func sortRow(rows []int32, values []float32) {
	if slices.IsSorted(rows) {
		return
	}
	slices.Reverse(rows)
	slices.Reverse(values)
	if !slices.IsSorted(rows) {
		sort.Sort(&pairs{rows, values})
	}
}

type pairs struct {
	rows   []int32
	values []float32
}

func (p *pairs) Len() int           { return len(p.rows) }
func (p *pairs) Less(a, b int) bool { return p.rows[a] < p.rows[b] }
func (p *pairs) Swap(a, b int) {
	p.rows[a], p.rows[b] = p.rows[b], p.rows[a]
	p.values[a], p.values[b] = p.values[b], p.values[a]
}
