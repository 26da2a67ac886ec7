package audit

import "github.com/lethe-ml/lethe/lib/verify/language"

// MinKPlusPlus is Min-K%++ (language.MinKPlusPlus): MinK of log-probabilities that are standardised
// by what the model expects in their place.
//
// Null: 0.5, if both sets have the same distribution. Above it forgotten texts look like members.
type MinKPlusPlus struct {
	K float64 // share of tokens, 0: 0.2
}

var _ Lens = MinKPlusPlus{}

// Name implements Lens.
func (MinKPlusPlus) Name() string { return "min-k++" }

// Info implements Lens.
func (MinKPlusPlus) Info() Info {
	return Info{
		Measures: "signed AUC of Min-K%++, forgotten against held-out texts",
		Asks:     "Do forgotten texts have fewer tokens that are improbable for their place than held-out ones?",
		How: "AUC of the mean of the lowest fifth of a text's standardised log-probabilities (l - mu)/sigma, where mu and sigma are the mean " +
			"and the standard deviation of the log-probability of a token that the model itself draws, with DeLong's interval; floor as for the loss.",
		Source:    "Zhang et al. 2025, Min-K%++",
		Null:      NonmemberNull,
		High:      1,
		Family:    OutputFamily,
		PerRecord: true,
		Needs:     Needs{Arrays: []Array{TokenArray, MomentArray}, Sets: []Set{HeldOut}},
	}
}

// Read implements Lens.
func (l MinKPlusPlus) Read(e *Evidence, m *Arrays) (*Reading, error) {
	return e.textAUC(l, m, language.MinKPlusPlus(l))
}
