package kernel

import (
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/datasets/images"
)

// allDataSets lists the tables, then the sets of images, then those of cells.
func allDataSets() []datasets.Info { return slices.Concat(datasets.All(), images.All(), cells.All()) }

// dataSetNamed finds a data set, or suggests names close to the one given.
func dataSetNamed(name string) (datasets.Info, error) {
	return datasets.LookupIn(allDataSets(), name)
}

// published says whether an address and a hash are known of every file that is
// needed, so that data get can bring the set; others have to be put there by hand.
func published(i datasets.Info) bool {
	for _, f := range i.Files {
		if (len(f.Sources) == 0 || !f.Known()) && !f.Optional {
			return false
		}
	}
	return true
}
