package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/stats"
)

// familyLens is a lens of a family of its own.
type familyLens struct {
	name, family string // no family: its own
}

func (l familyLens) Name() string                                              { return l.name }
func (l familyLens) Info() audit.Info                                          { return audit.Info{Family: audit.Family(l.family)} }
func (familyLens) Read(*audit.Evidence, *audit.Arrays) (*audit.Reading, error) { return nil, nil }

// independent is a report of lenses that err by themselves, each of a family or all of one, on a model that is shift
// standard errors away from retrained ones.
func independent(rng *rand.Rand, lenses int, shift float64, family ...string) *Report {
	m := &Model{Role: Unlearned}
	m.Name = "unlearned"
	r := &Report{Evidence: &Evidence{}, Inputs: &InputChecks{}}
	r.Evidence.Models = []*Model{m}
	reading := func(model string, at float64) audit.Reading {
		v := at + rng.NormFloat64()
		return audit.Reading{Model: model, Memory: audit.Above, Contrast: true, DrawnAlike: true,
			Estimate: stats.Estimate{Value: v, Low: v - 1.96, High: v + 1.96, Level: 0.95, N: 100, Over: "records"}}
	}
	for k := range lenses {
		original := reading("original", 12)
		v := Verdict{Lens: familyLens{fmt.Sprint("lens ", k), strings.Join(family, " ")}, Reading: reading(m.Name, shift), Original: &original,
			Retrained: []audit.Reading{reading("retrained", 0)}}
		v.place()
		r.Verdicts = append(r.Verdicts, v)
	}
	r.markWeak()
	return r
}

// Eight lenses that err in one case of twenty each accuse a third of the models that forgot, whether they are of
// one family or of eight. The answer does in one audit of twenty at most, and still finds a memory.
func TestTheAnswerAllowsForTheNumberOfLenses(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	const audits = 1500
	for _, family := range [][]string{nil, {"one"}} {
		byOne, byAll, found := 0, 0, 0
		for range audits {
			r := independent(rng, 8, 0, family...)
			if slices.ContainsFunc(r.Verdicts, func(v Verdict) bool { return v.Call.Found() }) {
				byOne++
			}
			if r.Answer("unlearned").Accuses() {
				byAll++
			}
			if independent(rng, 8, 5, family...).Answer("unlearned").Memory() {
				found++
			}
		}
		if byOne < audits/4 || byAll > audits*7/100 || byAll < audits/100 {
			t.Errorf("%v: of %d models that forgot, %d have a lens that accuses them and %d an answer that does", family, audits, byOne, byAll)
		}
		if found < audits*9/10 {
			t.Errorf("%v: %d of %d memories are found", family, found, audits)
		}
	}
}

// By hand: Simes' test and the step-up rule. Three probabilities that agree need no more than one alone.
func TestProbabilitiesTakenTogether(t *testing.T) {
	for _, c := range []struct {
		p          []float64
		joint, cut float64 // cut at 0.05
	}{
		{[]float64{0.04}, 0.04, 0.04},
		{[]float64{0.04, 1, 1}, 0.12, -1},
		{[]float64{0.04, 0.03, 0.049}, 0.049, 0.049},
		{[]float64{1, 0.01, 0.03}, 0.03, 0.03},
		{[]float64{1, 0.04, 0.001}, 0.003, 0.001},
		{nil, 1, -1},
	} {
		if joint, cut := simes(c.p), stepUp(c.p, 0.05); math.Abs(joint-c.joint) > 1e-12 || cut != c.cut {
			t.Errorf("%v: %v and %v, want %v and %v", c.p, joint, cut, c.joint, c.cut)
		}
	}
}

// The chance of a verdict is that of the test behind it: of a normal distance of z, here between two readings
// of the same width.
func TestTheChanceOfAVerdictIsThatOfItsTest(t *testing.T) {
	reading := func(v float64) audit.Reading {
		return audit.Reading{Memory: audit.Above, Contrast: true, DrawnAlike: true, Estimate: stats.Estimate{Value: v, Low: v - 1.96, High: v + 1.96, Level: 0.95, N: 1e6}}
	}
	original := reading(100)
	for z, want := range map[float64]float64{1: 1, 2: 0.0455, 3: 0.0027, 4: 6.33e-5, 40: leastChance} {
		v := Verdict{Lens: familyLens{"lens", ""}, Reading: reading(z * math.Sqrt2), Original: &original, Retrained: []audit.Reading{reading(0)}}
		v.place()
		if got := v.byChance(); math.Abs(got/want-1) > 0.01 {
			t.Errorf("%v standard errors away: %v, want %v", z, got, want)
		}
	}
}

// What does not stand is said: the verdict is kept, marked in words and in JSON, and the answer is that nothing
// can be told. One family alone needs no more than its own interval.
func TestAWeakVerdictIsMarked(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	var weak *Report
	for range 200 {
		if one := independent(rng, 1, 0); one.Verdicts[0].Weak {
			t.Fatalf("a single family needs a wider interval: %+v", one.Verdicts[0])
		}
		if r := independent(rng, 8, 0); r.Headline("unlearned").Answer == ByChance {
			weak = r
		}
	}
	if weak == nil {
		t.Fatal("no answer rests on a verdict that does not stand")
	}
	marked := 0
	for _, v := range weak.Verdicts {
		if strings.Contains(v.Text(), "does not stand") != v.Weak || v.Weak && !v.Call.Found() {
			t.Errorf("%s, weak %v: %s", v.Call, v.Weak, v.Text())
		}
		if v.Weak {
			marked++
		}
	}
	if marked == 0 || weak.Answer("unlearned").Tells() || !strings.Contains(weak.Answers()[0], "chance alone shows as much") {
		t.Errorf("%d are marked: %s", marked, weak.Answers()[0])
	}
}

// Lenses that cannot accuse anybody are none of the families that were asked.
func TestFamiliesOfAWeakVerdictAreThoseThatCouldAccuse(t *testing.T) {
	var verdicts []*Verdict
	for k, c := range callOrder {
		verdicts = append(verdicts, &Verdict{Lens: familyLens{name: fmt.Sprint(k)}, Call: c})
	}
	verdicts = append(verdicts, &Verdict{Lens: familyLens{name: "0"}, Call: audit.Forgotten}) // of a family that is counted
	want := len(callOrder) - 6
	if got, chances := familiesAsked(verdicts); len(got) != want || len(chances[0]) != 2 {
		t.Errorf("%d families of %d calls: %v, want %d; chances %v", len(got), len(callOrder), got, want, chances)
	}
}

// Verdicts that do not stand decide nothing beside those that do.
func TestOnlyVerdictsThatStandDecide(t *testing.T) {
	weak := Verdict{Lens: audit.Neighbours{}, Call: audit.Remembered, Weak: true}
	for want, firm := range map[Answer]audit.Call{PushedAway: audit.Beyond, SomeMemory: audit.Between, StillRemembered: audit.Remembered, ByChance: audit.Forgotten} {
		if got := headline("m", []Verdict{weak, {Lens: audit.Loss{}, Call: firm}}).Answer; got != want {
			t.Errorf("beside %s: %q, want %q", firm, got, want)
		}
	}
}

// An answer that rests on nulls says what these suppose, and what inputs say of it. Beside a retrained model it
// supposes nothing.
func TestAnAnswerByNullsSaysWhatItSupposes(t *testing.T) {
	told := 0
	for _, c := range []struct{ inputs, retrained bool }{{false, false}, {true, false}, {false, true}} {
		m := newFixture(77, 60, 120, 120)
		dir := t.TempDir()
		m.write(t, dir, m.all, 0)
		if c.inputs {
			must(t, npy.Write(filepath.Join(dir, "inputs.npy"), m.base))
		}
		if !c.retrained {
			must(t, os.RemoveAll(filepath.Join(dir, "retrained")))
			must(t, os.RemoveAll(filepath.Join(dir, "retrained-2")))
		}
		r := audited(t, dir)
		h := r.Headline("unlearned")
		supposes := h.Answer.Tells() && !c.retrained
		text := r.headline(r.Evidence.ModelsOf(Unlearned)[0])
		if (h.Supposes != "") != supposes || strings.Contains(text, " This holds if forgotten and held-out") != supposes ||
			supposes && strings.Contains(text, "nothing here shows") == c.inputs || strings.Contains(h.String(), ", if ") != supposes {
			t.Errorf("%+v: %q, %s", c, h.String(), text)
		}
		if supposes {
			told++
		}
	}
	if told != 2 {
		t.Errorf("%d answers without a retrained model", told)
	}
}

// Probabilities of the right class saved as losses, or percentages, are large where a record is fitted well: the note
// asks for them, with all models and with an unlearned one alone. Losses have no such note.
func TestProbabilitiesAsLossesAreNoted(t *testing.T) {
	as := map[string]func(p float64) float64{
		"probabilities": func(p float64) float64 { return p }, "percentages": func(p float64) float64 { return 100 * p },
		"losses": func(p float64) float64 { return -math.Log(p) },
	}
	for name, of := range as {
		for _, alone := range []bool{false, true} {
			m := newFixture(88, 60, 120, 120)
			dir := t.TempDir()
			m.write(t, dir, m.retained, 0)
			must(t, os.Remove(filepath.Join(dir, "labels.npy")))
			for model, in := range map[string]func(int) bool{"original": m.all, "retrained": m.retained, "retrained-2": m.retained, "unlearned": m.all} {
				if alone && model != "unlearned" {
					must(t, os.RemoveAll(filepath.Join(dir, model)))
					continue
				}
				must(t, os.Remove(filepath.Join(dir, model, "outputs.npy")))
				values := make([]float64, len(m.y))
				for i := range values {
					p := 0.3 + 0.2*m.rng.Float64()
					if in(i) {
						p += 0.4
					}
					values[i] = of(p)
				}
				must(t, npy.WriteVector(filepath.Join(dir, model, "losses.npy"), values))
			}
			if alone {
				must(t, os.Remove(filepath.Join(dir, "retain.npy")))
			}
			notes := strings.Join(audited(t, dir).Evidence.Notes, "\n")
			if strings.Contains(notes, "probabilities of the right class") != (name != "losses") {
				t.Errorf("%s, unlearned model alone %v: %s", name, alone, notes)
			}
		}
	}
}
