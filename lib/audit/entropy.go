package audit

import (
	"github.com/lethe-ml/lethe/lib/attack"
)

// Entropy asks whether the model is more certain about the forgotten records than about held-out
// records, right or wrong: the AUC of the entropy of its outputs. It needs no labels.
//
// Null: 0.5, if both sets have the same distribution. Memory is above it.
type Entropy struct{}

var _ Lens = Entropy{}

// Name implements Lens.
func (Entropy) Name() string { return "entropy" }

// Info implements Lens.
func (Entropy) Info() Info {
	return Info{
		Measures:  "signed AUC of the entropy of the outputs, forgotten against held-out records",
		Asks:      "Is the model more certain about forgotten records than about held-out ones, whatever their labels?",
		How:       "AUC of the entropy of the outputs, with DeLong's interval; floor as for the loss.",
		Source:    "Salem et al. 2019",
		Null:      NonmemberNull,
		High:      1,
		Family:    OutputFamily,
		PerRecord: true,
		Needs:     Needs{Arrays: []Array{OutputArray}, Sets: []Set{HeldOut}},
	}
}

// Read implements Lens.
func (l Entropy) Read(e *Evidence, m *Arrays) (*Reading, error) {
	unlabelled := *e
	unlabelled.Labels = make([]int, e.Records) // the entropy needs none
	return SignalReading(l, &unlabelled, m, attack.Entropy{})
}

// SignalReading returns the reading of a signal of package attack, which scores the outputs of single records
// (ScoresReading).
func SignalReading(l Lens, e *Evidence, m *Arrays, s attack.Signal) (*Reading, error) {
	forget, heldOut := Scored{Rows: e.Forget}, Scored{Rows: e.HeldOut}
	for _, part := range []*Scored{&forget, &heldOut} {
		p, err := m.Probabilities(part.Rows)
		if err != nil {
			return nil, err
		}
		if part.Values, err = attack.SignalScores(s, attack.Outputs{P: p, Y: valuesAt(e.Labels, part.Rows)}); err != nil {
			return nil, err
		}
	}
	return e.ScoresReading(l, m, Scores{forget, heldOut})
}
