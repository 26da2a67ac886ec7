package rulerpaper

// Metrics over the models of a table: means, tests of a mixed model, and their cells.

import (
	"math"

	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// metric is one measured quantity with its null value.
type metric struct {
	Name   string
	Value  func(Row) float64
	Null   float64
	Digits int
}

var (
	m1      = metric{"M1", func(r Row) float64 { return r.M1 }, 1, 4}
	m2      = metric{"M2 gap", func(r Row) float64 { return r.M2 }, 0, 5}
	m2Mean  = metric{"M2, mean baseline", func(r Row) float64 { return r.M2Mean }, 0, 5}
	m3      = metric{"M3 shift", func(r Row) float64 { return r.M3 }, 0, 5}
	m4      = metric{"M4 rank", func(r Row) float64 { return r.M4 }, 0.5, 4}
	deltaM4 = metric{"ΔM4 to the oracle", Row.DeltaM4, 0, 4}
	mia     = metric{"MIA accuracy", func(r Row) float64 { return r.MIA }, 0.5, 3}

	forgetAccuracy = metric{"forget accuracy", func(r Row) float64 { return r.ForgetAcc }, 0, 3}
	retain         = metric{"retain accuracy", func(r Row) float64 { return r.RetainAcc }, 0, 3}
	testAccuracy   = metric{"test accuracy", func(r Row) float64 { return r.TestAcc }, 0, 3}

	displacement = metric{"displacement", func(r Row) float64 { return r.Displacement }, 0, 3}
)

// filter keeps the rows for which keep is true.
func filter(rows []Row, keep func(Row) bool) []Row {
	var out []Row
	for _, r := range rows {
		if keep(r) {
			out = append(out, r)
		}
	}
	return out
}

func rowsOf(rows []Row, variant string, fraction float64) []Row {
	return filter(rows, func(r Row) bool { return r.Variant == variant && r.Fraction == fraction })
}

// observations are a metric's values as input of the statistics.
func observations(rows []Row, m metric) []ruler.Observation {
	out := make([]ruler.Observation, len(rows))
	for i, r := range rows {
		out[i] = ruler.Observation{DataSet: r.DataSet, Seed: r.Seed, Value: m.Value(r)}
	}
	return out
}

// effect is the paper's statistics for one variant and fraction; see ruler.Summarize. If that
// fails, Summary is nil and err is the reason.
type effect struct {
	*ruler.Summary
	err error
}

func newEffect(rows []Row, m metric) effect {
	s, err := ruler.Summarize(observations(rows, m), m.Null)
	if err != nil {
		return effect{err: err}
	}
	s.Mean.Better = stats.NearNull
	return effect{Summary: s}
}

func (e effect) mean() float64 {
	if e.Summary == nil {
		return math.NaN()
	}
	return e.Mean.Value
}

// significant is the paper's criterion: Wald's z of the mixed model, P below 5 %.
func (e effect) significant() bool { return e.Summary != nil && e.Mixed != nil && e.Mixed.PZ < 0.05 }

// significantT is the same with Student's t and one degree of freedom per data set less one,
// which is valid for ten clusters.
func (e effect) significantT() bool { return e.Summary != nil && e.Mixed != nil && e.Mixed.PT < 0.05 }

// ranked says that the signed-rank test was run.
func (e effect) ranked() bool { return e.Summary != nil && e.Wilcoxon != nil }

// significantRank is the criterion by the signed-rank test.
func (e effect) significantRank() bool { return e.ranked() && e.Wilcoxon.P < 0.05 }

// estimate is the mean as a cell.
func (e effect) estimate(digits int) report.Cell {
	if e.Summary == nil {
		return report.Gap(e.err.Error())
	}
	return report.Est(e.Mean, digits)
}

// share is the mean of numbers in [0, 1] as a cell, its interval cut to that range.
func (e effect) share(digits int) report.Cell {
	if e.Summary == nil {
		return e.estimate(digits)
	}
	return report.Est(e.Mean.ClampedTo(0, 1), digits)
}

// cells are the columns of a test: estimate, p by z, p by t, Wilcoxon p, ICC, r.
func (e effect) cells(digits int) []report.Cell {
	const noModel, noTest = "no variance", "n < 5"
	out := []report.Cell{e.estimate(digits)}
	if e.Summary == nil || e.Mixed == nil {
		out = append(out, report.Gap(noModel), report.Gap(noModel))
	} else {
		pz := report.PVal(e.Mixed.PZ)
		if !e.Mixed.Converged {
			pz.Text += " (boundary)"
		}
		out = append(out, pz, report.PVal(e.Mixed.PT))
	}
	tested := e.ranked()
	if tested {
		out = append(out, report.PVal(e.Wilcoxon.P))
	} else {
		out = append(out, report.Gap(noTest))
	}
	if e.Summary == nil || e.Mixed == nil {
		out = append(out, report.Gap(noModel))
	} else {
		out = append(out, report.Num(e.Mixed.ICC, 2))
	}
	if !tested {
		return append(out, report.Gap(noTest))
	}
	return append(out, report.Num(e.Wilcoxon.SignedRankBiserial, 2))
}

// byDataSet returns the data sets in order of appearance, with the metric's means over their
// rows.
func byDataSet(rows []Row, m metric) (names []string, means []float64) {
	e := newEffect(rows, m)
	if e.Summary == nil {
		return nil, nil
	}
	for _, d := range e.DataSets {
		names, means = append(names, d.Name), append(means, d.Mean)
	}
	return names, means
}

func effectColumns(name string) []report.Column {
	return []report.Column{
		{Name: name, Note: "mean over all runs; interval over data sets, from the mixed model with Student's t"},
		{Name: "p, LMM z", Note: "the paper's test: Wald's z of a mixed model with a random intercept per data set; too optimistic with few data sets"},
		{Name: "p, LMM t", Note: "the same ratio against Student's t with one degree of freedom per data set less one"},
		{Name: "p, Wilcoxon", Note: "signed-rank test on the data sets' means; not run with fewer than five, where it cannot fall below 5 %"},
		{Name: "ICC", Note: "share of the variance that lies between data sets"},
		{Name: "r", Note: "signed rank-biserial correlation; the paper prints its size: 0.1 small, 0.3 medium, 0.5 large"},
	}
}

// The summaries below are NaN for empty input, which a table prints as a gap.

func mean(x []float64) float64 { return orNaN(stats.Mean(x)) }

func orNaN(v float64, err error) float64 {
	if err != nil {
		return math.NaN()
	}
	return v
}
