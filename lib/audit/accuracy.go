// The lens on accuracy: the share of a set that a model classifies as labelled,
// with Wilson's interval.

package audit

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/stats"
)

// Accuracy is the share of a set of records that a model classifies as labelled, with Wilson's
// interval.
//
// Null: none; only a retrained model shows how accurate a model is that never had the records. For
// the forget set memory lies above its value. For the other sets accuracy is the cost of
// forgetting, and more is better.
type Accuracy struct{ Set Set }

var _ Lens = Accuracy{}

// Name implements Lens.
func (j Accuracy) Name() string { return "right on " + j.Set.Adjective() }

// Info implements Lens.
func (j Accuracy) Info() Info {
	return Info{
		High:     1,
		Measures: "share of " + j.Set.Adjective() + " records classified as labelled",
		Asks:     "How often is the model right on " + j.Set.Adjective() + " records?",
		How:      "Share of the records whose largest output is that of their label, with Wilson's interval.",
		Source:   "the accuracies that papers on unlearning print",
		Family:   OutputFamily,
		Needs:    Needs{Arrays: []Array{LabelledArray}, Sets: []Set{j.Set}},
	}
}

// Read implements Lens.
func (j Accuracy) Read(e *Evidence, m *Arrays) (*Reading, error) {
	rows := e.Rows(j.Set)
	share, err := stats.ClusterShare([][]bool{valuesAt(m.Correct, rows)}, []stats.Clusters{e.Clusters(rows)}, level, e.Units())
	if err != nil {
		return nil, fmt.Errorf("audit: the lens %q: %w", j.Name(), err)
	}
	r := e.readingWithoutNull(j, m, Above, share)
	if c, all := e.constantAnswer(m); all {
		r.NoEvidence = Reason{Call: CannotTell, Why: fmt.Sprintf("the model answers every record with class %d", c)}
	}
	return r, nil
}

// constantAnswer reports whether a model gives every record the same class although there are
// several. Such a model is right on the records of that class alone.
func (e *Evidence) constantAnswer(m *Arrays) (class int, all bool) {
	first := slices.Index(m.Correct, true)
	if first < 0 {
		return 0, false
	}
	class = e.Labels[first]
	others := false
	for i, y := range e.Labels {
		if m.Correct[i] != (y == class) {
			return 0, false
		}
		others = others || y != class
	}
	return class, others
}

// readingWithoutNull returns the reading of a number that has neither a null nor a floor. Training on a record moves it to
// one side.
func (e *Evidence) readingWithoutNull(j Lens, m *Arrays, memory Side, of stats.Estimate) *Reading {
	return &Reading{
		Lens: j.Name(), Model: m.Name, Memory: memory, Membership: true, Estimate: of, Floor: unknownFloor, NoEvidence: e.tooFewGroups(of.Clustered),
	}
}

// ShareCorrect returns the share of records that the model classifies as labelled; 0 where that is
// not known.
func (m *Arrays) ShareCorrect(rows []int) float64 {
	n := 0
	for _, i := range rows {
		if m.Correct != nil && m.Correct[i] {
			n++
		}
	}
	return float64(n) / float64(max(1, len(rows)))
}
