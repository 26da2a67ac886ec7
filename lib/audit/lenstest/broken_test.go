package lenstest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/internal/conform"
	"github.com/lethe-ml/lethe/lib/stats"
)

// broken is a lens that corrupts its input or its result.
type broken struct {
	audit.Lens
	name   string
	before func(c *audit.Case)
	after  func(r *audit.Reading)
	arrays func(e *audit.Evidence) // of evidence without a case
}

func (b broken) Name() string { return b.name }

func (b broken) Read(e *audit.Evidence, m *audit.Arrays) (*audit.Reading, error) {
	if e.Case == nil {
		return b.readArrays(e, m)
	}
	own, inner := *e.Case, *e.Case.Case
	own.Case = &inner
	if b.before != nil {
		b.before(&own)
	}
	r, err := own.Read(b.Lens, m.Model)
	if err != nil {
		return nil, err
	}
	r.Lens = b.name
	if b.after != nil {
		b.after(r)
	}
	return r, nil
}

// readArrays is Read without a case.
func (b broken) readArrays(e *audit.Evidence, m *audit.Arrays) (*audit.Reading, error) {
	own := *e
	if b.arrays != nil {
		b.arrays(&own)
	}
	r, err := b.Lens.Read(&own, m)
	if err != nil {
		return nil, err
	}
	r.Lens = b.name
	if b.after != nil {
		b.after(r)
	}
	return r, nil
}

// fault is a broken lens and the test of the suite that must fail.
type fault struct {
	breaks string
	broken
}

func runBroken(t *testing.T, all []fault) {
	conform.RunOnlyByFails(t)
	for _, b := range all {
		t.Run(b.name, func(t *testing.T) { Run(t, b.broken) })
	}
}

// checkBroken checks that every lens of the test with this name fails where it is broken.
func checkBroken(t *testing.T, test string, all []fault) {
	t.Helper()
	var want []string
	for _, b := range all {
		want = append(want, b.name+"/"+b.breaks)
	}
	conform.CheckSubtestsFail(t, test, want...)
}

var brokenLenses = []fault{
	{"has a name", broken{Lens: audit.Outputs{}, name: " padded"}},
	{"reads a memory in the original and none in the oracle", broken{Lens: audit.Outputs{}, name: "retained for forgotten", before: exchange}},
	{"has a null that holds", broken{Lens: audit.Neighbours{}, name: "galleries exchanged", before: exchange}},
	{"reads a memory in the original and none in the oracle", broken{Lens: audit.AgainstOracle{}, name: "original for oracle", before: func(c *audit.Case) {
		c.Oracle = c.Original
	}}},
	{"reads a memory in the original and none in the oracle", broken{Lens: audit.Subsets{}, name: "wrong side", after: func(r *audit.Reading) {
		r.Memory = -r.Memory
	}}},
	{"exchanged roles flip the answer", broken{Lens: audit.Outputs{}, name: "folded", after: func(r *audit.Reading) {
		if r.Value < 0.5 {
			r.Value, r.Low, r.High = 1-r.Value, 1-r.High, 1-r.Low
		}
	}}},
	{"has a null that holds", broken{Lens: audit.Outputs{}, name: "wrong null", after: func(r *audit.Reading) {
		null := 0.6
		r.Null = &null
	}}},
	{"has a null that holds", broken{Lens: audit.Outputs{}, name: "narrow", after: func(r *audit.Reading) {
		r.Low, r.High = (r.Low+r.Value)/2, (r.High+r.Value)/2
	}}},
	{"reads a memory in the original and none in the oracle", broken{Lens: audit.Outputs{}, name: "zero floor", after: func(r *audit.Reading) {
		r.Floor = stats.Floor{}
	}}},
	{"reads all forgotten records", broken{Lens: audit.Outputs{}, name: "half of the forgotten", before: func(c *audit.Case) {
		c.Forget = c.Forget[:(len(c.Forget)+1)/2]
	}}},
	{"leaves the case alone", broken{Lens: audit.Neighbours{}, name: "scratches", before: func(c *audit.Case) {
		c.Original.Weights[0].Data[0] += 1e-3
	}}},
	{"refuses nonsense", broken{Lens: audit.Neighbours{}, name: "one record at least", before: func(c *audit.Case) {
		if len(c.Forget) == 0 {
			c.Forget = c.Retain[:1]
			c.Retain = c.Retain[1:]
		}
	}}},
	{"reads a memory in the original and none in the oracle", broken{Lens: audit.Trigger{}, name: "trigger on the wrong side", after: func(r *audit.Reading) {
		r.Memory = -r.Memory
	}}},
	{"exchanged roles flip the answer", broken{Lens: audit.Trigger{}, name: "always the same backdoor", before: func(c *audit.Case) {
		if c.Backdoor() != nil {
			b := *c.Backdoor()
			b.Target = "b"
			c.Setting.Forget = b
		}
	}}},
	{"has a null that holds", broken{Lens: audit.Confusion{}, name: "confusion with another null", after: func(r *audit.Reading) {
		null := 0.5
		r.Null = &null
	}}},
	{"reads a memory in the original and none in the oracle", broken{Lens: audit.LiRA{}, name: "with and without a record exchanged", before: func(c *audit.Case) {
		c.Shadows = slices.Clone(c.Shadows)
		for k, a := range c.Shadows {
			other := *a
			other.In = slices.Clone(a.In)
			for i := range other.In {
				other.In[i] = !other.In[i]
			}
			c.Shadows[k] = &other
		}
	}}},
	{"reads a memory in the original and none in the oracle", broken{Lens: audit.AgainstOracle{}, name: "no interval", after: func(r *audit.Reading) {
		r.Low, r.High = math.NaN(), math.NaN()
	}}},
	{"has intervals over groups", broken{Lens: audit.Prototypes{Draws: 40}, name: "means that groups do not share", after: func(r *audit.Reading) {
		r.Low, r.High = (r.Low+3*r.Value)/4, (r.High+3*r.Value)/4
	}}},
	{"exchanged roles flip the answer", broken{Lens: audit.Prototypes{Draws: 40}, name: "always the first records", before: func(c *audit.Case) {
		c.Forget, c.Retain = c.Retain, c.Forget
	}}},
	{"has intervals over groups", broken{Lens: audit.Loss{}, name: "records as independent", arrays: func(e *audit.Evidence) {
		e.Groups = nil
	}}},
	{"has intervals over groups", broken{Lens: audit.FisherOverlap{}, name: "records of a case as independent", before: func(c *audit.Case) {
		c.CountRecords = true
	}}},
	{"has intervals over groups", broken{Lens: audit.Movement{}, name: "groups of other records", arrays: func(e *audit.Evidence) {
		if e.Groups != nil {
			e.Groups = slices.Clone(e.Groups)
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(e.Groups), func(i, j int) { e.Groups[i], e.Groups[j] = e.Groups[j], e.Groups[i] })
		}
	}}},
}

// brokenTextLenses are the same for lenses on language models.
var brokenTextLenses = []fault{
	{"reads a memory in the original and none in the oracle", broken{Lens: audit.MinK{}, name: "texts on the wrong side", after: func(r *audit.Reading) {
		r.Memory = -r.Memory
	}}},
	{"reads a memory in the original and none in the oracle", broken{Lens: audit.TruthRatio{}, name: "retained for forgotten questions",
		arrays: func(e *audit.Evidence) { e.Forget, e.Retain = e.Retain, e.Forget }}},
	{"exchanged roles flip the answer", broken{Lens: audit.MinKPlusPlus{}, name: "texts folded", after: func(r *audit.Reading) {
		if r.Value < 0.5 {
			r.Value, r.Low, r.High = 1-r.Value, 1-r.High, 1-r.Low
		}
	}}},
	{"has a null that holds", broken{Lens: audit.Zlib{}, name: "narrow intervals of texts", after: func(r *audit.Reading) {
		r.Low, r.High = (r.Low+3*r.Value)/4, (r.High+3*r.Value)/4
	}}},
	{"has a null that holds", broken{Lens: audit.ExactMemorisation{}, name: "shares without an interval", after: func(r *audit.Reading) {
		r.Low, r.High = r.Value, r.Value
	}}},
	{"cannot tell from a collapsed model", broken{Lens: audit.ReCaLL{}, name: "no reason", after: func(r *audit.Reading) {
		r.NoEvidence = audit.Reason{}
	}}},
	{"cannot tell from five records many times over", broken{Lens: audit.ExtractionStrength{}, name: "copies are counted", after: func(r *audit.Reading) {
		r.NoEvidence = audit.Reason{}
	}}},
	{"says too few of few forgotten records", broken{Lens: audit.PairedTruthRatio{}, name: "few are enough", after: func(r *audit.Reading) {
		r.NoEvidence, r.N = audit.Reason{}, 100
	}}},
	{"has intervals over groups", broken{Lens: audit.Probability{}, name: "texts as independent", arrays: func(e *audit.Evidence) {
		e.Groups = nil
	}}},
	{"leaves the arrays alone", broken{Lens: audit.ReferenceModel{}, name: "scratches losses", arrays: func(e *audit.Evidence) {
		e.Models[0].Losses[0] += 1e-3
	}}},
	{"refuses nonsense", broken{Lens: audit.Depth{}, name: "texts at least", arrays: func(e *audit.Evidence) {
		if len(e.Forget) == 0 {
			e.Forget = []int{0, 1, 2, 3, 4, 5, 6, 7}
		}
	}}},
}

// brokenCostLenses are the same for lenses on what unlearning cost.
var brokenCostLenses = []fault{
	{"exchanged roles hide it", broken{Lens: audit.NearAccuracy{}, name: "neighbours of other records", arrays: func(e *audit.Evidence) {
		if e.Forget != nil {
			e.Forget = e.Forget[:0:0]
			for i := range costForget {
				e.Forget = append(e.Forget, i)
			}
		}
	}}},
	{"finds damage near the forgotten records", broken{Lens: audit.NearAccuracy{}, name: "errors for answers", after: func(r *audit.Reading) {
		r.Value, r.Low, r.High = 1-r.Value, 1-r.High, 1-r.Low
	}}},
	{"finds none that is elsewhere", broken{Lens: audit.NearAccuracy{}, name: "held-out for forgotten", arrays: func(e *audit.Evidence) {
		if e.Forget != nil {
			e.Forget, e.HeldOut = e.HeldOut, e.Forget
		}
	}}},
	{"seldom finds what is not there", broken{Lens: audit.NearAccuracy{}, name: "narrow intervals of costs", after: func(r *audit.Reading) {
		r.Low, r.High = (r.Low+4*r.Value)/5, (r.High+4*r.Value)/5
	}}},
	{"has intervals over groups", broken{Lens: audit.NearAccuracy{}, name: "neighbours as independent", arrays: func(e *audit.Evidence) {
		e.Groups = nil
	}}},
	{"says too few of few forgotten records", broken{Lens: audit.NearAccuracy{}, name: "five are enough", after: func(r *audit.Reading) {
		r.NoEvidence = audit.Reason{}
	}}},
}

func TestBrokenCostLenses(t *testing.T) { runBroken(t, brokenCostLenses) }

func TestTheSuiteFailsBrokenCostLenses(t *testing.T) {
	checkBroken(t, "TestBrokenCostLenses", brokenCostLenses)
}

func TestBrokenTextLenses(t *testing.T) { runBroken(t, brokenTextLenses) }

func TestTheSuiteFailsBrokenTextLenses(t *testing.T) {
	checkBroken(t, "TestBrokenTextLenses", brokenTextLenses)
}

func exchange(c *audit.Case) { c.Forget, c.Retain = c.Retain, c.Forget }

// readsTheFirst reads the first model of the evidence, whichever it is given.
type readsTheFirst struct{ audit.Loss }

func (readsTheFirst) Name() string { return "reads the first" }

func (l readsTheFirst) Read(e *audit.Evidence, m *audit.Arrays) (*audit.Reading, error) {
	r, err := l.Loss.Read(e, e.Models[0])
	if err == nil {
		r.Lens, r.Model = l.Name(), m.Name
	}
	return r, err
}

func TestBrokenLenses(t *testing.T) {
	runBroken(t, brokenLenses)
	t.Run("reads the first", func(t *testing.T) { Run(t, readsTheFirst{}) })
}

func TestTheSuiteFailsBrokenLenses(t *testing.T) {
	checkBroken(t, "TestBrokenLenses", append(brokenLenses, fault{"reads the model that it is given", broken{name: "reads the first"}}))
}
