package metrictest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/internal/conform"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/ensemble"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// corrupted returns a metric of RULER that corrupts its input or its result.
func corrupted(m ruler.Metric, name string, before func(e ruler.Evidence) ruler.Evidence, after func(e *stats.Estimate)) ruler.Metric {
	right := m.Measure
	m.Name = name
	m.Measure = func(e ruler.Evidence, opt ruler.Options) (*stats.Estimate, []float64, error) {
		if before != nil {
			e = before(e)
		}
		got, values, err := right(e, opt)
		if err == nil && after != nil {
			after(got)
		}
		return got, values, err
	}
	return m
}

func brokenMetrics() map[string]ruler.Metric { // what breaks -> metric
	m := ruler.Metrics()
	m3, m4 := m[2], m[3]
	return map[string]ruler.Metric{
		"has a name": corrupted(m3, "No Name", nil, nil),
		"reads a memory in the original and none in the oracle": corrupted(m4, "forget-and-retain", func(e ruler.Evidence) ruler.Evidence {
			e.Forget, e.Retain = e.Retain, e.Forget
			return e
		}, nil),
		"exchanged roles flip the answer": corrupted(m4, "smaller-is-forgotten", func(e ruler.Evidence) ruler.Evidence {
			if len(e.Forget) > len(e.Retain) {
				e.Forget, e.Retain = e.Retain, e.Forget
			}
			return e
		}, nil),
		"has a calibrated null": corrupted(m3, "narrow", nil, func(e *stats.Estimate) {
			e.Low, e.High = (e.Low+e.Value)/2, (e.High+e.Value)/2
		}),
		"is the mean of its records": corrupted(m3, "shifted", nil, func(e *stats.Estimate) {
			e.Value, e.Low, e.High = e.Value+1e-6, e.Low+1e-6, e.High+1e-6
		}),
		"leaves the evidence alone": corrupted(m4, "sorts", func(e ruler.Evidence) ruler.Evidence {
			if len(e.Forget) > 1 {
				e.Forget[0], e.Forget[1] = e.Forget[1], e.Forget[0]
			}
			return e
		}, nil),
		"refuses nonsense": zerosPass(m4),
	}
}

// saying is a metric and what the suite must say of it in a test.
type saying struct {
	breaks, says string
	m            ruler.Metric
}

// withOptions returns a metric that reads other options or evidence than it is given.
func withOptions(m ruler.Metric, name string, change func(e *ruler.Evidence, opt *ruler.Options)) ruler.Metric {
	right := m.Measure
	m.Name = name
	m.Measure = func(e ruler.Evidence, opt ruler.Options) (*stats.Estimate, []float64, error) {
		change(&e, &opt)
		return right(e, opt)
	}
	return m
}

// sayings are mostly M1, which has no null.
func sayings() []saying {
	m1, m4 := ruler.Metrics()[0], ruler.Metrics()[3]
	nothing := withOptions(m1, "returns-nothing", nil)
	nothing.Measure = func(ruler.Evidence, ruler.Options) (*stats.Estimate, []float64, error) { return nil, nil, nil }
	missing := m1
	missing.Name, missing.Measure = "no-function", nil
	estimate := func(breaks, says, name string, after func(e *stats.Estimate)) saying {
		return saying{breaks, says, corrupted(m1, name, nil, after)}
	}
	return append([]saying{
		{"gives an estimate", "Measure of returns-nothing returns no estimate and no error (nil, nil)", nothing},
		{"gives an estimate", "the function Measure of no-function is nil", missing},
		{"gives an estimate", "Measure of panics panics: oops", withOptions(m1, "panics", func(*ruler.Evidence, *ruler.Options) { panic("oops") })},
		{"has intervals of the level asked for", "Level is 0.95, the options ask for 0.5",
			withOptions(m1, "ignores-level", func(_ *ruler.Evidence, opt *ruler.Options) { opt.Level = 0.95 })},
		{"counts groups once", "in its group (Evidence.Groups) the interval is",
			withOptions(m1, "ignores-groups", func(e *ruler.Evidence, _ *ruler.Options) { e.Groups = nil })},
		{"counts groups once", "in its group (Evidence.Groups) the interval is",
			withOptions(m4, "ranks-without-groups", func(e *ruler.Evidence, _ *ruler.Options) { e.Groups = nil })},
		{"refuses nonsense", "groups of 3 records: accepted",
			withOptions(m1, "ignores-short-groups", func(e *ruler.Evidence, _ *ruler.Options) {
				if n, _ := e.Unlearned.Shape(); e.Unlearned != nil && len(e.Groups) < n {
					e.Groups = nil
				}
			})},
		{"reads float32 and float64", "embeddings of type *array.Matrix[float32]: the function Measure of float64-only panics",
			withOptions(m1, "float64-only", func(e *ruler.Evidence, _ *ruler.Options) {
				if e.Unlearned != nil {
					_ = e.Unlearned.(*array.Matrix[float64])
				}
			})},
		estimate("has a calibrated null", "0.000 of the 95 % intervals hold what the metric is on average", "no-interval",
			func(e *stats.Estimate) { e.Low, e.High = e.Value, e.Value }),
		estimate("has a calibrated null", "of the 95 % intervals hold what the metric is on average", "a-tenth-of-the-width",
			func(e *stats.Estimate) { e.Low, e.High = (e.Low+9*e.Value)/10, (e.High+9*e.Value)/10 }),
		estimate("has a calibrated null", "1.000 of the 95 % intervals hold what the metric is on average", "the-whole-range",
			func(e *stats.Estimate) { e.Low, e.High = -1, 1 }),
	}, estimates(m1)...)
}

// estimates are metrics with a wrong field of the estimate.
func estimates(m1 ruler.Metric) []saying {
	estimate := func(breaks, says, name string, after func(e *stats.Estimate)) saying {
		return saying{breaks, says, corrupted(m1, name, nil, after)}
	}
	return []saying{
		estimate("gives an estimate", "Over is empty", "over-nothing", func(e *stats.Estimate) { e.Over = "" }),
		estimate("gives an estimate", `Better is ""`, "no-direction", func(e *stats.Estimate) { e.Better = "" }),
		estimate("gives an estimate", `Better is "near-null", and there is no null`, "near-no-null", func(e *stats.Estimate) { e.Better = stats.NearNull }),
		estimate("gives an estimate", "the null of the estimate is 0.3, that of the metric nil", "another-null", func(e *stats.Estimate) { e.Null = new(0.3) }),
		estimate("gives an estimate", "the value NaN is not in its interval", "not-a-number", func(e *stats.Estimate) { e.Value = math.NaN() }),
		estimate("calls a model that forgot better", `Better is "lower", by which a model that forgot`, "lower-is-better",
			func(e *stats.Estimate) { e.Better = stats.LowerIsBetter }),
		estimate("has intervals of the level asked for", "Level is 0 without a level in the options", "no-level", func(e *stats.Estimate) { e.Level = 0 }),
		estimate("counts groups once", `the interval is over 40 "records"; the forget records are in 40 groups, which GroupUnit calls "people"`, "over-records",
			func(e *stats.Estimate) { e.Over = "records" }),
		estimate("counts groups once", "the forget records are one group", "interval-of-one-group", func(e *stats.Estimate) {
			if !e.HasInterval() {
				e.Low, e.High = e.Value, e.Value
			}
		}),
	}
}

// comparesNothing prepares nothing.
var comparesNothing = brokenMethod{name: "prepares-nothing", prepare: func(*sde.Pool, sde.References, sde.Options) (*sde.Prepared, error) {
	return nil, nil
}}

// zerosPass lets records without a direction pass.
func zerosPass(m ruler.Metric) ruler.Metric {
	right := m.Measure
	m.Name = "zeros-pass"
	m.Measure = func(e ruler.Evidence, opt ruler.Options) (*stats.Estimate, []float64, error) {
		opt.ZeroNorm = ruler.AsPublished
		return right(e, opt)
	}
	return m
}

// brokenMethod is the spread alone, with an error.
type brokenMethod struct {
	sde.SpreadOnly
	name    string
	prepare func(pool *sde.Pool, refs sde.References, opt sde.Options) (*sde.Prepared, error)
}

func (b brokenMethod) Name() string { return b.name }
func (b brokenMethod) Prepare(pool *sde.Pool, refs sde.References, opt sde.Options) (*sde.Prepared, error) {
	return b.prepare(pool, refs, opt)
}

// comparedWith answers through another comparison.
func comparedWith(p *sde.Prepared, err error, compare func(d sde.Distances) sde.Distances) (*sde.Prepared, error) {
	if err != nil {
		return nil, err
	}
	right := p.Compare
	p.Compare = func(rows []int, rng *rand.Rand) sde.Distances { return compare(right(rows, rng)) }
	return p, nil
}

var brokenMethods = map[string]brokenMethod{
	"reads a memory in the original and none in the oracle": {name: "references-exchanged", prepare: func(p *sde.Pool, r sde.References, o sde.Options) (*sde.Prepared, error) {
		return sde.SpreadOnly{}.Prepare(p, sde.References{In: r.Out, Out: r.In}, o)
	}},
	"is a coin without a difference": {name: "leans", prepare: func(p *sde.Pool, r sde.References, o sde.Options) (*sde.Prepared, error) {
		prepared, err := sde.SpreadOnly{}.Prepare(p, r, o)
		return comparedWith(prepared, err, func(d sde.Distances) sde.Distances {
			d.In *= 0.4
			return d
		})
	}},
	"leaves the references alone": {name: "scales", prepare: func(p *sde.Pool, r sde.References, o sde.Options) (*sde.Prepared, error) {
		for _, m := range []*sde.Matrix{r.In, r.Out} {
			for i := range m.Data {
				m.Data[i] *= 1.0001
			}
		}
		return sde.SpreadOnly{}.Prepare(p, r, o)
	}},
}

// brokenDistance is KLoM with an error.
type brokenDistance struct {
	ensemble.KLoM
	name    string
	corrupt func(unlearned, retrained array.Matrix[float64]) (array.Matrix[float64], array.Matrix[float64])
	change  func(value float64) float64
	silent  bool // it returns no values of records
}

func (b brokenDistance) Name() string { return b.name }

func (b brokenDistance) Between(unlearned, retrained array.Matrix[float64]) (float64, []float64, error) {
	if b.corrupt != nil {
		unlearned, retrained = b.corrupt(unlearned, retrained)
	}
	v, each, err := b.KLoM.Between(unlearned, retrained)
	if b.change != nil {
		v = b.change(v)
	}
	if b.silent {
		each = nil
	}
	return v, each, err
}

var brokenDistances = map[string]brokenDistance{
	"finds a memory": {name: "klom-of-models-with-themselves", corrupt: func(u, _ array.Matrix[float64]) (array.Matrix[float64], array.Matrix[float64]) { return u, u }},
	"exchanged roles flip the answer": {name: "klom-from-nothing", corrupt: func(u, r array.Matrix[float64]) (array.Matrix[float64], array.Matrix[float64]) {
		return u, array.New[float64](r.Rows, r.Cols)
	}},
	"leaves the evidence alone": {name: "klom-that-writes", corrupt: func(u, r array.Matrix[float64]) (array.Matrix[float64], array.Matrix[float64]) {
		r.Data[0]++
		return u, r
	}},
	"has a null that holds": {name: "klom-of-two-values", change: func(v float64) float64 { return math.Round(v / 100) }},
}

// withoutRecords returns a distance and no values of records.
var withoutRecords = brokenDistance{name: "klom-without-records", silent: true}

func TestBrokenMetrics(t *testing.T) {
	conform.RunOnlyByFails(t)
	for _, m := range brokenMetrics() {
		t.Run(m.Name, func(t *testing.T) { Run(t, m) })
	}
	for _, s := range sayings() {
		t.Run(s.m.Name, func(t *testing.T) { Run(t, s.m) })
	}
	t.Run(withoutRecords.name, func(t *testing.T) { RunEnsemble(t, withoutRecords) })
	t.Run(comparesNothing.name, func(t *testing.T) { RunMethod(t, comparesNothing) })
	for _, m := range brokenMethods {
		t.Run(m.name, func(t *testing.T) { RunMethod(t, m) })
	}
	for _, d := range brokenDistances {
		t.Run(d.name, func(t *testing.T) { RunEnsemble(t, d) })
	}
}

func TestTheSuiteFailsBrokenMetrics(t *testing.T) {
	var want []string
	for breaks, m := range brokenMetrics() {
		want = append(want, m.Name+"/"+breaks)
	}
	for breaks, m := range brokenMethods {
		want = append(want, m.name+"/"+breaks)
	}
	for breaks, d := range brokenDistances {
		want = append(want, d.name+"/"+breaks)
	}
	says := map[string]string{
		comparesNothing.name + "/reads a memory in the original and none in the oracle": "prepares-nothing prepares nothing that compares",
		withoutRecords.name + "/finds a memory":                                         "Between of klom-without-records returns no values of records",
	}
	for _, s := range sayings() {
		says[s.m.Name+"/"+s.breaks] = s.says
	}
	for _, subtest := range want {
		says[subtest] = ""
	}
	conform.CheckSubtestsSay(t, "TestBrokenMetrics", says)
}
