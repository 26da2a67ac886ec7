// The lens on accuracy: the share of a set that a model classifies as labelled,
// with Wilson's interval.

package judge

import (
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/audit"
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
func (j Accuracy) Name() string { return "right on " + j.Set.adjective() }

// About implements Lens.
func (j Accuracy) About() About {
	return About{
		Asks:   "How often is the model right on " + j.Set.adjective() + " records?",
		How:    "Share of the records whose largest output is that of their label, with Wilson's interval.",
		Source: "the accuracies that papers on unlearning print",
		Family: OutputFamily,
	}
}

// Needs implements Lens.
func (j Accuracy) Needs() Needs { return Needs{Arrays: []Array{Labelled}, Sets: []Set{j.Set}} }

// Read implements Lens.
func (j Accuracy) Read(e *Evidence, m *Model) (*audit.Reading, error) {
	rows := e.rows(j.Set)
	r := readingWithoutNull(j, m, audit.Above, stats.Wilson(share(m.Correct, rows), len(rows), level))
	if c, all := e.constantAnswer(m); all {
		r.NoEvidence = audit.Reason{Call: audit.CannotTell, Why: fmt.Sprintf("the model answers every record with class %d", c)}
	}
	return r, nil
}

// constantAnswer reports whether a model gives every record the same class although there are
// several. Such a model is right on the records of that class alone.
func (e *Evidence) constantAnswer(m *Model) (class int, all bool) {
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

// readingWithoutNull returns the reading of a number that has neither a null nor a floor.
func readingWithoutNull(j Lens, m *Model, memory audit.Side, e stats.Estimate) *audit.Reading {
	e.Over = "records"
	return &audit.Reading{Lens: j.Name(), Model: m.Name, Memory: memory, Estimate: e, Floor: stats.Floor{Mean: math.NaN(), P95: math.NaN()}}
}

// rows returns the records of a set.
func (e *Evidence) rows(s Set) []int {
	return map[Set][]int{Forget: e.Forget, Retain: e.Retain, HeldOut: e.HeldOut}[s]
}

// adjective is the word for the records of a set in a sentence.
func (s Set) adjective() string {
	return map[Set]string{Forget: "forgotten", Retain: "retained", HeldOut: "held-out"}[s]
}
