package judge

import (
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/audit"
)

// Entropy asks whether the model is surer of the forgotten records than of held-out
// ones, right or wrong: the signed AUC of the entropy of its outputs. It needs no labels.
//
// Null: 0.5, if both were drawn alike. Above it lies memory.
type Entropy struct{}

var _ Scorer = Entropy{}

// Name implements Judgement.
func (Entropy) Name() string { return "entropy" }

// About implements Judgement.
func (Entropy) About() About {
	return About{
		Asks:   "Is the model surer of forgotten records than of held-out ones, whatever their labels?",
		How:    "AUC of the entropy of the outputs, with DeLong's interval; floor as for the loss.",
		Source: "Salem et al. 2019",
		Null:   NonmemberNull,
		Family: OutputFamily,
	}
}

// Needs implements Judgement.
func (Entropy) Needs() Needs { return Needs{Arrays: []Array{Outputs}, Sets: []Set{HeldOut}} }

// Read implements Judgement.
func (j Entropy) Read(e *Evidence, m *Model) (*audit.Reading, error) { return readScores(j, e, m) }

// Scores implements Scorer.
func (j Entropy) Scores(e *Evidence, m *Model) (*Scores, error) {
	unlabelled := *e
	unlabelled.Labels = make([]int, e.Records) // the entropy asks for none
	return signalScores(&unlabelled, m, attack.Entropy{})
}

// signalScores are the scores of a signal.
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
