package audit

import "github.com/lethe-ml/lethe/lib/verify/language"

// ReCaLL compares log-probabilities behind a text that was not trained on with those without it
// (language.ReCaLL): such a prefix disturbs what was trained on more.
//
// Null: 0.5, if forgotten and held-out texts have the same distribution. Above it forgotten texts
// look like members.
type ReCaLL struct{}

var _ Lens = ReCaLL{}

// Name implements Lens.
func (ReCaLL) Name() string { return "recall" }

// Info implements Lens.
func (ReCaLL) Info() Info {
	return Info{
		Measures: "signed AUC of ReCaLL, forgotten against held-out texts",
		Asks:     "Does a strange text in front disturb the model more on forgotten texts than on held-out ones?",
		How: "AUC of the mean log-probability behind a text that was not trained on, over that of the text alone, with DeLong's interval; " +
			"floor as for the loss.",
		Source:    "Xie et al. 2024, ReCaLL",
		Null:      NonmemberNull,
		High:      1,
		Family:    CalibratedFamily,
		PerRecord: true,
		Needs:     Needs{Arrays: []Array{TokenArray, PrefixedArray}, Sets: []Set{HeldOut}},
	}
}

// Read implements Lens.
func (l ReCaLL) Read(e *Evidence, m *Arrays) (*Reading, error) {
	return e.textAUC(l, m, language.ReCaLL(l))
}
