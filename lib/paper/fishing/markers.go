package fishing

import (
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/utility"
)

// markerR lists the paper's marker genes that are among a case's variable genes, and
// takes the mean of their correlations, on unseen cells, with library size. In the
// paper's data all eight are; where none is, as in simulated cells, the mean is 0.
func markerR(c *lab.Case, w nn.Params) (found []string, mean float64, err error) {
	var columns []int
	for _, gene := range utility.Markers() {
		j := slices.IndexFunc(c.About.Features, func(f datasets.Feature) bool { return f.Name == gene })
		if j >= 0 {
			found, columns = append(found, gene), append(columns, j)
		}
	}
	if len(found) == 0 {
		return nil, 0, nil
	}
	p, err := c.Runner.Predict(w, c.Test.X)
	if err != nil {
		return nil, 0, err
	}
	r, err := utility.MarkerCorrelation(p.Outputs[loss.Proportion], c.Test.X, utility.LibrarySizes(c.Test.X), columns)
	if err != nil {
		return nil, 0, err
	}
	mean, err = stats.Mean(r)
	return found, mean, err
}
