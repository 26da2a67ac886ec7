package ruler

import (
	"math"

	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// metric is one column of evidence with its null value.
type metric struct {
	Name   string
	Value  func(Row) float64
	Null   float64
	Digits int
}

var (
	m2      = metric{"M2 gap", func(r Row) float64 { return r.M2 }, 0, 5}
	m2Mean  = metric{"M2, mean baseline", func(r Row) float64 { return r.M2Mean }, 0, 5}
	m3      = metric{"M3 shift", func(r Row) float64 { return r.M3 }, 0, 5}
	m4      = metric{"M4 rank", func(r Row) float64 { return r.M4 }, 0.5, 4}
	deltaM4 = metric{"ΔM4 to the oracle", Row.DeltaM4, 0, 4}
	mia     = metric{"MIA accuracy", func(r Row) float64 { return r.MIA }, 0.5, 3}
	retain  = metric{"retain accuracy", func(r Row) float64 { return r.RetainAcc }, 0, 3}
)

// where keeps the rows for which keep is true.
func where(rows []Row, keep func(Row) bool) []Row {
	var out []Row
	for _, r := range rows {
		if keep(r) {
			out = append(out, r)
		}
	}
	return out
}

func of(rows []Row, arm string, fraction float64) []Row {
	return where(rows, func(r Row) bool { return r.Arm == arm && r.Fraction == fraction })
}

// effect is the paper's statistics for one arm and fraction: a mixed model with
// a random intercept per data set over all runs, and a signed-rank test on the
// data sets' means.
type effect struct {
	mixed    stats.Mixed
	mixedErr error
	rank     stats.WilcoxonResult
	rankErr  error
	mean     float64
	null     float64
	sets, n  int
}

func effectOf(rows []Row, m metric) effect {
	e := effect{null: m.Null, n: len(rows), mean: math.NaN()}
	names, means := byDataSet(rows, m)
	e.sets = len(names)
	number := map[string]int{}
	for i, n := range names {
		number[n] = i
	}
	var y []float64
	var group []int
	for _, r := range rows {
		y = append(y, m.Value(r))
		group = append(group, number[r.DataSet])
	}
	e.mixed, e.mixedErr = stats.RandomIntercept(y, group, m.Null)
	diff := make([]float64, len(means))
	for i, v := range means {
		diff[i] = v - m.Null
	}
	e.rank, e.rankErr = stats.Wilcoxon(diff)
	if len(y) > 0 {
		e.mean = mean(y)
	}
	return e
}

// byDataSet returns the data sets in order of appearance with the metric's
// means over their rows.
func byDataSet(rows []Row, m metric) (names []string, means []float64) {
	at := map[string]int{}
	var values [][]float64
	for _, r := range rows {
		i, ok := at[r.DataSet]
		if !ok {
			i = len(names)
			at[r.DataSet] = i
			names = append(names, r.DataSet)
			values = append(values, nil)
		}
		values[i] = append(values[i], m.Value(r))
	}
	for _, v := range values {
		means = append(means, mean(v))
	}
	return names, means
}

// estimate is the mean over data sets with the mixed model's t interval.
func (e effect) estimate() stats.Estimate {
	null := e.null
	est := stats.Estimate{Value: e.mean, Low: math.NaN(), High: math.NaN(), Level: 0.95, Over: "data sets", Null: &null, Better: stats.NearNull, N: e.n}
	if e.mixedErr == nil {
		est.Low, est.High = e.null+e.mixed.Low, e.null+e.mixed.High
	}
	return est
}

// significant is the paper's reading: Wald's z of the mixed model below 5 %.
func (e effect) significant() bool { return e.mixedErr == nil && e.mixed.PZ < 0.05 }

// significantT is the same with Student's t and one degree of freedom per data
// set less one, which does not overstate ten clusters.
func (e effect) significantT() bool { return e.mixedErr == nil && e.mixed.PT < 0.05 }

// cells are the columns of a test: estimate, p by z, p by t, Wilcoxon p, ICC, r.
func (e effect) cells(digits int) []report.Cell {
	out := []report.Cell{report.Est(e.estimate(), digits)}
	if e.mixedErr != nil {
		out = append(out, report.Gap("no variance"), report.Gap("no variance"))
	} else {
		pz := report.PVal(e.mixed.PZ)
		if !e.mixed.Converged {
			pz.Text += " (boundary)"
		}
		out = append(out, pz, report.PVal(e.mixed.PT))
	}
	if e.rankErr != nil {
		out = append(out, report.Gap("all zero"))
	} else {
		out = append(out, report.PVal(e.rank.P))
	}
	if e.mixedErr != nil {
		out = append(out, report.Gap("no variance"))
	} else {
		out = append(out, report.Num(e.mixed.ICC, 2))
	}
	if e.rankErr != nil {
		return append(out, report.Gap("all zero"))
	}
	return append(out, report.Num(e.rank.SignedRankBiserial, 2))
}

func effectColumns(name string) []report.Column {
	return []report.Column{
		{Name: name, Note: "mean over all runs; interval over data sets, from the mixed model with Student's t"},
		{Name: "p, LMM z", Note: "the paper's test: Wald's z of a mixed model with a random intercept per data set; too optimistic with few data sets"},
		{Name: "p, LMM t", Note: "the same ratio against Student's t with one degree of freedom per data set less one"},
		{Name: "p, Wilcoxon", Note: "signed-rank test on the data sets' means; with n data sets it cannot be below 2^(1-n)"},
		{Name: "ICC", Note: "share of the variance that lies between data sets"},
		{Name: "r", Note: "signed rank-biserial correlation; the paper prints its size: 0.1 small, 0.3 medium, 0.5 large"},
	}
}

// The summaries below are NaN where there is nothing to summarise, which a
// table prints as a gap.

func mean(x []float64) float64 { return orNaN(stats.Mean(x)) }

func orNaN(v float64, err error) float64 {
	if err != nil {
		return math.NaN()
	}
	return v
}
