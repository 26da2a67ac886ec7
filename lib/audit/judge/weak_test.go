package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/stats"
)

// familyLens is a lens of a family of its own.
type familyLens struct {
	audit.Loss
	name string
}

func (l familyLens) Name() string     { return l.name }
func (l familyLens) Info() audit.Info { return audit.Info{Family: audit.Family(l.name)} }

// independent is a report of lenses that err by themselves, on a model that is shift standard errors away from
// retrained ones.
func independent(rng *rand.Rand, lenses int, shift float64) *Report {
	m := &Model{Role: Unlearned}
	m.Name = "unlearned"
	r := &Report{Evidence: &Evidence{}, Inputs: &InputChecks{}}
	r.Evidence.Models = []*Model{m}
	reading := func(model string, at float64) audit.Reading {
		v := at + rng.NormFloat64()
		return audit.Reading{Model: model, Memory: audit.Above, DrawnAlike: true,
			Estimate: stats.Estimate{Value: v, Low: v - 1.96, High: v + 1.96, Level: 0.95, N: 100, Over: "records"}}
	}
	for k := range lenses {
		original := reading("original", 12)
		v := Verdict{Lens: familyLens{name: fmt.Sprint("lens ", k)}, Reading: reading(m.Name, shift), Original: &original,
			Retrained: []audit.Reading{reading("retrained", 0)}}
		v.place()
		r.Verdicts = append(r.Verdicts, v)
	}
	r.markWeak()
	return r
}

// Eight lenses that err in one case of twenty each accuse a third of the models that forgot. The answer does
// in one audit of twenty at most, and still finds a memory.
func TestTheAnswerAllowsForTheNumberOfFamilies(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	const audits = 2000
	byOne, byAll, found := 0, 0, 0
	for range audits {
		r := independent(rng, 8, 0)
		for _, v := range r.Verdicts {
			if v.Call.Found() {
				byOne++
				break
			}
		}
		if r.Answer("unlearned").Accuses() {
			byAll++
		}
		if independent(rng, 8, 5).Answer("unlearned").Memory() {
			found++
		}
	}
	if byOne < audits/4 || byAll > audits*7/100 || byAll < audits/100 {
		t.Errorf("of %d models that forgot, %d have a lens that accuses them and %d an answer that does", audits, byOne, byAll)
	}
	if found < audits*9/10 {
		t.Errorf("%d of %d memories are found", found, audits)
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
	var verdicts []Verdict
	for k, c := range callOrder {
		verdicts = append(verdicts, Verdict{Lens: familyLens{name: fmt.Sprint(k)}, Call: c})
	}
	verdicts = append(verdicts, Verdict{Lens: familyLens{name: "0"}, Call: audit.Forgotten}) // of a family that is counted
	want := len(callOrder) - 6
	if got := familiesAsked(verdicts); len(got) != want {
		t.Errorf("%d families of %d calls: %v, want %d", len(got), len(callOrder), got, want)
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

// Probabilities of the right class saved as losses are large where a record is fitted well: all models look as if
// sets were exchanged, and the note names both. Losses of the right sign have no note.
func TestProbabilitiesAsLossesAreNoted(t *testing.T) {
	for _, probabilities := range []bool{true, false} {
		m := newFixture(88, 60, 120, 120)
		dir := t.TempDir()
		m.write(t, dir, m.retained, 0)
		for _, model := range []struct {
			name string
			in   func(int) bool
		}{{"original", m.all}, {"retrained", m.retained}, {"retrained-2", m.retained}, {"unlearned", m.retained}} {
			must(t, os.Remove(filepath.Join(dir, model.name, "outputs.npy")))
			values := make([]float64, len(m.y))
			for i := range values {
				p := 0.3 + 0.2*m.rng.Float64()
				if model.in(i) {
					p += 0.4
				}
				if values[i] = p; !probabilities {
					values[i] = -math.Log(p)
				}
			}
			must(t, npy.WriteVector(filepath.Join(dir, model.name, "losses.npy"), values))
		}
		must(t, os.Remove(filepath.Join(dir, "labels.npy")))
		r := audited(t, dir)
		if notes := strings.Join(r.Evidence.Notes, "\n"); strings.Contains(notes, "probabilities of the right class") != probabilities {
			t.Errorf("probabilities %v: %s", probabilities, notes)
		}
	}
}
