// Breast Cancer Wisconsin: the table that is embedded in the program.

package datasets

import (
	_ "embed"
	"errors"
	"strings"
)

// breastCancerCSV is wdbc.data without the patient numbers and with the class last, as
// scikit-learn ships it. The first lines of the file credit its authors.
//
//go:embed breast_cancer.csv
var breastCancerCSV []byte

// breastCancer returns the description and the loader of Breast Cancer Wisconsin (Diagnostic) in
// scikit-learn's column order and coding: 0 malignant, 1 benign. It reads wdbc.data if the data
// folder has it, else the embedded copy; both give the same Table.
func breastCancer() set {
	const uci = "https://archive.ics.uci.edu/ml/machine-learning-databases/breast-cancer-wisconsin/wdbc.data"
	const zip = "https://archive.ics.uci.edu/static/public/17/breast+cancer+wisconsin+diagnostic.zip"
	return set{
		info: Info{
			Name: "breast_cancer", Title: "Breast Cancer Wisconsin (Diagnostic)", Folder: "breast_cancer",
			Task: "is a breast mass benign",
			Rows: 569, Features: 30, Classes: []string{"malignant", "benign"}, Embedded: true,
			Licence: "CC BY 4.0",
			Citation: "W. Wolberg, O. Mangasarian, N. Street, W. Street (1993), Breast Cancer Wisconsin (Diagnostic), UCI Machine " +
				"Learning Repository, https://doi.org/10.24432/C5DW2B",
			Homepage:    "https://archive.ics.uci.edu/dataset/17/breast+cancer+wisconsin+diagnostic",
			Description: "Thirty measurements of cell nuclei in an image of a fine needle aspirate: mean, standard error and worst of ten properties.",
			Files: []File{{Name: "wdbc.data", Size: 124103, SHA256: "d606af411f3e5be8a317a5a8b652b425aaf0ff38ca683d5327ffff94c3695f4a",
				Sources: []Source{{URL: uci}, {URL: zip, Member: "wdbc.data"}}}},
		},
		load: loadBreastCancer,
	}
}

func loadBreastCancer(r *loader) (*Table, error) {
	path, b, err := r.open("wdbc.data")
	if errors.Is(err, ErrMissing) {
		return embeddedBreastCancer(r)
	}
	if err != nil {
		return nil, err
	}
	e := newEncoder(breastCancerFields(), r.info.Classes, targetCodes("M", "B"))
	row := make([]string, 0, 31)
	err = eachRecord(r.ctx, path, b, layout{comma: ','}, func(record []string, line int) error {
		if len(record) < 2 {
			return e.add(record, path, line)
		}
		row = append(append(row[:0], record[2:]...), record[1]) // number, class, values -> values, class
		return e.add(row, path, line)
	})
	if err != nil {
		return nil, err
	}
	return e.table()
}

func embeddedBreastCancer(r *loader) (*Table, error) {
	const name = "breast_cancer.csv (embedded)"
	e := newEncoder(breastCancerFields(), r.info.Classes, targetCodes("0", "1"))
	err := eachRecord(r.ctx, name, breastCancerCSV, layout{comma: ',', comment: '#'}, func(record []string, line int) error {
		return e.add(record, name, line)
	})
	if err != nil {
		return nil, err
	}
	r.sources = append(r.sources, SourceFile{Name: name, SHA256: digest(breastCancerCSV)})
	return e.table()
}

func breastCancerFields() []field {
	properties := []string{"radius", "texture", "perimeter", "area", "smoothness", "compactness",
		"concavity", "concave points", "symmetry", "fractal dimension"}
	var names []string
	for _, form := range []string{"mean %", "% error", "worst %"} {
		for _, p := range properties {
			names = append(names, strings.Replace(form, "%", p, 1))
		}
	}
	return numbers(names...)
}
