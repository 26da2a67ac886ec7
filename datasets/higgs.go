package datasets

import (
	"slices"
	"strconv"
)

// higgs returns the description and the loader of the first 100,000 records of UCI's HIGGS, the
// second of the two large tables of RULER's Table 12.
//
// The paper uses 100,000 of the 11,000,000 records and does not say which. The records are
// independent simulations, so the first ones are a random sample, and only they are decompressed.
// The SHA-256 is of the whole file; checking it takes seconds.
//
// Size and SHA-256 are those that TensorFlow Datasets registers for HIGGS.csv.gz
// (tensorflow_datasets/url_checksums/higgs.txt); they are of the compressed file, see
// File.Compressed.
func higgs() set {
	return set{
		info: Info{
			Name: "higgs", Title: "HIGGS (first 100,000 records)", Folder: "higgs",
			Task: "is a simulated particle collision a Higgs process or background",
			Rows: 100000, Features: 28, Classes: []string{"background", "signal"},
			Licence: "CC BY 4.0",
			Citation: "P. Baldi, P. Sadowski, D. Whiteson (2014), Searching for exotic particles in high-energy physics with deep " +
				"learning, Nature Communications 5, 4308; UCI Machine Learning Repository, https://doi.org/10.24432/C5V312",
			Homepage: "https://archive.ics.uci.edu/dataset/280/higgs",
			Description: "21 properties measured by the detectors and 7 that physicists derive from them, per Monte Carlo simulated " +
				"collision; no value is missing.",
			Reading: []string{"The first 100,000 of 11,000,000 records, in their order; the paper does not say which it took."},
			Files: []File{{Name: "HIGGS.csv.gz", Size: 2816407858, Compressed: true,
				SHA256: "ea302c18164d4e3d916a1e2e83a9a8d07069fa6ebc7771e4c0540d54e593b698",
				Sources: []Source{
					{URL: "https://archive.ics.uci.edu/ml/machine-learning-databases/00280/HIGGS.csv.gz"},
					{URL: "https://archive.ics.uci.edu/static/public/280/higgs.zip", Member: "HIGGS.csv.gz"},
				}}},
		},
		load: loadHiggs,
	}
}

func loadHiggs(r *loader) (*Table, error) {
	e := newEncoder(higgsFields(), r.info.Classes, zeroOrOne)
	e.targetFirst = true
	e.expect(r.info.Rows)
	if err := r.addCompressed("HIGGS.csv.gz", r.info.Rows, e); err != nil {
		return nil, err
	}
	return e.table()
}

// zeroOrOne parses a label that is written as a number, 1.000000000000000000e+00 in the file.
func zeroOrOne(s string) (int, bool) {
	v, err := strconv.ParseFloat(s, 64)
	return int(v), err == nil && (v == 0 || v == 1)
}

func higgsFields() []field {
	names := []string{"lepton pT", "lepton eta", "lepton phi", "missing energy magnitude", "missing energy phi"}
	for _, jet := range []string{"jet 1", "jet 2", "jet 3", "jet 4"} {
		names = append(names, jet+" pt", jet+" eta", jet+" phi", jet+" b-tag")
	}
	return numbers(slices.Concat(names, []string{"m_jj", "m_jjj", "m_lv", "m_jlv", "m_bb", "m_wbb", "m_wwbb"})...)
}
