// The main job of the package: from a name to records that a network can be trained on.

package datasets_test

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/datasets"
)

// A table is loaded, split by class and standardised with the statistics of the train part, and a
// random share of the train part is to be forgotten.
func Example() {
	table, err := datasets.Load(context.Background(), "breast_cancer")
	if err != nil {
		panic(err)
	}
	split, err := datasets.StratifiedSplit(table.Y, 0.2, 999)
	if err != nil {
		panic(err)
	}
	data, err := datasets.Prepare(table, split)
	if err != nil {
		panic(err)
	}
	forget, retain, err := datasets.ForgetSet(data.Train.X.Rows, 0.05, 999)
	if err != nil {
		panic(err)
	}
	fmt.Println(table.Name, data.Train.X.Rows, "to train on,", data.Test.X.Rows, "held out,", data.Train.X.Cols, "features")
	fmt.Println(len(forget), "to forget,", len(retain), "to keep")
	// Output:
	// breast_cancer 455 to train on, 114 held out, 30 features
	// 22 to forget, 433 to keep
}
