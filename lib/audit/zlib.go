package audit

import "github.com/lethe-ml/lethe/lib/verify/language"

// Zlib is the loss over the length of the compressed text (language.Zlib): a text that is easy for
// every model compresses well.
//
// Null: 0.5, if forgotten and held-out texts have the same distribution. Above it forgotten texts
// look like members.
type Zlib struct{}

var _ Lens = Zlib{}

// Name implements Lens.
func (Zlib) Name() string { return "zlib" }

// Info implements Lens.
func (Zlib) Info() Info {
	return Info{
		Measures:  "signed AUC of the loss over the compressed length, forgotten against held-out texts",
		Asks:      "Do forgotten texts have a lower loss than their compressed length suggests?",
		How:       "AUC of the mean log-probability over the text's length in bytes under zlib, with DeLong's interval; floor as for the loss.",
		Source:    "Carlini et al. 2021, the zlib ratio",
		Null:      NonmemberNull,
		High:      1,
		Family:    CalibratedFamily,
		PerRecord: true,
		Needs:     Needs{Arrays: []Array{TokenArray, CompressedArray}, Sets: []Set{HeldOut}},
	}
}

// Read implements Lens.
func (l Zlib) Read(e *Evidence, m *Arrays) (*Reading, error) {
	return e.textAUC(l, m, language.Zlib(l))
}
