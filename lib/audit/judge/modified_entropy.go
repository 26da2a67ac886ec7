package judge

import (
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/audit"
)

// ModifiedEntropy is Entropy where certainty about the wrong class counts as uncertainty: the AUC
// of Song and Mittal's modified entropy.
//
// Null: 0.5, if forget and held-out records have the same distribution. Memory is above it.
type ModifiedEntropy struct{}

var _ Scorer = ModifiedEntropy{}

// Name implements Lens.
func (ModifiedEntropy) Name() string { return "modified entropy" }

// About implements Lens.
func (ModifiedEntropy) About() About {
	return About{
		Asks:   "Is the model more certain about the right class of forgotten records than of held-out ones?",
		How:    "AUC of the modified entropy of outputs and label, with DeLong's interval; floor as for the loss.",
		Source: "Song and Mittal 2021",
		Null:   NonmemberNull,
		Family: OutputFamily,
	}
}

// Needs implements Lens.
func (ModifiedEntropy) Needs() Needs {
	return Needs{Arrays: []Array{Labelled}, Sets: []Set{HeldOut}}
}

// Read implements Lens.
func (j ModifiedEntropy) Read(e *Evidence, m *Model) (*audit.Reading, error) {
	return readScores(j, e, m)
}

// Scores implements Scorer.
func (ModifiedEntropy) Scores(e *Evidence, m *Model) (*Scores, error) {
	return signalScores(e, m, attack.ModifiedEntropy{})
}
