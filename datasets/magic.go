package datasets

// magic returns the description and the loader of the MAGIC gamma telescope table: class 0 is a
// gamma ray (g), 1 the hadron background (h).
func magic() set {
	const uci = "https://archive.ics.uci.edu/ml/machine-learning-databases/magic/magic04.data"
	const zip = "https://archive.ics.uci.edu/static/public/159/magic+gamma+telescope.zip"
	return set{
		info: Info{
			Name: "magic", Title: "MAGIC Gamma Telescope", Folder: "magic",
			Task: "is an air shower background and not a gamma ray",
			Rows: 19020, Features: 10, Classes: []string{"g", "h"},
			Licence:     "CC BY 4.0",
			Citation:    "R. Bock (2007), MAGIC Gamma Telescope, UCI Machine Learning Repository, https://doi.org/10.24432/C52C8B",
			Homepage:    "https://archive.ics.uci.edu/dataset/159/magic+gamma+telescope",
			Description: "Ten measures of the image that a simulated air shower leaves in a Cherenkov telescope.",
			Files: []File{{Name: "magic04.data", Size: 1477391, SHA256: "e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a",
				Sources: []Source{{URL: uci}, {URL: zip, Member: "magic04.data"}}}},
		},
		load: func(r *loader) (*Table, error) {
			e := newEncoder(numbers("fLength", "fWidth", "fSize", "fConc", "fConc1", "fAsym", "fM3Long", "fM3Trans",
				"fAlpha", "fDist"), r.info.Classes, targetCodes("g", "h"))
			if err := r.addTable("magic04.data", layout{comma: ','}, e); err != nil {
				return nil, err
			}
			return e.table()
		},
	}
}
