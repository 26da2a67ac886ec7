// The data sets of the program.

package command

import (
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/datasets/images"
)

// DataSets lists all data sets: tables, then images, then single cells.
func DataSets() []datasets.Info { return slices.Concat(datasets.All(), images.All(), cells.All()) }

// dataSetNamed finds a data set by name; the error suggests similar names.
func dataSetNamed(name string) (datasets.Info, error) {
	return datasets.LookupIn(DataSets(), name)
}
