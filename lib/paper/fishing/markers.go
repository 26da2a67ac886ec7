package fishing

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/utility"
)

// markerR is the mean over the paper's marker genes of their correlation, on unseen
// cells, with library size.
func markerR(c *lab.Case, w nn.Params) (float64, error) {
	var columns []int
	for _, gene := range utility.Markers() {
		j := slices.IndexFunc(c.About.Features, func(f datasets.Feature) bool { return f.Name == gene })
		if j < 0 {
			return 0, fmt.Errorf("%s: the marker gene %s is not among the variable genes", c.About.Name, gene)
		}
		columns = append(columns, j)
	}
	p, err := c.Runner.Predict(w, c.Test.X)
	if err != nil {
		return 0, err
	}
	r, err := utility.MarkerCorrelation(p.Outputs[loss.Proportion], c.Test.X, utility.LibrarySizes(c.Test.X), columns)
	if err != nil {
		return 0, err
	}
	return stats.Mean(r)
}
