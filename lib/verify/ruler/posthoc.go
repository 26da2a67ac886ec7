// Post-hoc tests between methods: Wilcoxon's signed-rank test with adjusted p-values (section 5.3).

package ruler

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/stats"
)

// Series holds one metric of one method at one forget fraction.
type Series struct {
	Fraction float64
	Metric   string
	Method   string
	Obs      []Observation
}

// Pairing says what a post-hoc test pairs.
type Pairing int

// The pairings of Pairwise.
const (
	// OnRuns pairs runs of the same data set and seed, as the published program does. Runs of one
	// data set are not independent, so that its p-values are too small.
	OnRuns Pairing = iota
	// OnDataSets pairs the means of data sets, which are independent, over the seeds that both methods have.
	OnDataSets
)

// Comparison is a paired test of two methods on one metric.
type Comparison struct {
	Fraction   float64 `json:"fraction"`
	Metric     string  `json:"metric"`
	A          string  `json:"a"`
	B          string  `json:"b"`
	Difference float64 `json:"difference"` // mean of A - B
	Pairs      int     `json:"pairs"`
	// Test is nil if fewer than five pairs differ. Adjusted is its p-value after Benjamini and
	// Hochberg over all tests of the family.
	Test     *stats.WilcoxonResult `json:"test"`
	Adjusted *float64              `json:"adjusted"`
	Effect   Effect                `json:"effect,omitempty"`
}

// Pairwise tests every pair of methods that share a fraction and a metric, in the order in which
// they are given, with Wilcoxon's signed-rank test on paired differences. It adjusts the p-values
// over the whole call (section 5.3).
//
// The family is the caller's: the paper's 24 tests are 6 pairs of methods on 4 metrics (M2, M4,
// attack, retain accuracy) at one fraction; the program's 54 are 6 pairs on 3 metrics (M2, M4,
// attack) at 3 fractions. Only values that both methods have are paired. A test with fewer than
// five non-zero differences is not run and does not count in the family.
//
// It refuses no series, a series given twice, and whatever Summarize refuses in its observations.
func Pairwise(series []Series, pairing Pairing) ([]Comparison, error) {
	if len(series) == 0 {
		return nil, errors.New("ruler: there are no series to compare")
	}
	if pairing != OnRuns && pairing != OnDataSets {
		return nil, fmt.Errorf("ruler: unknown pairing %d", pairing)
	}
	values := make([]map[runKey]float64, len(series))
	for k, s := range series {
		var err error
		if values[k], err = s.runs(); err != nil {
			return nil, fmt.Errorf("%s of %s at %v: %w", s.Metric, s.Method, s.Fraction, err)
		}
	}
	var out []Comparison
	for i, a := range series {
		for j := i + 1; j < len(series); j++ {
			b := series[j]
			if a.Fraction != b.Fraction || a.Metric != b.Metric {
				continue
			}
			if a.Method == b.Method {
				return nil, fmt.Errorf("ruler: %s of %s at %v is given twice", a.Metric, a.Method, a.Fraction)
			}
			out = append(out, pairing.compare(a, b, values[i], values[j]))
		}
	}
	adjust(out)
	return out, nil
}

// runs maps the runs of a series to their values.
func (s Series) runs() (map[runKey]float64, error) {
	if _, err := groupObservations(s.Obs); err != nil {
		return nil, err
	}
	out := make(map[runKey]float64)
	for _, o := range s.Obs {
		out[runKey{o.DataSet, o.Seed}] = o.Value
	}
	return out, nil
}

// differences are those of the pairs, of the runs that both have.
func (p Pairing) differences(x, y map[runKey]float64) (out []float64) {
	var a, b []float64 // of one pair
	keys := sharedKeys(x, y)
	for k, key := range keys {
		a, b = append(a, x[key]), append(b, y[key])
		if last := k == len(keys)-1; p == OnRuns || last || keys[k+1].dataSet != key.dataSet {
			out = append(out, mean(a)-mean(b))
			a, b = a[:0], b[:0]
		}
	}
	return out
}

func (p Pairing) compare(a, b Series, x, y map[runKey]float64) Comparison {
	c := Comparison{Fraction: a.Fraction, Metric: a.Metric, A: a.Method, B: b.Method}
	diffs := p.differences(x, y)
	c.Pairs = len(diffs)
	if c.Pairs == 0 {
		return c
	}
	c.Difference = mean(diffs)
	if c.Test = signedRank(diffs); c.Test != nil {
		c.Effect = ClassifyEffect(c.Test.RankBiserial)
	}
	return c
}

// sharedKeys is sorted, so that sums do not depend on the order of a map.
func sharedKeys(x, y map[runKey]float64) []runKey {
	var keys []runKey
	for k := range x {
		if _, ok := y[k]; ok {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b runKey) int {
		return cmp.Or(cmp.Compare(a.dataSet, b.dataSet), cmp.Compare(a.seed, b.seed))
	})
	return keys
}

func adjust(all []Comparison) {
	var tested []int
	var p []float64
	for k, c := range all {
		if c.Test != nil {
			tested, p = append(tested, k), append(p, c.Test.P)
		}
	}
	for i, q := range stats.BenjaminiHochberg(p) {
		all[tested[i]].Adjusted = &q
	}
}
