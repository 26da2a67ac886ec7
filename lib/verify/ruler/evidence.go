package ruler

import "github.com/lethe-ml/lethe/lib/array"

// Evidence is what the metrics look at. Row i of every matrix is the embedding
// of record i; Forget and Retain are row numbers and share none. A metric asks
// for what it needs and leaves the rest alone. Nothing given is changed.
type Evidence struct {
	Unlearned *array.Matrix[float64] // the model under judgement
	Oracle    *array.Matrix[float64] // a model that never saw the forget records; M1 to M3
	Original  *array.Matrix[float64] // the model before unlearning; M3
	Forget    []int
	Retain    []int // M2 and M4
}

// The models under the names that errors give them, each with the rows that a
// metric reads.

func (e Evidence) unlearned(rows []int) input { return input{"unlearned", e.Unlearned, rows} }
func (e Evidence) oracle(rows []int) input    { return input{"oracle", e.Oracle, rows} }
func (e Evidence) original(rows []int) input  { return input{"original", e.Original, rows} }

// toOracle returns, for every named row, the similarity of the unlearned model's
// embedding to the oracle's.
func (e Evidence) toOracle(rows []int) []float64 { return paired(e.Unlearned, e.Oracle, rows) }

// shift returns, for every forget record, how much nearer to the oracle's the
// unlearned model's embedding is than the original's; after is toOracle of them.
func (e Evidence) shift(after []float64) []float64 {
	return difference(after, paired(e.Original, e.Oracle, e.Forget))
}
