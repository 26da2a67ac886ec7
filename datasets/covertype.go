// Forest CoverType: the first of the two large tables of RULER's Table 12.

package datasets

import (
	"fmt"
	"slices"
)

// covertype returns the description and the loader of UCI's Forest CoverType with all its rows.
//
// The paper uses 100,000 rows and does not say which. A caller who wants fewer rows draws them at
// random, because the file is not in random order: its first 15,120 records have equal numbers of
// every class. Loading takes about 0.6 GB of memory; the table keeps 0.25 GB.
//
// The SHA-256 is that of covtype.data.gz as scikit-learn 1.9.1 states it for fetch_covtype
// (sklearn/datasets/_covtype.py). Other hashes in this package are of decompressed bytes; see
// File.Compressed.
func covertype() set {
	return set{
		info: Info{
			Name: "covertype", Title: "Forest CoverType", Folder: "covertype",
			Task: "which of seven kinds of trees covers a 30 x 30 m cell of forest",
			Rows: 581012, Features: 54,
			Classes: []string{"Spruce/Fir", "Lodgepole Pine", "Ponderosa Pine", "Cottonwood/Willow",
				"Aspen", "Douglas-fir", "Krummholz"},
			Licence:  "CC BY 4.0",
			Citation: "J. A. Blackard (1998), Covertype, UCI Machine Learning Repository, https://doi.org/10.24432/C50K5N",
			Homepage: "https://archive.ics.uci.edu/dataset/31/covertype",
			Description: "Ten measurements of the terrain, four columns for the wilderness area and forty for the soil type, each 0 " +
				"or 1, of forest cells in northern Colorado; no value is missing.",
			Reading: []string{
				"All rows are loaded; the paper uses 100,000 and does not say which. Draw them at random: the file is not in random order.",
				"The columns of 0 and 1 stay numbers, as in the file.",
			},
			Files: []File{{Name: "covtype.data.gz", Size: 11240707, Compressed: true,
				SHA256: "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
				Sources: []Source{
					{URL: "https://archive.ics.uci.edu/ml/machine-learning-databases/covtype/covtype.data.gz"},
					{URL: "https://archive.ics.uci.edu/static/public/31/covertype.zip", Member: "covtype.data.gz"},
					{URL: "https://ndownloader.figshare.com/files/5976039"},
				}}},
		},
		load: loadCovertype,
	}
}

func loadCovertype(r *loader) (*Table, error) {
	e := newEncoder(covertypeFields(), r.info.Classes, targetCodes("1", "2", "3", "4", "5", "6", "7"))
	e.expect(r.info.Rows)
	if err := r.addCompressed("covtype.data.gz", 0, e); err != nil {
		return nil, err
	}
	return e.table()
}

func covertypeFields() []field {
	return slices.Concat(
		numbers("Elevation", "Aspect", "Slope", "Horizontal_Distance_To_Hydrology", "Vertical_Distance_To_Hydrology",
			"Horizontal_Distance_To_Roadways", "Hillshade_9am", "Hillshade_Noon", "Hillshade_3pm",
			"Horizontal_Distance_To_Fire_Points"),
		numbers(numberedNames("Wilderness_Area", 4)...),
		numbers(numberedNames("Soil_Type", 40)...))
}

// numberedNames returns name_1 to name_n.
func numberedNames(name string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s_%d", name, i+1)
	}
	return out
}
