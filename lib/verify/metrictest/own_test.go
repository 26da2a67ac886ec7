package metrictest_test

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/metrictest"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// above is the metric of docs/extending.md, in a package of its own: with exported names only.
func above(e ruler.Evidence, opt ruler.Options) (*stats.Estimate, []float64, error) {
	if err := e.Check(opt, ruler.Needs{Oracle: true, Retain: true}); err != nil {
		return nil, nil, err
	}
	bar, err := stats.Median(e.OracleSimilarity(e.Retain))
	if err != nil {
		return nil, nil, err
	}
	shares := e.OracleSimilarity(e.Forget)
	for i, s := range shares {
		shares[i] = 0
		if s >= bar {
			shares[i] = 1
		}
	}
	out := opt.OverRecords(e, shares, 0, 1).WithNull(0.5, stats.NearNull)
	return &out, shares, nil
}

func TestAMetricOfAnotherPackageConforms(t *testing.T) {
	metrictest.Run(t, ruler.Metric{Name: "above", About: "share of forget records as similar to the oracle's as retained ones",
		Null: new(0.5), Memory: -1, Measure: above})
}
