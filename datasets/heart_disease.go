package datasets

import "slices"

// heartDisease is the Cleveland heart disease table.
func heartDisease() set {
	return set{info: heartInfo(), load: loadHeart}
}

func heartInfo() Info {
	const uci = "https://archive.ics.uci.edu/ml/machine-learning-databases/heart-disease/processed.cleveland.data"
	const zip = "https://archive.ics.uci.edu/static/public/45/heart+disease.zip"
	return Info{
		Name: "heart_disease", Title: "Heart Disease (Cleveland)", Folder: "heart_disease",
		Task: "does a patient have a narrowed coronary artery",
		Rows: 303, Features: 13, Classes: []string{"absent", "present"},
		Licence:     "CC BY 4.0",
		Citation:    "A. Janosi, W. Steinbrunn, M. Pfisterer, R. Detrano (1989), Heart Disease, UCI Machine Learning Repository, https://doi.org/10.24432/C52P4X",
		Homepage:    "https://archive.ics.uci.edu/dataset/45/heart+disease",
		Description: "Thirteen findings per patient of the Cleveland Clinic; four values of ca and two of thal are missing.",
		Files: []File{{Name: "processed.cleveland.data", Size: 18461, SHA256: "a74b7efa387bc9d108d7d0115d831fe9b414b29ae7124f331b622b4efa0427c8",
			Sources: []Source{{URL: uci}, {URL: zip, Member: "processed.cleveland.data"}}}},
	}
}

// heartWords gives the numbers of the Cleveland file the words that the copies
// with named categories use. Sorting the words gives the codes that the
// published models were trained on; the numbers themselves do not fit them.
func heartWords() map[int]map[string]string {
	return map[int]map[string]string{
		2:  {"1.0": "typical angina", "2.0": "atypical angina", "3.0": "non-anginal", "4.0": "asymptomatic"},
		6:  {"0.0": "normal", "1.0": "st-t abnormality", "2.0": "lv hypertrophy"},
		10: {"1.0": "upsloping", "2.0": "flat", "3.0": "downsloping"},
		12: {"3.0": "normal", "6.0": "fixed defect", "7.0": "reversable defect"},
	}
}

func heartFields() []field {
	return slices.Concat(
		numbers("age", "sex"), categories("cp"), numbers("trestbps", "chol", "fbs"), categories("restecg"),
		numbers("thalach", "exang", "oldpeak"), categories("slope"), numbers("ca"), categories("thal"),
	)
}

func loadHeart(r *reading) (*Table, error) {
	const name = "processed.cleveland.data"
	path, b, err := r.open(name)
	if err != nil {
		return nil, err
	}
	e := newEncoder(heartFields(), r.info.Classes, func(s string) (int, bool) { return notFirst(s, "0", "1", "2", "3", "4") })
	words := heartWords()
	err = records(r.ctx, path, b, layout{comma: ','}, func(record []string, line int) error {
		if err := translate(record, words, path, line); err != nil {
			return err
		}
		return e.add(record, path, line)
	})
	if err != nil {
		return nil, err
	}
	return e.table()
}
