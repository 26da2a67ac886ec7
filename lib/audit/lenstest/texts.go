// The suite for lenses on language models: arrays of texts with a known memory. No model is run.

package lenstest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/internal/conform"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

// The sizes of text evidence.
const (
	forgetTexts, retainTexts, heldTexts = 40, 80, 160
	wrongAnswers, textLayers            = 4, 3
	textSimulations                     = 100
)

// readsTexts reports whether a lens reads arrays of language models.
func readsTexts(lens audit.Lens) bool {
	n := lens.Info().Needs
	return n.Reference > 0 || lens.Info().Texts || slices.ContainsFunc(n.Arrays, func(a audit.Array) bool {
		return !slices.Contains([]audit.Array{audit.LossArray, audit.OutputArray, audit.LabelledArray, audit.EmbeddingArray,
			audit.LabelArray, audit.SpaceArray}, a)
	})
}

// runTexts is Run for a lens on language models.
func runTexts(t *testing.T, lens audit.Lens) {
	t.Run("has a name", func(t *testing.T) { checkName(t, lens) })
	t.Run("reads a memory in the original and none in the oracle", func(t *testing.T) {
		e := newTexts(1, forgottenAreMembers)
		original, oracle := readText(t, lens, e, audit.Original), readText(t, lens, e, audit.Retrained)
		checkSeparated(t, original, oracle)
		if call := audit.CallOf(original, original, oracle); call != audit.Remembered {
			t.Errorf("the original is called %s", call)
		}
		if call := audit.CallOf(oracle, original, oracle); call != audit.Forgotten {
			t.Errorf("the oracle is called %s", call)
		}
	})
	t.Run("cannot tell from a collapsed model", func(t *testing.T) {
		e := newTexts(5, forgottenAreMembers)
		collapse(e.Models[0])
		checkTextCall(t, lens, e, audit.Unlearned, audit.CannotTell)
	})
	t.Run("cannot tell from five records many times over", func(t *testing.T) {
		e := newTexts(6, forgottenAreMembers)
		copyTexts(e, func(i int) int { return i % 5 })
		checkTextCall(t, lens, e, audit.Original, audit.CannotTell)
	})
	t.Run("reads on with a few copies", func(t *testing.T) {
		e := newTexts(7, forgottenAreMembers)
		copyTexts(e, func(i int) int { return i - i%10/9 })
		checkTextCall(t, lens, e, audit.Original, audit.Remembered)
	})
	t.Run("says too few of few forgotten records", func(t *testing.T) {
		for n := 1; n < audit.MinRecords; n++ {
			e := newTexts(8, forgottenAreMembers)
			e.Forget = e.Forget[:n]
			checkTextCall(t, lens, e, audit.Original, audit.TooFew)
		}
	})
	t.Run("exchanged roles flip the answer", func(t *testing.T) {
		straight, exchanged := newTexts(2, forgottenAreMembers), newTexts(2, heldOutAreMembers)
		r, err := exchanged.ReadBy(lens, modelOf(exchanged, audit.Original))
		if err != nil && lens.Info().Needs.Original > 0 {
			return // the original has nothing that the lens could compare with
		}
		if err != nil {
			t.Fatal(err)
		}
		checkSeparated(t, readText(t, lens, straight, audit.Original), *r)
	})
	t.Run("has a null that holds", func(t *testing.T) { checkTextNull(t, lens) })
	t.Run("has intervals over groups", func(t *testing.T) { checkGroups(t, lens) })
	t.Run("scores single records", func(t *testing.T) {
		checkScores(t, lens, readingOriginal(newTexts(visible, forgottenAreMembers)), readingOriginal(newTexts(visible, heldOutAreMembers)))
	})
	t.Run("leaves the arrays alone", func(t *testing.T) { checkUnchanged(t, lens, readingOriginal(newTexts(3, forgottenAreMembers))) })
	t.Run("refuses nonsense", func(t *testing.T) {
		e := newTexts(4, forgottenAreMembers)
		spoil(modelOf(e, audit.Original), e.Forget[0])
		_, err := e.ReadBy(lens, modelOf(e, audit.Original))
		conform.CheckRefused(t, "a model that is not finite", err)
		e = newTexts(4, forgottenAreMembers)
		e.Forget = nil
		_, err = e.ReadBy(lens, modelOf(e, audit.Original))
		conform.CheckRefused(t, "nothing to forget", err)
	})
}

// readingOriginal returns the evidence with the original as its first model.
func readingOriginal(e *audit.Evidence) *audit.Evidence {
	at := slices.Index(e.Models, modelOf(e, audit.Original))
	e.Models[0], e.Models[at] = e.Models[at], e.Models[0]
	return e
}

func modelOf(e *audit.Evidence, r audit.Role) *audit.Arrays { return e.ModelsOf(r)[0] }

// readText reads the first model of a role and checks the fields that every reading has.
func readText(t *testing.T, lens audit.Lens, e *audit.Evidence, r audit.Role) audit.Reading {
	t.Helper()
	return readArrays(t, lens, e, modelOf(e, r))
}

// checkTextCall checks the call of a model between the original and the retrained one. A lens may
// refuse what leaves it without a value.
func checkTextCall(t *testing.T, lens audit.Lens, e *audit.Evidence, r audit.Role, want audit.Call) {
	t.Helper()
	read := func(r audit.Role) (audit.Reading, error) {
		out, err := e.ReadBy(lens, modelOf(e, r))
		if err != nil {
			return audit.Reading{}, err
		}
		return *out, nil
	}
	original, err := read(audit.Original)
	if err != nil {
		t.Fatal(err)
	}
	oracle, err := read(audit.Retrained)
	if err != nil {
		t.Fatal(err)
	}
	m, err := read(r)
	if err != nil {
		t.Fatal(err)
	}
	if call := audit.CallOf(m, original, oracle); call != want {
		t.Errorf("the %s model, %v with %d to forget, is called %s, want %s", r, m.Estimate, len(e.Forget), call, want)
	}
}

// checkTextNull reads models that never had the texts: the null holds, or they are like the oracle.
func checkTextNull(t *testing.T, lens audit.Lens) {
	n := &nullReadings{}
	for k := range textSimulations {
		e := newTexts(uint64(1000+k), forgottenAreMembers)
		r := readText(t, lens, e, audit.Unlearned)
		if lens.Info().Null == audit.NonmemberNull && r.Null != nil {
			n.add(r)
		} else {
			n.addPair(r, readText(t, lens, e, audit.Retrained))
		}
	}
	n.check(t, lens.Info())
}

// textWorld holds what is the same for all models: how hard texts and tokens are.
type textWorld struct {
	e      *audit.Evidence
	rng    *rand.Rand
	offset []int
	hard   []float64 // of texts, a logarithm
	token  []float64 // of tokens
}

// newTexts draws evidence of texts: an unlearned model that never had them, an original that
// memorised some, two retrained models and a reference model.
func newTexts(seed uint64, who members) *audit.Evidence {
	n := forgetTexts + retainTexts + heldTexts
	e := &audit.Evidence{Records: n, Seed: seed}
	for i := range n {
		switch {
		case i < forgetTexts:
			e.Forget = append(e.Forget, i)
		case i < forgetTexts+retainTexts:
			e.Retain = append(e.Retain, i)
		default:
			e.HeldOut = append(e.HeldOut, i)
		}
	}
	w := &textWorld{e: e, rng: rand.New(rand.NewPCG(seed, 0x7e47))}
	for range n {
		w.hard = append(w.hard, 0.4*w.rng.NormFloat64())
	}
	w.drawTokens()
	memorised := func(r audit.Role, i int) bool {
		switch {
		case i >= forgetTexts && i < forgetTexts+retainTexts:
			return r != audit.Reference
		case r != audit.Original:
			return false
		}
		return (who == forgottenAreMembers) == (i < forgetTexts)
	}
	for k, r := range []audit.Role{audit.Unlearned, audit.Original, audit.Retrained, audit.Retrained, audit.Reference} {
		m := &audit.Arrays{Name: fmt.Sprint(r, k), Role: r}
		w.fill(m, func(i int) bool { return memorised(r, i) }, nil)
		e.Models = append(e.Models, m)
	}
	w.patch(func(i int) bool { return memorised(audit.Original, i) }, nil)
	return e
}

// drawTokens draws the lengths of texts, and how hard their tokens are.
func (w *textWorld) drawTokens() {
	w.offset = []int{0}
	for i := range w.e.Records {
		n := 8 + w.rng.IntN(33)
		w.offset = append(w.offset, w.offset[i]+n)
		for range n {
			w.token = append(w.token, w.rng.ExpFloat64())
		}
		w.e.Compressed = append(w.e.Compressed, 3*n+w.rng.IntN(10))
	}
}

// fill draws a model's arrays. shared is what the model makes of groups of texts; nil: nothing.
func (w *textWorld) fill(m *audit.Arrays, memorised func(i int) bool, shared func(i int) float64) {
	if shared == nil {
		shared = func(int) float64 { return 0 }
	}
	n := len(w.token)
	numbers := func() []float64 { return make([]float64, 0, n) }
	t := &language.Tokens{Offset: w.offset, LogProb: numbers(), Correct: make([]bool, 0, n), Mean: numbers(), Deviation: numbers()}
	p, a := &language.Tokens{Offset: w.offset, LogProb: numbers()}, &language.Answers{}
	for i, hard := range w.hard {
		own := 0.1*w.rng.NormFloat64() + shared(i)
		scale := math.Exp(hard + own)
		behind := 1.05 + 0.1*w.rng.NormFloat64() + 0.3*(hard+own)
		knows := 0.0
		if memorised(i) {
			scale, behind, knows = 0.3*scale, behind+0.5, 1.5
		}
		for j := w.offset[i]; j < w.offset[i+1]; j++ {
			l := -scale * w.token[j] * math.Exp(0.2*w.rng.NormFloat64())
			mu := -0.5 - 0.5*w.token[j]
			t.LogProb, t.Correct = append(t.LogProb, l), append(t.Correct, l > -2)
			t.Mean, t.Deviation = append(t.Mean, mu), append(t.Deviation, 0.5-0.2*mu)
			p.LogProb = append(p.LogProb, l*max(behind, 0.1))
		}
		a.Right = append(a.Right, -math.Exp(0.3*w.rng.NormFloat64()+0.5*(hard+own)-0.5*knows))
		wrong := make([]float64, wrongAnswers)
		for k := range wrong {
			wrong[k] = -math.Exp(0.3 * w.rng.NormFloat64())
		}
		a.Wrong = append(a.Wrong, wrong)
	}
	m.Tokens, m.Prefixed, m.Answers = t, p, a
	if m.Losses == nil {
		means, err := t.MeanLogProb()
		if err != nil {
			panic(err)
		}
		for _, v := range means {
			m.Losses, m.Scaled = append(m.Losses, -v), append(m.Scaled, v)
		}
	}
}

// patch gives every model its effect on the first original model: what that memorised is lost with
// layers of a model that did not. shared is what a model's layers cost a group of texts.
func (w *textWorld) patch(memorised func(i int) bool, shared func(m, i int) float64) {
	original := w.e.ModelsOf(audit.Original)[0]
	for k, m := range w.e.Models {
		x := array.New[float64](w.e.Records, textLayers)
		for i := range w.e.Records {
			drop := 0.0
			if memorised(i) && m != original {
				drop = 0.4
			}
			if shared != nil && m != original {
				drop *= math.Exp(shared(k, i))
			}
			for l := range textLayers {
				x.Row(i)[l] = -original.Losses[i] - drop*math.Exp(0.3*w.rng.NormFloat64())
			}
		}
		m.Patched = rows{&x}
	}
}

// addTexts adds arrays of texts to evidence in groups: every model had the texts to retain, and none those to forget, but
// for the original's patched layers, which carry them.
func (w *groupedWorld) addTexts() {
	e := w.e
	reference := &audit.Arrays{Name: "reference", Role: audit.Reference}
	e.Models = append(e.Models, reference)
	t := &textWorld{e: e, rng: w.changing}
	for i := range e.Records {
		t.hard = append(t.hard, 0.35*w.hard[i/groupSize])
	}
	t.drawTokens()
	cost, retained := make([][]float64, len(e.Models)), make([]bool, e.Records)
	for _, i := range e.Retain {
		retained[i] = true
	}
	for k, m := range e.Models {
		own := make([]float64, e.Records/groupSize)
		for g := range own {
			own[g] = 0.4 * w.changing.NormFloat64()
			cost[k] = append(cost[k], w.changing.NormFloat64())
		}
		known := func(i int) bool { return retained[i] && m.Role != audit.Reference }
		t.fill(m, known, func(i int) float64 { return own[i/groupSize] })
	}
	t.patch(func(i int) bool { return i < forgetGroups*groupSize }, func(m, i int) float64 { return cost[m][i/groupSize] })
}

// collapse makes a model say the same of every text.
func collapse(m *audit.Arrays) {
	for i := range m.Tokens.LogProb {
		m.Tokens.LogProb[i], m.Tokens.Mean[i], m.Tokens.Deviation[i], m.Tokens.Correct[i] = -3, -3, 0.5, false
		m.Prefixed.LogProb[i] = -3
	}
	for i := range m.Losses {
		m.Losses[i], m.Scaled[i] = 3, -3
		m.Answers.Right[i] = -3
		for k := range m.Answers.Wrong[i] {
			m.Answers.Wrong[i][k] = -3
		}
	}
	x := array.New[float64](len(m.Losses), textLayers)
	for i := range x.Data {
		x.Data[i] = -50
	}
	m.Patched = rows{&x}
}

// copyTexts replaces text i by text of(i), for every model.
func copyTexts(e *audit.Evidence, of func(i int) int) {
	from := make([]int, e.Records)
	for i := range from {
		from[i] = of(i)
	}
	for _, m := range e.Models {
		var err error
		if m.Tokens, err = m.Tokens.Select(from); err != nil {
			panic(err)
		}
		if m.Prefixed, err = m.Prefixed.Select(from); err != nil {
			panic(err)
		}
		a, x := &language.Answers{}, array.New[float64](e.Records, textLayers)
		old, _ := m.Patched.Read()
		losses, scaled := slices.Clone(m.Losses), slices.Clone(m.Scaled)
		for i, k := range from {
			m.Losses[i], m.Scaled[i] = losses[k], scaled[k]
			a.Right, a.Wrong = append(a.Right, m.Answers.Right[k]), append(a.Wrong, m.Answers.Wrong[k])
			copy(x.Row(i), old.Read(x.Row(i), k))
		}
		m.Answers, m.Patched = a, rows{&x}
	}
	lengths := slices.Clone(e.Compressed)
	for i, k := range from {
		e.Compressed[i] = lengths[k]
	}
}

// spoil makes the numbers of a text not finite.
func spoil(m *audit.Arrays, i int) {
	nan := math.NaN()
	m.Tokens.LogProb[m.Tokens.Offset[i]], m.Losses[i], m.Answers.Right[i] = nan, nan, nan
	x, _ := m.Patched.Read()
	x.(*array.Matrix[float64]).Row(i)[0] = nan
}
