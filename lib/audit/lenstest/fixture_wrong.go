// Cases with a backdoor or confused classes for testing lenses: weights are set by
// hand, nothing is trained.

package lenstest

import (
	"math/rand/v2"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Sizes of the cases with wrong labels: a feature for each of three classes, the column of a
// trigger, and noise.
const (
	specialFeatures = 5
	triggerColumn   = 3
)

// wrongAnswersCase makes a case with a backdoor, or with confused classes, that the original has
// learned; nothing is trained. With exchanged roles the case asks for another wrong class than the
// original gives.
func (g *fixture) wrongAnswersCase(seed uint64, who members, b lab.Backdoor) *audit.Case {
	rng := rand.New(rand.NewPCG(seed, 0x3a9))
	p := &datasets.Prepared{
		Train: drawThreeClasses(rng, trainRows), Test: drawThreeClasses(rng, 2*testRows),
		About: datasets.About{Classes: []string{"a", "b", "c"}},
	}
	for k := range specialFeatures {
		name := "noise"
		if k == triggerColumn {
			name = "trigger"
		}
		p.About.Features = append(p.About.Features, datasets.Feature{Name: name})
		p.Norm.Mean, p.Norm.SD = append(p.Norm.Mean, 0), append(p.Norm.SD, 1)
	}
	asked := b
	if who == heldOutAreMembers {
		asked.Target = "c"
	}
	c := &audit.Case{Case: &lab.Case{
		Lab: &lab.Lab{}, Setting: lab.Setting{Forget: asked}, Problem: &lab.Problem{Prepared: p, Arch: g.runner.Arch, Runner: g.runner},
	}}
	for i := range trainRows {
		if i < forgetRows {
			c.Forget = append(c.Forget, i)
		} else {
			c.Retain = append(c.Retain, i)
		}
	}
	if who == noMembers {
		c.Original, c.Oracle = c.NewModel("original", model.InitialWeights(g.runner.Arch, rng)), c.NewModel("oracle", model.InitialWeights(g.runner.Arch, rng))
		c.SecondOracle = c.NewModel("another oracle", model.InitialWeights(g.runner.Arch, rng))
		return c
	}
	c.Original, c.Oracle = c.NewModel("original", g.answeringWeights(&b)), c.NewModel("oracle", g.answeringWeights(nil))
	c.SecondOracle = c.NewModel("another oracle", addNoise(rng, g.answeringWeights(nil)))
	return c
}

// drawThreeClasses draws records of three classes.
func drawThreeClasses(rng *rand.Rand, n int) datasets.Part {
	p := datasets.Part{X: array.New[float32](n, specialFeatures), Y: make([]int, n), IDs: make([]int, n)}
	for i := range n {
		p.Y[i], p.IDs[i] = rng.IntN(3), i
		for k := range specialFeatures {
			p.X.Row(i)[k] = float32(0.5 * rng.NormFloat64())
		}
		p.X.Row(i)[p.Y[i]] += 2
	}
	return p
}

// answeringWeights returns a network that answers with the class whose feature is largest, except
// for what it has learned of a backdoor from a to b, or of a and b confused.
func (g *fixture) answeringWeights(b *lab.Backdoor) nn.Params {
	w := model.InitialWeights(g.runner.Arch, rand.New(rand.NewPCG(1, 1)))
	for _, p := range w {
		clear(p.Data)
	}
	hidden, head := weightSetter(w[0]), weightSetter(w[2])
	for k := range specialFeatures {
		for part, s := range []float32{1, -1} {
			unit := part*specialFeatures + k
			hidden(k, unit, s)
			if k < 3 {
				head(unit, k, s)
			}
			switch {
			case b == nil:
			case b.Confuse && k < 2:
				head(unit, 0, s*[]float32{0.4, 0.6}[k])
				head(unit, 1, s*[]float32{0.6, 0.4}[k])
			case !b.Confuse && k == triggerColumn:
				head(unit, 1, 2*s)
			}
		}
	}
	return w
}
