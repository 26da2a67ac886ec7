// ELEC2: electricity prices in New South Wales.

package datasets

import (
	"bytes"
	"fmt"

	"github.com/lethe-ml/lethe/datasets/arff"
)

// electricity returns the description and the loader of ELEC2, normalised. The file declares
// {UP,DOWN}; the published models use the sorted order, 0 = DOWN and 1 = UP (78 % right against 22
// %).
func electricity() set {
	return set{
		info: Info{
			Name: "electricity", Title: "Electricity (ELEC2, normalised)", Folder: "electricity",
			Task: "does the price of electricity rise against its last day's average",
			Rows: 45312, Features: 8, Classes: []string{"DOWN", "UP"},
			Licence:     "public, no licence stated; cite the source",
			Citation:    "M. Harries (1999), Splice-2 comparative evaluation: electricity pricing, University of New South Wales; normalised by J. Gama et al.",
			Homepage:    "https://www.openml.org/d/151",
			Description: "Half-hourly price and demand in New South Wales and Victoria, May 1996 to December 1998.",
			Reading:     []string{"The classes are coded in sorted order, not in the order the file declares."},
			Files: []File{{Name: "electricity.arff", Size: 3092014, SHA256: "2c9ee794af3ff1124af20694a68b9a49252c034f48955a2fab2bdcdb205c9e86",
				Sources: []Source{
					{URL: "https://downloads.sourceforge.net/project/moa-datastream/Datasets/Classification/elecNormNew.arff.zip", Member: "elecNormNew.arff"},
					{URL: "https://www.openml.org/data/download/2419/electricity-normalized.arff"},
				}}},
		},
		load: loadElectricity,
	}
}

func loadElectricity(r *loader) (*Table, error) {
	path, b, err := r.open("electricity.arff")
	if err != nil {
		return nil, err
	}
	d, err := arff.NewDecoder(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", path, err)
	}
	var fs []field
	for _, a := range d.Attributes() {
		fs = append(fs, field{name: a.Name, categorical: a.Kind == arff.Nominal})
	}
	if len(fs) == 0 {
		return nil, fmt.Errorf("datasets: %s: no attributes", path)
	}
	e := newEncoder(fs[:len(fs)-1], r.info.Classes, targetCodes(r.info.Classes...))
	err = d.Each(r.ctx, func(record []string, line int) error { return e.add(record, path, line) })
	if err != nil {
		return nil, err
	}
	return e.table()
}
