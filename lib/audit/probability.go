package audit

import "github.com/lethe-ml/lethe/lib/verify/language"

// Probability is the mean probability of the forgotten texts, normalised by their length
// (language.Probability):
//
//	mean over forgotten texts of exp(mean of the tokens' log-probabilities)
//
// Null: none; only a retrained model shows how probable such texts are without a memory. Memory lies
// above its value. It is between 0 and 1.
type Probability struct{}

var _ Lens = Probability{}

// Name implements Lens.
func (Probability) Name() string { return "probability" }

// Info implements Lens.
func (Probability) Info() Info {
	return Info{
		Measures: "mean probability of forgotten texts, normalised by their length",
		Asks:     "How probable are the forgotten texts?",
		How:      "Mean over forgotten texts of exp(mean log-probability of their tokens), with an interval over texts that stays between 0 and 1.",
		Source:   "Maini et al. 2024 (TOFU), section 2.2",
		Family:   OutputFamily,
		Needs:    Needs{Arrays: []Array{TokenArray}},
		High:     1,
	}
}

// Read implements Lens.
func (l Probability) Read(e *Evidence, m *Arrays) (*Reading, error) {
	return e.textShare(l, m, language.Probability(l))
}
