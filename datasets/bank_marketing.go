package datasets

import "slices"

// bankMarketing returns the description and the loader of the full Bank Marketing table. "unknown"
// is a category of its own, not a missing value.
func bankMarketing() set {
	return set{
		info: Info{
			Name: "bank_marketing", Title: "Bank Marketing", Folder: "bank_marketing",
			Task: "does a client subscribe to a term deposit",
			Rows: 45211, Features: 16, Classes: []string{"no", "yes"},
			Licence:     "CC BY 4.0",
			Citation:    "S. Moro, P. Rita, P. Cortez (2014), Bank Marketing, UCI Machine Learning Repository, https://doi.org/10.24432/C5K306",
			Homepage:    "https://archive.ics.uci.edu/dataset/222/bank+marketing",
			Description: "Telephone campaigns of a Portuguese bank, 2008 to 2010; seven numbers and nine categories per call.",
			Files: []File{{Name: "bank-full.csv", Size: 4610348, SHA256: "d1513ec63b385506f7cfce9f2c5caa9fe99e7ba4e8c3fa264b3aaf0f849ed32d",
				Sources: []Source{{URL: "https://archive.ics.uci.edu/ml/machine-learning-databases/00222/bank.zip", Member: "bank-full.csv"}}}},
		},
		load: func(r *loader) (*Table, error) {
			e := newEncoder(slices.Concat(
				numbers("age"), categories("job", "marital", "education", "default"), numbers("balance"),
				categories("housing", "loan", "contact"), numbers("day"), categories("month"),
				numbers("duration", "campaign", "pdays", "previous"), categories("poutcome"),
			), r.info.Classes, targetCodes("no", "yes"))
			if err := r.addTable("bank-full.csv", layout{comma: ';', header: true}, e); err != nil {
				return nil, err
			}
			return e.table()
		},
	}
}
