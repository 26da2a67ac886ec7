// Cases with a known memory for testing lenses: weights are set by hand, nothing is trained.

package lenstest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
)

// The sizes of the cases. A record has three groups of features: what can be learned about its
// class, what the models memorised about the retained records, and what only the original
// memorised, about the records to be forgotten. The test part has testRows records that are read
// (lab.Case.Judged), and as many that are not.
const (
	trainRows, forgetRows, testRows = 200, 40, 160

	group        = 4 // features in a group
	features     = 3 * group
	shadowModels = 16 // of cases for lenses that compare with such models

	units = 4 * group // the positive and the negative part of learned and of memorised features
)

// members says which records, besides the retained ones, the original memorised.
type members int

const (
	forgottenAreMembers members = iota // the usual roles
	heldOutAreMembers                  // the roles of forgotten and held-out records exchanged
	noMembers                          // of no record; the models are random
)

// fixture makes cases for a lens; newCase makes one.
type fixture struct {
	runner  *model.Runner
	newCase func(seed uint64, who members) *audit.Case
}

// newFixture returns a fixture whose cases a lens can read: plain cases, or cases with a backdoor
// or with confused classes.
func newFixture(t *testing.T, lens audit.Lens) *fixture {
	t.Helper()
	plain := openFixture(t, tabular.OneHidden{Features: features, Outputs: 2, Hidden: units})
	plain.newCase = plain.memorisedCase
	if n := lens.Info().Needs.Shadows; n > 0 {
		plain.newCase = func(seed uint64, who members) *audit.Case {
			return withShadows(t, plain.memorisedCase(seed, who), seed)
		}
		return plain
	}
	if canRead(lens, plain) {
		return plain
	}
	for _, b := range []lab.Backdoor{{Source: "a", Target: "b", Column: "trigger", Value: 4}, {Source: "a", Target: "b", Confuse: true}} {
		special := openFixture(t, tabular.OneHidden{Features: specialFeatures, Outputs: 3, Hidden: 2 * specialFeatures})
		special.newCase = func(seed uint64, who members) *audit.Case { return special.wrongAnswersCase(seed, who, b) }
		if canRead(lens, special) {
			return special
		}
	}
	return plain
}

// canRead reports whether a lens has a reading of the fixture's cases. Errors are left for the
// tests to find.
func canRead(lens audit.Lens, g *fixture) bool {
	c := g.newCase(1, forgottenAreMembers)
	r, err := c.Read(lens, c.Original)
	return err != nil || r.Absent == ""
}

func openFixture(t *testing.T, arch model.Architecture) *fixture {
	t.Helper()
	e, err := engine.Open("auto")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	r, err := model.NewRunner(e, arch)
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{runner: r}
}

// memorisedCase makes a case with memorised records; nothing is trained.
func (g *fixture) memorisedCase(seed uint64, who members) *audit.Case {
	rng := rand.New(rand.NewPCG(seed, 0x1e45))
	p := &datasets.Prepared{Train: drawPart(rng, trainRows), About: datasets.About{Classes: []string{"no", "yes"}}}
	c := &audit.Case{Case: &lab.Case{Problem: &lab.Problem{Prepared: p, Arch: g.runner.Arch, Runner: g.runner}}}
	judged := drawPart(rng, testRows)
	p.Test = drawPart(rand.New(rand.NewPCG(seed, 0x5ee7)), 2*testRows)
	for k, i := range c.EvalRows() {
		copy(p.Test.X.Row(i), judged.X.Row(k))
		p.Test.Y[i] = judged.Y[k]
	}
	order := rng.Perm(trainRows)
	c.Forget, c.Retain = order[:forgetRows], order[forgetRows:]
	slices.Sort(c.Forget)
	slices.Sort(c.Retain)
	switch who {
	case forgottenAreMembers:
		memorise(rng, p.Train, c.Retain, group)
		memorise(rng, p.Train, c.Forget, 2*group)
	case heldOutAreMembers:
		memorise(rng, p.Train, c.Retain, group)
		rows := c.EvalRows()
		rng.Shuffle(testRows, func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		memorise(rng, p.Test, rows, 2*group)
	case noMembers:
		c.Original, c.Oracle = c.NewModel("original", model.InitialWeights(g.runner.Arch, rng)), c.NewModel("oracle", model.InitialWeights(g.runner.Arch, rng))
		c.SecondOracle = c.NewModel("another oracle", model.InitialWeights(g.runner.Arch, rng))
		return c
	}
	c.Original, c.Oracle = c.NewModel("original", g.weights(true)), c.NewModel("oracle", g.weights(false))
	c.SecondOracle = c.NewModel("another oracle", addNoise(rng, g.weights(false)))
	return c
}

// withShadows adds shadow models to a case: each was trained on a random half of the forgotten
// records and of every second held-out one, and fits those better than the oracle does.
func withShadows(t *testing.T, c *audit.Case, seed uint64) *audit.Case {
	t.Helper()
	e, err := c.Evidence(audit.Needs{Arrays: []audit.Array{audit.LossArray}}, c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 0x5ade))
	for range shadowModels {
		a := &audit.Arrays{Name: "shadow", Role: audit.Shadow, In: make([]bool, e.Records), Losses: slices.Clone(e.Models[0].Losses)}
		for k, i := range slices.Concat(e.Forget, e.HeldOut) {
			a.In[i] = (k < len(e.Forget) || k%2 == 0) && rng.IntN(2) == 0
			a.Losses[i] *= math.Exp(0.3 * rng.NormFloat64())
			if a.In[i] {
				a.Losses[i] /= 8
			}
		}
		for _, v := range a.Losses {
			a.Scaled = append(a.Scaled, -v)
		}
		c.Shadows = append(c.Shadows, a)
	}
	return c
}

// drawPart draws records with a weak learnable signal. All have a trace of the features that only
// the original memorises, so that an attacker can learn what they look like.
func drawPart(rng *rand.Rand, n int) datasets.Part {
	p := datasets.Part{X: array.New[float32](n, features), Y: make([]int, n), IDs: make([]int, n)}
	for i := range n {
		p.Y[i], p.IDs[i] = rng.IntN(2), i
		for k := range group {
			p.X.Row(i)[k] = float32(rng.NormFloat64())
		}
		for k := 2 * group; k < features; k++ {
			p.X.Row(i)[k] = float32(0.5 * rng.NormFloat64())
		}
		p.X.Row(i)[0] += 0.5 * sign(p.Y[i])
	}
	return p
}

// memorise writes what is memorised about some records to a group of features: noise of its own for
// each record, and the class.
func memorise(rng *rand.Rand, p datasets.Part, rows []int, from int) {
	for _, i := range rows {
		for k := range group {
			p.X.Row(i)[from+k] = float32(1.5 * rng.NormFloat64())
		}
		p.X.Row(i)[from] += 2 * sign(p.Y[i])
	}
}

func sign(class int) float32 { return float32(2*class - 1) }

// weights returns a network that uses the learnable and the memorised features. Only one that
// remembers uses the last group.
func (g *fixture) weights(remembers bool) nn.Params {
	w := model.InitialWeights(g.runner.Arch, rand.New(rand.NewPCG(1, 1)))
	for _, p := range w {
		clear(p.Data)
	}
	hidden, head := weightSetter(w[0]), weightSetter(w[2])
	for k := range group {
		for part, s := range []float32{1, -1} {
			learned, memorised := part*group+k, (2+part)*group+k
			hidden(k, learned, s)
			hidden(group+k, memorised, s)
			if remembers {
				hidden(2*group+k, memorised, s)
			}
			if k == 0 {
				for class := range 2 {
					head(learned, class, s*sign(class))
					head(memorised, class, s*sign(class))
				}
			}
		}
	}
	return w
}

// addNoise adds a little noise to weights, as another seed would.
func addNoise(rng *rand.Rand, w nn.Params) nn.Params {
	for _, p := range w {
		for i := range p.Data {
			p.Data[i] += float32(0.05 * rng.NormFloat64())
		}
	}
	return w
}

// weightSetter returns a function that sets the weight from an input to an output.
func weightSetter(p nn.Param) func(in, out int, v float32) {
	return func(in, out int, v float32) { p.Data[out*p.Shape[1]+in] = v }
}
