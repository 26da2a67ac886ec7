package judge

import (
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/audit"
)

// Entropy asks whether the model is more certain about the forgotten records than about held-out
// records, right or wrong: the AUC of the entropy of its outputs. It needs no labels.
//
// Null: 0.5, if both sets have the same distribution. Memory is above it.
type Entropy struct{}

var _ Scorer = Entropy{}

// Name implements Lens.
func (Entropy) Name() string { return "entropy" }

// About implements Lens.
func (Entropy) About() About {
	return About{
		Asks:   "Is the model more certain about forgotten records than about held-out ones, whatever their labels?",
		How:    "AUC of the entropy of the outputs, with DeLong's interval; floor as for the loss.",
		Source: "Salem et al. 2019",
		Null:   NonmemberNull,
		Family: OutputFamily,
	}
}

// Needs implements Lens.
func (Entropy) Needs() Needs { return Needs{Arrays: []Array{Outputs}, Sets: []Set{HeldOut}} }

// Read implements Lens.
func (j Entropy) Read(e *Evidence, m *Model) (*audit.Reading, error) { return readScores(j, e, m) }

// Scores implements Scorer.
func (j Entropy) Scores(e *Evidence, m *Model) (*Scores, error) {
	unlabelled := *e
	unlabelled.Labels = make([]int, e.Records) // the entropy needs none
	return signalScores(&unlabelled, m, attack.Entropy{})
}

// signalScores returns the scores of a signal of package attack.
func signalScores(e *Evidence, m *Model, s attack.Signal) (*Scores, error) {
	out := &Scores{Forget: Scored{Rows: e.Forget}, HeldOut: Scored{Rows: e.HeldOut}}
	for _, part := range []*Scored{&out.Forget, &out.HeldOut} {
		p, err := m.Probabilities(part.Rows)
		if err != nil {
			return nil, err
		}
		if part.Values, err = attack.SignalScores(s, attack.Outputs{P: p, Y: valuesAt(e.Labels, part.Rows)}); err != nil {
			return nil, err
		}
	}
	return out, nil
}
