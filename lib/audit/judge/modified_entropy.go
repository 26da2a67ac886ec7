package judge

import (
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/audit"
)

// ModifiedEntropy is Entropy with a model that is sure of the wrong class counted as
// unsure: the signed AUC of Song and Mittal's modified entropy.
//
// Null: 0.5, if forget and held-out records were drawn alike. Above it lies memory.
type ModifiedEntropy struct{}

var _ Scorer = ModifiedEntropy{}

// Name implements Judgement.
func (ModifiedEntropy) Name() string { return "modified entropy" }

// About implements Judgement.
func (ModifiedEntropy) About() About {
	return About{
		Asks:   "Is the model surer of the right class of forgotten records than of held-out ones?",
		How:    "AUC of the modified entropy of outputs and label, with DeLong's interval; floor as for the loss.",
		Source: "Song and Mittal 2021",
		Null:   NonmemberNull,
		Family: OutputFamily,
	}
}

// Needs implements Judgement.
func (ModifiedEntropy) Needs() Needs {
	return Needs{Arrays: []Array{Labelled}, Sets: []Set{HeldOut}}
}

// Read implements Judgement.
func (j ModifiedEntropy) Read(e *Evidence, m *Model) (*audit.Reading, error) {
	return readScores(j, e, m)
}

// Scores implements Scorer.
func (ModifiedEntropy) Scores(e *Evidence, m *Model) (*Scores, error) {
	return signalScores(e, m, attack.ModifiedEntropy{})
}
