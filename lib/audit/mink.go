package audit

import "github.com/lethe-ml/lethe/lib/verify/language"

// MinK is Min-K % Prob (language.MinK): can forgotten texts be told from held-out ones by their least
// probable tokens? The value is the AUC of the mean log-probability of the least probable 20 % of a
// text's tokens.
//
// Null: 0.5, if both sets have the same distribution. Above it forgotten texts look like members.
type MinK struct {
	K float64 // share of tokens, 0: 0.2; MUSE and open-unlearning take 0.4
}

var _ Lens = MinK{}

// Name implements Lens.
func (MinK) Name() string { return "min-k" }

// Info implements Lens.
func (MinK) Info() Info {
	return Info{
		Measures: "signed AUC of Min-K %, forgotten against held-out texts",
		Asks:     "Do forgotten texts have fewer surprising tokens than held-out ones?",
		How: "AUC of the mean log-probability of the least probable fifth of a text's tokens, with DeLong's interval; floor as for the " +
			"loss. Published programs leave out the last token.",
		Source:    "Shi et al. 2024, Min-K % Prob",
		Null:      NonmemberNull,
		High:      1,
		Family:    OutputFamily,
		PerRecord: true,
		Needs:     Needs{Arrays: []Array{TokenArray}, Sets: []Set{HeldOut}},
	}
}

// Read implements Lens.
func (l MinK) Read(e *Evidence, m *Arrays) (*Reading, error) {
	return e.textAUC(l, m, language.MinK(l))
}
