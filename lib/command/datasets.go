// The data sets of the program.

package command

import (
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/datasets/logs"
	"github.com/lethe-ml/lethe/datasets/texts"
)

// DataSets lists all data sets: tables, then images, then single cells, then texts.
func DataSets() []datasets.Info {
	return slices.Concat(datasets.All(), images.All(), cells.All(), texts.All())
}

// filesOfData lists all that lethe data gets and checks: the data sets, and weights and logs, which have no records to train on.
func filesOfData() []datasets.Info {
	return slices.Concat(DataSets(), texts.Weights(), []datasets.Info{logs.Published()})
}

// dataSetNamed finds a data set by name, or weights or logs that are downloaded like one; the error suggests similar names.
func dataSetNamed(name string) (datasets.Info, error) { return datasets.LookupIn(filesOfData(), name) }
