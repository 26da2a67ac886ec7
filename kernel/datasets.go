package kernel

import (
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/images"
)

// allDataSets lists the tables and then the image sets.
func allDataSets() []datasets.Info { return slices.Concat(datasets.All(), images.All()) }

// dataSetNamed finds a table or an image set, or suggests names close to it.
func dataSetNamed(name string) (datasets.Info, error) {
	return datasets.LookupIn(allDataSets(), name)
}

// published says whether an address is known for every file, so that data get
// can bring the set; the stand-ins for image sets have to be put there by hand.
func published(i datasets.Info) bool {
	for _, f := range i.Files {
		if len(f.Sources) == 0 {
			return false
		}
	}
	return true
}
