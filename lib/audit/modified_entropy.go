package audit

import (
	"github.com/lethe-ml/lethe/lib/attack"
)

// ModifiedEntropy is Entropy where certainty about the wrong class counts as uncertainty: the AUC
// of Song and Mittal's modified entropy.
//
// Null: 0.5, if forget and held-out records have the same distribution. Memory is above it.
type ModifiedEntropy struct{}

var _ Lens = ModifiedEntropy{}

// Name implements Lens.
func (ModifiedEntropy) Name() string { return "modified entropy" }

// Info implements Lens.
func (ModifiedEntropy) Info() Info {
	return Info{
		Measures:  "signed AUC of the modified entropy of outputs and label, forgotten against held-out records",
		Asks:      "Is the model more certain about the right class of forgotten records than of held-out ones?",
		How:       "AUC of the modified entropy of outputs and label, with DeLong's interval; floor as for the loss.",
		Source:    "Song and Mittal 2021",
		Null:      NonmemberNull,
		High:      1,
		Family:    OutputFamily,
		PerRecord: true,
		Needs:     Needs{Arrays: []Array{LabelledArray}, Sets: []Set{HeldOut}},
	}
}

// Read implements Lens.
func (l ModifiedEntropy) Read(e *Evidence, m *Arrays) (*Reading, error) {
	return SignalReading(l, e, m, attack.ModifiedEntropy{})
}
