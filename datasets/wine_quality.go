package datasets

import "strconv"

// wineQuality returns the description and the loader of the red wines of Wine Quality; class 1 is
// a quality of 6 or more.
func wineQuality() set {
	const uci = "https://archive.ics.uci.edu/ml/machine-learning-databases/wine-quality/winequality-red.csv"
	const zip = "https://archive.ics.uci.edu/static/public/186/wine+quality.zip"
	return set{
		info: Info{
			Name: "wine_quality", Title: "Wine Quality (red)", Folder: "wine_quality",
			Task: "do tasters give a red wine 6 points or more",
			Rows: 1599, Features: 11, Classes: []string{"below 6", "6 or more"},
			Licence: "CC BY 4.0",
			Citation: "P. Cortez, A. Cerdeira, F. Almeida, T. Matos, J. Reis (2009), Wine Quality, UCI Machine Learning " +
				"Repository, https://doi.org/10.24432/C56S3T",
			Homepage:    "https://archive.ics.uci.edu/dataset/186/wine+quality",
			Description: "Eleven chemical measurements of red Vinho Verde and the median grade of at least three tasters.",
			Files: []File{{Name: "winequality-red.csv", Size: 84199, SHA256: "4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e",
				Sources: []Source{{URL: uci}, {URL: zip, Member: "winequality-red.csv"}}}},
		},
		load: func(r *loader) (*Table, error) {
			e := newEncoder(numbers("fixed acidity", "volatile acidity", "citric acid", "residual sugar", "chlorides",
				"free sulfur dioxide", "total sulfur dioxide", "density", "pH", "sulphates", "alcohol"),
				r.info.Classes, goodWine)
			if err := r.addTable("winequality-red.csv", layout{comma: ';', header: true}, e); err != nil {
				return nil, err
			}
			return e.table()
		},
	}
}

// goodWine maps a grade from 0 to 10 to its class.
func goodWine(s string) (int, bool) {
	grade, err := strconv.Atoi(s)
	if err != nil || grade < 0 || grade > 10 {
		return 0, false
	}
	if grade >= 6 {
		return 1, true
	}
	return 0, true
}
