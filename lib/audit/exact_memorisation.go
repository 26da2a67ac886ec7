package audit

import "github.com/lethe-ml/lethe/lib/verify/language"

// ExactMemorisation is the mean share of the forgotten texts' tokens that are the model's most
// probable ones (language.ExactMemorisation).
//
// Null: none; much of a text can be guessed, and only a retrained model shows how much. Memory lies
// above its value. It is between 0 and 1.
type ExactMemorisation struct{}

var _ Lens = ExactMemorisation{}

// Name implements Lens.
func (ExactMemorisation) Name() string { return "exact memorisation" }

// Info implements Lens.
func (ExactMemorisation) Info() Info {
	return Info{
		Measures: "share of the forgotten texts' tokens that are the most probable ones",
		Asks:     "How many tokens of the forgotten texts does the model predict, given those before?",
		How: "Mean over forgotten texts of the share of tokens that are the most probable ones, with an interval over texts that stays between 0 and 1. " +
			"Published programs leave out the last token.",
		Source: "Tirumala et al. 2022",
		Family: OutputFamily,
		Needs:  Needs{Arrays: []Array{TokenArray, CorrectArray}},
		High:   1,
	}
}

// Read implements Lens.
func (l ExactMemorisation) Read(e *Evidence, m *Arrays) (*Reading, error) {
	return e.textShare(l, m, language.ExactMemorisation(l))
}
