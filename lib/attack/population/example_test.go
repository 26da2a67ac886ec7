package population_test

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/attack/population"
)

// A model fits one record better than all non-members but one of ten.
func ExamplePercentile() {
	known := population.Records{Scores: []float64{-3, -2.5, -2, -1.8, -1.5, -1.2, -1, -0.7, -0.5, -0.1}}
	asked := population.Records{Scores: []float64{-0.3, -4}}
	fmt.Println(population.Percentile{}.Scores(population.Evidence{Known: known, Asked: asked}))
	// Output:
	// [0.9 0] <nil>
}
