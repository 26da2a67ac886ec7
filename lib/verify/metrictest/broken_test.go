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
			e.Value += 1e-6
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

func TestBrokenMetrics(t *testing.T) {
	conform.RunOnlyByFails(t)
	for _, m := range brokenMetrics() {
		t.Run(m.Name, func(t *testing.T) { Run(t, m) })
	}
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
	conform.CheckSubtestsFail(t, "TestBrokenMetrics", want...)
}
