// The analysis of one metric in one condition (section 4.3): mixed model and Wilcoxon test.

package ruler

import (
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/stats"
)

// Observation is one value of a metric, from one run on one data set.
type Observation struct {
	DataSet string  `json:"data_set"`
	Seed    int     `json:"seed"`
	Value   float64 `json:"value"`
}

// minPairs is the number of non-zero differences below which the paper reports
// no Wilcoxon test: with 5 no p-value can fall below 0.05.
const minPairs = 5

// Effect is the paper's word for the size of a rank-biserial correlation.
type Effect string

// The sizes of an effect, from 0.1, 0.3 and 0.5 upwards.
const (
	Negligible Effect = "negligible"
	Small      Effect = "small"
	Medium     Effect = "medium"
	Large      Effect = "large"
)

// ClassifyEffect names the size of a rank-biserial correlation, whatever its sign.
func ClassifyEffect(r float64) Effect {
	switch r = math.Abs(r); {
	case r >= 0.5:
		return Large
	case r >= 0.3:
		return Medium
	case r >= 0.1:
		return Small
	default:
		return Negligible
	}
}

// Summary is the paper's analysis of one metric in one condition (section 4.3).
type Summary struct {
	// Mean is over all observations. Its 95 % interval is over data sets: Student's t with k-1
	// degrees of freedom on the mixed model. If that cannot be fitted it is the t interval of the
	// observations, over seeds if there is one data set; a single observation has none (NaN). N counts data sets, or
	// seeds if there is one.
	Mean stats.Estimate `json:"mean"`
	// SD is over all observations; SeedSD pools the spread of the seeds about
	// their data set's mean, and is 0 with one seed.
	SD     float64 `json:"sd"`
	SeedSD float64 `json:"seed_sd"`
	// Mixed is y - null = mu + data set + error by REML, with the intraclass correlation; nil if
	// there is too little to fit.
	Mixed *stats.Mixed `json:"mixed"`
	// Wilcoxon tests the data-set means against the null; nil with fewer than
	// five that differ from it.
	Wilcoxon *stats.WilcoxonResult `json:"wilcoxon"`
	Effect   Effect                `json:"effect,omitempty"`
	DataSets []DataSetMean         `json:"data_sets"`
}

// DataSetMean is the mean over the seeds of one data set, with the spread.
type DataSetMean struct {
	Name string  `json:"name"`
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"` // 0 with one seed
	N    int     `json:"n"`
}

// Summarize analyses one metric in one condition: a random-intercept model over
// all runs and a Wilcoxon signed-rank test on the data-set means, both against
// the null value (0 for M2 and M3, 0.5 for M4). Data sets keep the order in
// which they appear.
//
// It refuses no observations, a value that is not finite, a null that is not
// finite and a data set with the same seed twice.
//
// Differs from the paper and the program in
//
//  1. the interval, and the t-test beside Wald's z, which is too optimistic with
//     ten data sets;
//  2. a model on the boundary (no variance between data sets) is reported with
//     Mixed.Boundary instead of a p-value that is missing.
func Summarize(obs []Observation, null float64) (*Summary, error) {
	if math.IsNaN(null) || math.IsInf(null, 0) {
		return nil, fmt.Errorf("ruler: null value %v", null)
	}
	groups, err := groupObservations(obs)
	if err != nil {
		return nil, err
	}
	values, labels := groups.flatten()
	s := &Summary{SD: sd(values), SeedSD: groups.pooledSD(), DataSets: groups.means()}
	s.Mean = stats.MeanInterval(values, defaultLevel, groups.intervalUnit())
	s.Mean.Null = &null
	if len(s.DataSets) > 1 {
		s.Mean.N = len(s.DataSets)
	}
	if m, err := stats.RandomIntercept(values, labels, null); err == nil {
		s.Mixed = &m
		s.Mean.Low, s.Mean.High = null+m.Low, null+m.High
	}
	diffs := make([]float64, len(s.DataSets))
	for k, d := range s.DataSets {
		diffs[k] = d.Mean - null
	}
	if s.Wilcoxon = signedRank(diffs); s.Wilcoxon != nil {
		s.Effect = ClassifyEffect(s.Wilcoxon.RankBiserial)
	}
	return s, nil
}

// signedRank is the Wilcoxon test, or nil with too few non-zero differences.
func signedRank(diffs []float64) *stats.WilcoxonResult {
	w, err := stats.Wilcoxon(diffs)
	if err != nil || w.N < minPairs {
		return nil
	}
	return &w
}

// grouping holds the observations of each data set, in order of appearance.
type grouping struct {
	names  []string
	values [][]float64
}

type runKey struct {
	dataSet string
	seed    int
}

func groupObservations(obs []Observation) (*grouping, error) {
	if len(obs) == 0 {
		return nil, errors.New("ruler: there are no observations")
	}
	seen, at, g := map[runKey]bool{}, map[string]int{}, &grouping{}
	for _, o := range obs {
		if math.IsNaN(o.Value) || math.IsInf(o.Value, 0) {
			return nil, fmt.Errorf("ruler: data set %s, seed %d: value %v", o.DataSet, o.Seed, o.Value)
		}
		key := runKey{o.DataSet, o.Seed}
		if seen[key] {
			return nil, fmt.Errorf("ruler: data set %s has seed %d twice", o.DataSet, o.Seed)
		}
		seen[key] = true
		k, ok := at[o.DataSet]
		if !ok {
			k = len(g.names)
			at[o.DataSet] = k
			g.names, g.values = append(g.names, o.DataSet), append(g.values, nil)
		}
		g.values[k] = append(g.values[k], o.Value)
	}
	return g, nil
}

func (g *grouping) intervalUnit() string {
	if len(g.names) == 1 {
		return "seeds"
	}
	return "data sets"
}

func (g *grouping) flatten() (values []float64, labels []int) {
	for k, v := range g.values {
		for _, x := range v {
			values, labels = append(values, x), append(labels, k)
		}
	}
	return values, labels
}

func (g *grouping) means() []DataSetMean {
	out := make([]DataSetMean, len(g.names))
	for k, name := range g.names {
		out[k] = DataSetMean{name, mean(g.values[k]), sd(g.values[k]), len(g.values[k])}
	}
	return out
}

// pooledSD is the square root of the mean square within data sets.
func (g *grouping) pooledSD() float64 {
	ss, df := 0.0, 0
	for _, v := range g.values {
		s := sd(v)
		ss += float64(float64(s*s) * float64(len(v)-1))
		df += len(v) - 1
	}
	if df == 0 {
		return 0
	}
	return math.Sqrt(ss / float64(df))
}

// sd is the sample standard deviation, and 0 for a single value.
func sd(x []float64) float64 {
	s, err := stats.SD(x)
	if err != nil {
		return 0
	}
	return s
}
