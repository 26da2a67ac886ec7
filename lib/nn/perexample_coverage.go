package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// WithoutPerExample returns the places in params of the parameters for which no layer
// on the tape knows how they enter a record's own gradient, or of which more
// than one does: squared norms of shared parameters do not add up. Without such
// parameters PerExampleNorms and PerExampleSquares are complete.
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
// training, so that no record has a gradient of its own.
func (t *Tape) markBatchStats(params ...*Node) {
	if t.batchStats == nil {
		t.batchStats = map[*Node]bool{}
	}
	for _, p := range params {
		t.batchStats[p] = true
	}
}

// UsesBatchStats tells whether p belongs to a layer that mixes the records of a batch in
// training.
func (t *Tape) UsesBatchStats(p *Node) bool { return t.batchStats[p] }
