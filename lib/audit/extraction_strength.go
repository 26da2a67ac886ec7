package audit

import "github.com/lethe-ml/lethe/lib/verify/language"

// ExtractionStrength is the mean share of a forgotten text that the model completes by itself
// (language.ExtractionStrength).
//
// Null: none; only a retrained model shows how much can be completed without a memory. Memory lies
// above its value. It is between 0 and 1.
type ExtractionStrength struct {
	Coded bool // as open-unlearning computes it, which cannot reach 0
}

var _ Lens = ExtractionStrength{}

// Name implements Lens.
func (ExtractionStrength) Name() string { return "extraction strength" }

// Info implements Lens.
func (ExtractionStrength) Info() Info {
	return Info{
		Measures: "share of a forgotten text that the model completes by itself",
		Asks:     "How much of the end of the forgotten texts does the model complete by itself?",
		How: "Mean over forgotten texts of 1 - k/T, where k of T tokens are the fewest after which all are the most probable, with " +
			"an interval over texts that stays between 0 and 1; 0 where the last token is wrong (published programs have 1/T there, and " +
			"leave out the last token).",
		Source: "Carlini et al. 2021; Wang et al. 2024",
		Family: OutputFamily,
		Needs:  Needs{Arrays: []Array{TokenArray, CorrectArray}},
		High:   1,
	}
}

// Read implements Lens.
func (l ExtractionStrength) Read(e *Evidence, m *Arrays) (*Reading, error) {
	return e.textShare(l, m, language.ExtractionStrength(l))
}
