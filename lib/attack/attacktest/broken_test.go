package attacktest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/internal/conform"
)

// broken is a loss-threshold attack that spoils what it is given or what it says.
type broken struct {
	attack.LossThreshold
	name   string
	before func(l attack.Losses) attack.Losses
	after  func(r *attack.Result)
}

func (b broken) Name() string { return b.name }

func (b broken) Run(l attack.Losses) (*attack.Result, error) {
	if b.before != nil {
		l = b.before(l)
	}
	r, err := b.LossThreshold.Run(l)
	if err == nil && b.after != nil {
		b.after(r)
	}
	return r, err
}

var brokenAttacks = []struct {
	breaks string // the test of the suite that must fail
	broken
}{
	{"has a name", broken{name: "No Name"}},
	{"finds a memory", broken{name: "held-out-for-forgotten", before: func(l attack.Losses) attack.Losses {
		l.Forgotten, l.HeldOut = l.HeldOut, l.Forgotten
		return l
	}}},
	{"finds none in an oracle", broken{name: "retained-for-forgotten", before: func(l attack.Losses) attack.Losses {
		l.Forgotten, l.Retained = l.Retained, l.Forgotten
		return l
	}}},
	{"finds none in an oracle", broken{name: "narrow-interval", after: func(r *attack.Result) {
		r.AUC.Low, r.AUC.High = (r.AUC.Value+r.AUC.Low)/2, (r.AUC.Value+r.AUC.High)/2
	}}},
	{"finds none in an oracle", broken{name: "low-floor", after: func(r *attack.Result) { r.Chance.P95 = r.Chance.Mean }}},
	{"exchanged roles flip the answer", broken{name: "folded", after: func(r *attack.Result) {
		if r.AUC.Value < 0.5 {
			r.AUC = attack.Interval{Value: 1 - r.AUC.Value, Low: 1 - r.AUC.High, High: 1 - r.AUC.Low}
		}
	}}},
	{"has a floor", broken{name: "zero-floor", after: func(r *attack.Result) { r.Advantage.ChanceMean = 0 }}},
	{"scores every forgotten record", broken{name: "half-the-scores", after: func(r *attack.Result) { r.Scores.Members = r.Scores.Members[:9] }}},
	{"leaves the losses alone", broken{name: "writes", before: func(l attack.Losses) attack.Losses {
		for i := range l.Retained {
			l.Retained[i] /= 2
		}
		return l
	}}},
	{"refuses nonsense", broken{name: "swallows-nan", before: func(l attack.Losses) attack.Losses {
		for i, v := range l.HeldOut {
			if math.IsNaN(v) {
				l.HeldOut[i] = 0
			}
		}
		return l
	}}},
}

// brokenSignal is the confidence, spoiled.
type brokenSignal struct {
	attack.Confidence
	name string
	of   func(p []float64, y int) float64
}

func (b brokenSignal) Name() string                  { return b.name }
func (b brokenSignal) Of(p []float64, y int) float64 { return b.of(p, y) }
func confidence(p []float64, y int) float64          { return attack.Confidence{}.Of(p, y) }
func signal(name string, of func([]float64, int) float64) brokenSignal {
	return brokenSignal{name: name, of: of}
}

var brokenSignals = []struct {
	breaks string
	brokenSignal
}{
	{"finds a memory", signal("noise", func([]float64, int) float64 { return rand.Float64() })},
	{"finds a memory", signal("lower-for-members", func(p []float64, y int) float64 { return -confidence(p, y) })},
	{"is finite and writes nothing", signal("logarithm", func(p []float64, y int) float64 { return math.Log(p[y]) })},
	{"is finite and writes nothing", signal("scratches", func(p []float64, y int) float64 {
		v := p[y]
		p[0] += 1e-12
		return v
	})},
}

func TestBrokenAttacks(t *testing.T) {
	conform.Broken(t)
	for _, b := range brokenAttacks {
		t.Run(b.name, func(t *testing.T) { Run(t, b.broken) })
	}
	for _, b := range brokenSignals {
		t.Run(b.name, func(t *testing.T) { RunSignal(t, b.brokenSignal) })
	}
}

func TestTheSuiteFailsBrokenAttacks(t *testing.T) {
	var want []string
	for _, b := range brokenAttacks {
		want = append(want, b.name+"/"+b.breaks)
	}
	for _, b := range brokenSignals {
		want = append(want, b.name+"/"+b.breaks)
	}
	conform.Fails(t, "TestBrokenAttacks", want...)
}
