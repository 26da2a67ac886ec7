package sde

// Halves returns the halves of a set as SplitHalf cuts it in the order given: the first half, and
// as many rows that follow; of an odd number the last row is left out. They share the memory of the
// set.
func Halves(m *Matrix) (first, second *Matrix) {
	n := m.Rows / 2
	cut := n * m.Cols
	return &Matrix{Rows: n, Cols: m.Cols, Data: m.Data[:cut]}, &Matrix{Rows: n, Cols: m.Cols, Data: m.Data[cut : 2*cut]}
}
