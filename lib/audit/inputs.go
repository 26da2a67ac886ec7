// What models are given of records: rows of numbers, or tokens of texts. Whatever is read from them
// alone is about the records and not about a model.

package audit

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
)

// HasInputs reports whether it is known what models are given of the records.
func (e *Evidence) HasInputs() bool { return e.Inputs != nil || e.Texts != nil }

// inputRows compares inputs of single records.
type inputRows interface {
	hash(i int) uint64
	equal(i, j int) bool
}

// inputRows reads the inputs.
func (e *Evidence) inputRows() (inputRows, error) {
	if e.Texts != nil {
		return textRows(e.Texts), nil
	}
	x, err := e.Inputs.Read()
	if err != nil {
		return nil, err
	}
	_, cols := x.Shape()
	return &vectorRows{x: x, a: make([]float64, cols), b: make([]float64, cols)}, nil
}

// vectorRows are rows of numbers, with buffers for two of them.
type vectorRows struct {
	x    array.Rows
	a, b []float64
}

func (v *vectorRows) hash(i int) uint64 { return hashRow(v.x.Read(v.a, i)) }

func (v *vectorRows) equal(i, j int) bool { return slices.Equal(v.x.Read(v.a, i), v.x.Read(v.b, j)) }

// textRows are tokens of texts.
type textRows [][]int

func (t textRows) hash(i int) uint64 { return hashTokens(t[i]) }

func (t textRows) equal(i, j int) bool { return slices.Equal(t[i], t[j]) }

// hashTokens is FNV-1a over token numbers, one number at a time.
func hashTokens(tokens []int) uint64 {
	h := uint64(14695981039346656037)
	for _, v := range tokens {
		h = (h ^ uint64(v)) * 1099511628211
		h ^= h >> 32
	}
	return h
}

// identical returns which of some records have an identical one among others.
func identical(x inputRows, rows, others []int) []bool {
	seen := map[uint64][]int{}
	for _, j := range others {
		h := x.hash(j)
		if !slices.ContainsFunc(seen[h], func(k int) bool { return x.equal(j, k) }) {
			seen[h] = append(seen[h], j)
		}
	}
	out := make([]bool, len(rows))
	for k, i := range rows {
		out[k] = slices.ContainsFunc(seen[x.hash(i)], func(j int) bool { return x.equal(i, j) })
	}
	return out
}

// checkInputs refuses evidence whose inputs are of another number of records.
func (e *Evidence) checkInputs() error {
	switch {
	case !e.HasInputs():
		return fmt.Errorf("audit: there are no inputs")
	case e.Texts != nil && len(e.Texts) != e.Records:
		return fmt.Errorf("audit: %d texts of %d records", len(e.Texts), e.Records)
	}
	return nil
}
