package strangers_test

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/attack/strangers"
)

// A model fits one record better than all strangers but one of ten.
func ExamplePopulation() {
	known := strangers.Records{Scores: []float64{-3, -2.5, -2, -1.8, -1.5, -1.2, -1, -0.7, -0.5, -0.1}}
	asked := strangers.Records{Scores: []float64{-0.3, -4}}
	fmt.Println(strangers.Population{}.Scores(known, asked))
	// Output:
	// [0.9 0] <nil>
}
