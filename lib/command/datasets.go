package command

import (
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/datasets/images"
)

// DataSets lists the tables, then the sets of images, then those of cells.
func DataSets() []datasets.Info { return slices.Concat(datasets.All(), images.All(), cells.All()) }

// dataSetNamed finds a data set, or suggests names close to the one given.
func dataSetNamed(name string) (datasets.Info, error) {
	return datasets.LookupIn(DataSets(), name)
}
