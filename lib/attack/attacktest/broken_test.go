package attacktest

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/generative"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/attack/population"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/internal/conform"
)

// broken is a loss-threshold attack that corrupts its input or its result.
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

// brokenResults are attacks whose failure must name the faulty field.
var brokenResults = []struct {
	breaks, says string
	broken
}{
	{"reports what its scores say", "Scores.Members has 9 scores for 60 forgotten records", broken{name: "half-the-scores", after: func(r *attack.Result) {
		r.Scores.Members = r.Scores.Members[:9]
	}}},
	{"reports what its scores say", "Called is", broken{name: "scores-sign", after: func(r *attack.Result) {
		for i := range r.Scores.Members {
			r.Scores.Members[i].Score *= -1
			r.Scores.Members[i].Called = !r.Scores.Members[i].Called
		}
	}}},
	{"reports what its scores say", "AUC.Value is", broken{name: "scores-negated", after: func(r *attack.Result) {
		for _, s := range [][]attack.Example{r.Scores.Members, r.Scores.Nonmembers} {
			for i := range s {
				s[i].Score *= -1
			}
		}
	}}},
	{"reports what its scores say", "Member is false", broken{name: "membership-wrong", after: func(r *attack.Result) {
		r.Scores.Members[3].Member = false
	}}},
	{"reports what its scores say", "Record is no position in the losses, or there twice", broken{name: "records-wrong", after: func(r *attack.Result) {
		for i := range r.Scores.Members {
			r.Scores.Members[i].Record = 0
		}
	}}},
	{"reports what its scores say", "Scores.Nonmembers is empty", broken{name: "no-held-out-scores", after: func(r *attack.Result) {
		r.Scores.Nonmembers = nil
	}}},
	{"reports what its scores say", "TPRAtFPR is map[]", broken{name: "no-rates", after: func(r *attack.Result) { r.TPRAtFPR = nil }}},
	{"reports what its scores say", "TPRAtFPR is map[0.001:1", broken{name: "rates-of-one", after: func(r *attack.Result) {
		for k := range r.TPRAtFPR {
			r.TPRAtFPR[k] = 1
		}
	}}},
	{"reports what its scores say", "Advantage.Value is 5", broken{name: "advantage-wrong", after: func(r *attack.Result) { r.Advantage.Value = 5 }}},
	{"reports what its scores say", "Advantage.Signed is", broken{name: "advantage-sign", after: func(r *attack.Result) { r.Advantage.Signed *= -1 }}},
	{"reports what its scores say", "Advantage.Low", broken{name: "advantage-of-a-point", after: func(r *attack.Result) {
		r.Advantage.Low = r.Advantage.Value
	}}},
	{"reports what its scores say", "BalancedAccuracy.Value is", broken{name: "accuracy-of-others", after: func(r *attack.Result) {
		r.BalancedAccuracy.Value += 0.01
	}}},
	{"reports what its scores say", "BalancedAccuracy.N", broken{name: "accuracy-of-half-the-records", after: func(r *attack.Result) {
		r.BalancedAccuracy.N /= 2
	}}},
	{"reports what its scores say", "the result's Evaluated is", broken{name: "evaluated-wrong", after: func(r *attack.Result) {
		r.Scores.Members[0].Evaluated = false
	}}},
	{"parts no cluster", "(HeldOutClusters) are scored; the attack learned from the others",
		broken{name: "ignores-clusters", before: func(l attack.Losses) attack.Losses {
			l.HeldOutClusters = nil
			return l
		}}},
}

// learnsFromScored reports a fit that depends on the losses that it scores.
type learnsFromScored struct{ attack.LossThreshold }

func (learnsFromScored) Name() string { return "learns-from-scored" }
func (a learnsFromScored) Run(l attack.Losses) (*attack.Result, error) {
	r, err := a.LossThreshold.Run(l)
	if err == nil {
		r.Fitted = slices.Max(l.Forgotten) / 1e9
	}
	return r, err
}

// returnsNothing has neither a result nor an error.
type returnsNothing struct{ attack.LossThreshold }

func (returnsNothing) Name() string                              { return "returns-nothing" }
func (returnsNothing) Run(attack.Losses) (*attack.Result, error) { return nil, nil }

// panicking are attacks whose code panics in one place.
type (
	panickingLosses     struct{ attack.LossThreshold }
	panickingGenerative struct{ generative.Recon }
	panickingFit        struct{ learned.Logistic }
	panickingScorer     struct{ learned.Logistic }
	noScorer            struct{ learned.Logistic }
)

func (panickingLosses) Name() string                              { return "panicking-losses" }
func (panickingLosses) Run(attack.Losses) (*attack.Result, error) { panic("gone") }
func (panickingGenerative) Name() string                          { return "panicking-generative" }
func (panickingGenerative) Scores(generative.Evidence) (scores []float64, _ error) {
	return scores[:9], nil
}
func (panickingFit) Name() string    { return "panicking-fit" }
func (panickingScorer) Name() string { return "panicking-scorer" }
func (noScorer) Name() string        { return "no-scorer" }
func (panickingFit) Fit(context.Context, *engine.Engine, learned.Records, engine.Root) (learned.Scorer, error) {
	panic("gone")
}
func (panickingScorer) Fit(context.Context, *engine.Engine, learned.Records, engine.Root) (learned.Scorer, error) {
	return func(array.Matrix[float64]) ([]float64, error) { panic("gone") }, nil
}
func (noScorer) Fit(context.Context, *engine.Engine, learned.Records, engine.Root) (learned.Scorer, error) {
	return nil, nil
}

// standardisesInPlace scores as logistic regression does, and writes to what it scores.
type standardisesInPlace struct{ learned.Logistic }

func (standardisesInPlace) Name() string { return "standardises-in-place" }
func (a standardisesInPlace) Fit(ctx context.Context, e *engine.Engine, r learned.Records, seed engine.Root) (learned.Scorer, error) {
	score, err := a.Logistic.Fit(ctx, e, r, seed)
	return func(x array.Matrix[float64]) ([]float64, error) {
		out, err := score(x)
		for i := range x.Data {
			x.Data[i] /= 2
		}
		return out, err
	}, err
}

// ranksRecords gives the rank among the scored records for a score.
type ranksRecords struct{ learned.Logistic }

func (ranksRecords) Name() string { return "ranks-records" }
func (a ranksRecords) Fit(ctx context.Context, e *engine.Engine, r learned.Records, seed engine.Root) (learned.Scorer, error) {
	score, err := a.Logistic.Fit(ctx, e, r, seed)
	return func(x array.Matrix[float64]) ([]float64, error) {
		out, err := score(x)
		sorted := slices.Sorted(slices.Values(out))
		for i, v := range out {
			out[i] = float64(slices.Index(sorted, v))
		}
		return out, err
	}, err
}

// brokenSignal is the confidence with an error.
type brokenSignal struct {
	attack.Confidence
	name  string
	score func(p []float64, y int) float64
}

func (b brokenSignal) Name() string                     { return b.name }
func (b brokenSignal) Score(p []float64, y int) float64 { return b.score(p, y) }
func confidence(p []float64, y int) float64             { return attack.Confidence{}.Score(p, y) }
func signal(name string, of func([]float64, int) float64) brokenSignal {
	return brokenSignal{name: name, score: of}
}

var brokenSignals = []struct {
	breaks string
	brokenSignal
}{
	{"finds a memory", signal("noise", func([]float64, int) float64 { return rand.Float64() })},
	{"finds a memory", signal("lower-for-members", func(p []float64, y int) float64 { return -confidence(p, y) })},
	{"is finite and writes nothing", signal("logarithm", func(p []float64, y int) float64 { return math.Log(p[y]) })},
	{"takes any number of classes", signal("fourth-class", func(p []float64, y int) float64 { return p[y] - 0.1*p[3] })},
	{"is finite and writes nothing", signal("scratches", func(p []float64, y int) float64 {
		v := p[y]
		p[0] += 1e-12
		return v
	})},
}

// brokenGenerative is the reconstruction attack with an error.
type brokenGenerative struct {
	generative.Recon
	name   string
	before func(e generative.Evidence)
	after  func(scores []float64)
}

func (b brokenGenerative) Name() string { return b.name }

func (b brokenGenerative) Scores(e generative.Evidence) ([]float64, error) {
	if b.before != nil {
		b.before(e)
	}
	s, err := b.Recon.Scores(e)
	if b.after != nil && err == nil {
		b.after(s)
	}
	return s, err
}

func negate(x []float64) {
	for i := range x {
		x[i] = -x[i]
	}
}

var brokenGeneratives = []struct {
	breaks string
	brokenGenerative
}{
	{"finds a memory", brokenGenerative{name: "recon-negated", after: negate}},
	{"finds none in an oracle", brokenGenerative{name: "recon-that-knows", after: func(scores []float64) {
		for i := range min(forgotten, len(scores)) {
			scores[i] += 0.5
		}
	}}},
	{"leaves the evidence alone", brokenGenerative{name: "recon-that-writes", before: func(e generative.Evidence) {
		for i := range e.Model.Recon {
			e.Model.Recon[i]++
		}
	}}},
	{"refuses nonsense", brokenGenerative{name: "recon-without-nan", before: func(e generative.Evidence) {
		for i, v := range e.Model.Recon {
			if math.IsNaN(v) {
				e.Model.Recon[i] = 0
			}
		}
	}}},
}

// brokenShadow is LiRA with an error.
type brokenShadow struct {
	shadow.LiRA
	name   string
	before func(e *shadow.Evidence)
}

func (b brokenShadow) Name() string { return b.name }

func (b brokenShadow) Scores(e shadow.Evidence) ([]float64, error) {
	b.before(&e)
	return b.LiRA.Scores(e)
}

var brokenShadows = []struct {
	breaks string
	brokenShadow
}{
	{"finds a memory", brokenShadow{name: "lira-in-for-out", before: func(e *shadow.Evidence) {
		var in [][]bool
		for _, had := range e.Shadows.In {
			not := make([]bool, len(had))
			for i := range had {
				not[i] = !had[i]
			}
			in = append(in, not)
		}
		e.Shadows.In = in
	}}},
	{"leaves the evidence alone", brokenShadow{name: "lira-that-writes", before: func(e *shadow.Evidence) {
		for i := range e.Target {
			e.Target[i]++
		}
	}}},
	{"refuses nonsense", brokenShadow{name: "lira-without-nan", before: func(e *shadow.Evidence) {
		for i, v := range e.Target {
			if math.IsNaN(v) {
				e.Target[i] = 0
			}
		}
	}}},
}

// brokenPopulation is quantile regression with an error.
type brokenPopulation struct {
	population.QuantileRegression
	name   string
	before func(e *population.Evidence)
	sign   float64
}

func (b brokenPopulation) Name() string { return b.name }

func (b brokenPopulation) Scores(e population.Evidence) ([]float64, error) {
	if b.before != nil {
		b.before(&e)
	}
	out, err := b.QuantileRegression.Scores(e)
	for i := range out {
		out[i] *= b.sign
	}
	return out, err
}

var brokenPopulationAttacks = []struct {
	breaks string
	brokenPopulation
}{
	{"finds a memory", brokenPopulation{name: "quantile-negated", sign: -1}},
	{"finds none in an oracle", brokenPopulation{name: "quantile-that-knows-the-role", sign: 1, before: func(e *population.Evidence) {
		e.Asked.Scores = slices.Clone(e.Asked.Scores)
		for i := range min(forgotten, len(e.Asked.Scores)) {
			e.Asked.Scores[i] += 0.5
		}
	}}},
	{"exchanged roles flip the answer", brokenPopulation{name: "quantile-of-the-asked", sign: 1, before: func(e *population.Evidence) {
		e.Known = e.Asked
	}}},
	{"leaves the evidence alone", brokenPopulation{name: "quantile-that-writes", sign: 1, before: func(e *population.Evidence) {
		for i := range e.Asked.Scores {
			e.Asked.Scores[i]++
		}
	}}},
	{"refuses nonsense", brokenPopulation{name: "quantile-without-nan", sign: 1, before: func(e *population.Evidence) {
		for i, v := range e.Known.Scores {
			if math.IsNaN(v) {
				e.Known.Scores[i] = 0
			}
		}
	}}},
}

// brokenAttacker is logistic regression with an error.
type brokenAttacker struct {
	learned.Logistic
	name   string
	before func(r learned.Records) learned.Records
	sign   float64
}

func (b brokenAttacker) Name() string { return b.name }

func (b brokenAttacker) Fit(ctx context.Context, e *engine.Engine, r learned.Records, seed engine.Root) (learned.Scorer, error) {
	if b.before != nil {
		r = b.before(r)
	}
	score, err := b.Logistic.Fit(ctx, e, r, seed)
	return func(x array.Matrix[float64]) ([]float64, error) {
		out, err := score(x)
		for i := range out {
			out[i] *= b.sign
		}
		return out, err
	}, err
}

var brokenAttackers = []struct {
	breaks string
	brokenAttacker
}{
	{"finds a memory", brokenAttacker{name: "logistic-negated", sign: -1}},
	{"exchanged roles flip the answer", brokenAttacker{name: "logistic-that-sorts", sign: 1, before: func(r learned.Records) learned.Records {
		if r.Members.Rows > r.Nonmembers.Rows {
			r.Members, r.Nonmembers = r.Nonmembers, r.Members
		}
		return r
	}}},
	{"leaves the features alone", brokenAttacker{name: "logistic-that-writes", sign: 1, before: func(r learned.Records) learned.Records {
		for i := range r.Members.Data {
			r.Members.Data[i]++
		}
		return r
	}}},
}

func TestBrokenAttacks(t *testing.T) {
	conform.RunOnlyByFails(t)
	for _, b := range brokenAttacks {
		t.Run(b.name, func(t *testing.T) { Run(t, b.broken) })
	}
	for _, b := range brokenResults {
		t.Run(b.name, func(t *testing.T) { Run(t, b.broken) })
	}
	for _, a := range []attack.LossAttack{learnsFromScored{}, returnsNothing{}, panickingLosses{}} {
		t.Run(a.Name(), func(t *testing.T) { Run(t, a) })
	}
	t.Run("panicking-generative", func(t *testing.T) { RunGenerative(t, panickingGenerative{}) })
	for _, a := range []learned.Attacker{standardisesInPlace{}, ranksRecords{}, panickingFit{}, panickingScorer{}, noScorer{}} {
		t.Run(a.Name(), func(t *testing.T) { RunAttacker(t, a) })
	}
	for _, b := range brokenSignals {
		t.Run(b.name, func(t *testing.T) { RunSignal(t, b.brokenSignal) })
	}
	for _, b := range brokenGeneratives {
		t.Run(b.name, func(t *testing.T) { RunGenerative(t, b.brokenGenerative) })
	}
	for _, b := range brokenShadows {
		t.Run(b.name, func(t *testing.T) { RunShadow(t, b.brokenShadow) })
	}
	for _, b := range brokenPopulationAttacks {
		t.Run(b.name, func(t *testing.T) { RunPopulation(t, b.brokenPopulation) })
	}
	for _, b := range brokenAttackers {
		t.Run(b.name, func(t *testing.T) { RunAttacker(t, b.brokenAttacker) })
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
	for _, b := range brokenGeneratives {
		want = append(want, b.name+"/"+b.breaks)
	}
	for _, b := range brokenShadows {
		want = append(want, b.name+"/"+b.breaks)
	}
	for _, b := range brokenPopulationAttacks {
		want = append(want, b.name+"/"+b.breaks)
	}
	for _, b := range brokenAttackers {
		want = append(want, b.name+"/"+b.breaks)
	}
	says := map[string]string{
		"learns-from-scored/learns from other records than it scores": "the attack learns from records that it scores",
		"returns-nothing/reports what its scores say":                 "Run of returns-nothing returns no result and no error (nil, nil)",
		"standardises-in-place/its scorer leaves the features alone":  "the scorer of standardises-in-place writes to the features",
		"ranks-records/its scorer leaves the features alone":          "the score depends on other records",
		"fourth-class/takes any number of classes":                    `the signal "fourth-class" panicked at broken_test.go:`,
		"logarithm/is finite and writes nothing":                      `the signal "logarithm" is -Inf`,
		"panicking-losses/refuses nonsense":                           "Run of panicking-losses panicked at broken_test.go:",
		"panicking-generative/finds a memory":                         "panicking-generative: Scores panicked at broken_test.go:",
		"panicking-fit/refuses nonsense":                              "Fit of panicking-fit panicked at broken_test.go:",
		"panicking-scorer/its scorer leaves the features alone":       "the scorer of panicking-scorer panicked at broken_test.go:",
		"no-scorer/its scorer leaves the features alone":              "Fit of no-scorer returned no scorer and no error (nil, nil)",
	}
	for _, b := range brokenResults {
		says[b.name+"/"+b.breaks] = b.says
	}
	for _, subtest := range want {
		if _, known := says[subtest]; !known {
			says[subtest] = ""
		}
	}
	conform.CheckSubtestsSay(t, "TestBrokenAttacks", says)
}
