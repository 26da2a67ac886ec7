package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// WithoutPerExample returns the indices in params of the parameters that PerExampleNorms
// and PerExampleSquares do not cover: those of which no layer on the tape, or more than
// one, has a rule for the gradients per record. (Squared norms of shared parameters do not
// add up.)
func (t *Tape) WithoutPerExample(params []*Node) []int {
	known := map[*Node]int{}
	for _, u := range t.uses {
		for _, p := range u.params() {
			known[p]++
		}
	}
	var out []int
	for i, p := range params {
		if known[p] != 1 {
			out = append(out, i)
		}
	}
	return out
}

// markBatchStats says that the layer of these parameters mixes the records of a batch in
// training, so that there is no gradient of a single record.
func (t *Tape) markBatchStats(params ...*Node) {
	if t.batchStats == nil {
		t.batchStats = map[*Node]bool{}
	}
	for _, p := range params {
		t.batchStats[p] = true
	}
}

// UsesBatchStats reports whether p belongs to a layer that mixes the records of a batch in
// training.
func (t *Tape) UsesBatchStats(p *Node) bool { return t.batchStats[p] }
