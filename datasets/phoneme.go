package datasets

// phoneme returns the description and the loader of the ELENA phoneme table: five harmonics per
// vowel, rows in the order of OpenML 1489, which writes the classes 1 and 2 where this file has 0
// and 1.
func phoneme() set {
	return set{
		info: Info{
			Name: "phoneme", Title: "Phoneme", Folder: "phoneme",
			Task: "is a vowel nasal or oral",
			Rows: 5404, Features: 5, Classes: []string{"nasal", "oral"},
			Licence:     "public, no licence stated; cite the source",
			Citation:    "D. van Cappel, THOMSON-SINTRA, ESPRIT project 5516 ROARS; distributed by the ELENA project (1993)",
			Homepage:    "https://www.openml.org/d/1489",
			Description: "Amplitudes of the five first harmonics of spoken vowels, divided by the total energy.",
			Files: []File{{Name: "phoneme.csv", Size: 174717, SHA256: "eacbb9f7a2b2135d067bff28ed7b9adb760f61f5e91f375f91e22e7e42ace24d",
				Sources: []Source{{URL: "https://raw.githubusercontent.com/jbrownlee/Datasets/master/phoneme.csv"}}}},
		},
		load: func(r *loader) (*Table, error) {
			e := newEncoder(numbers("V1", "V2", "V3", "V4", "V5"), r.info.Classes, targetCodes("0", "1"))
			if err := r.addTable("phoneme.csv", layout{comma: ','}, e); err != nil {
				return nil, err
			}
			return e.table()
		},
	}
}
