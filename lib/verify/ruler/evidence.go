package ruler

import (
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Evidence is the input of the metrics. Row i of every matrix is the embedding of record i; Forget
// and Retain are row numbers and share none. A metric uses what it needs. Nothing is changed.
//
// A matrix holds float32 or float64, or is a pointer to one; everything is computed in float64, a
// row at a time.
type Evidence struct {
	Unlearned array.Rows // the model that is measured
	Oracle    array.Rows // a model that never saw the forget records; M1 to M3
	Original  array.Rows // the model before unlearning; M3
	Forget    []int
	Retain    []int // M2 and M4
	// HeldOut are embeddings under the unlearned model of records that no model was trained on,
	// in an order of their own; M4HeldOut.
	HeldOut array.Rows
	// Groups holds the group of every row of the matrices, such as the person that a record is
	// about: records of a group are not independent, and intervals are over groups. nil: every
	// record is a group of its own. GroupUnit names groups in estimates, in the plural.
	Groups    []int
	GroupUnit string
}

// clusters returns the groups of some rows; nil where there are none.
func (e Evidence) clusters(rows []int) stats.Clusters {
	if e.Groups == nil {
		return nil
	}
	out := make(stats.Clusters, len(rows))
	for k, i := range rows {
		out[k] = e.Groups[i]
	}
	return out
}

// The models under the names that errors give them, each with the rows that a
// metric reads.

func (e Evidence) unlearned(rows []int) input { return input{"unlearned", e.Unlearned, rows, e.Groups} }
func (e Evidence) oracle(rows []int) input    { return input{"oracle", e.Oracle, rows, e.Groups} }
func (e Evidence) original(rows []int) input  { return input{"original", e.Original, rows, e.Groups} }

// OracleSimilarity returns, for every given row, the cosine of the unlearned model's embedding and
// the oracle's: s(u(x), o(x)). Check with Needs.Oracle must have passed.
func (e Evidence) OracleSimilarity(rows []int) []float64 {
	return pairedCosines(e.Unlearned, e.Oracle, rows)
}

// missing reports whether there is no matrix, or a nil pointer to one.
func missing(m array.Rows) bool {
	switch m := m.(type) {
	case nil:
		return true
	case *array.Matrix[float32]:
		return m == nil
	case *array.Matrix[float64]:
		return m == nil
	}
	return false
}

// shift returns, for every forget record, by how much the unlearned model's embedding is closer to
// the oracle's than the original's; after is their OracleSimilarity.
func (e Evidence) shift(after []float64) []float64 {
	return difference(after, pairedCosines(e.Original, e.Oracle, e.Forget))
}
