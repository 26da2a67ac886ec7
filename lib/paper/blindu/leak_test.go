package blindu

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/representation"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// briefLeakStudy is a small case of random records.
func briefLeakStudy() Study {
	s := briefStudy()
	c := s.Cases[1]
	c.Known, c.Victims, c.Only = 90, 40, nil
	return Study{Scale: "brief", Seeds: 1, Cases: []Case{c}}
}

// The attacker has records that no model was trained or evaluated on, and their own model, which
// forgets other records than the attacked one.
func TestWhoAttacksWhat(t *testing.T) {
	e, of := newEnv(t), briefLeakStudy().Cases[0]
	c, err := e.Lab().Case(t.Context(), of.setting(0))
	if err != nil {
		t.Fatal(err)
	}
	own, err := e.Lab().Case(t.Context(), of.shadowSetting(0))
	if err != nil {
		t.Fatal(err)
	}
	if own.Seed == c.Seed || slices.Equal(own.Forget, c.Forget) {
		t.Error("the attacker's own model is the one under attack")
	}
	for _, row := range heldOutRows(c) {
		if slices.Contains(c.EvalRows(), row) {
			t.Fatalf("unseen record %d is known to the attacker and judged", row)
		}
	}
	if n := len(heldOutRows(c)) + len(c.EvalRows()); n != c.Test.X.Rows {
		t.Errorf("%d of %d unseen records have a role", n, c.Test.X.Rows)
	}
	d := withNumbers(c.Test, heldOutRows(c), nonmemberOffset)
	if d.IDs[0] < nonmemberOffset || d.Y[0] != c.Test.Y[heldOutRows(c)[0]] {
		t.Errorf("a non-member has the number %d", d.IDs[0])
	}
	taught, err := modelPairOf(t.Context(), own, unlearn.NoOp{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	target, err := modelPairOf(t.Context(), c, unlearn.NoOp{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if taught.Unseen.Before.Rows != 50 || target.Unseen.Before.Rows != 50 || target.Erased.Before.Rows != len(c.Forget) {
		t.Errorf("%d and %d unseen, %d erased", taught.Unseen.Before.Rows, target.Unseen.Before.Rows, target.Erased.Before.Rows)
	}
	// Training and test records of the attack alternate among the judged records.
	original, err := c.TrainedModel(t.Context(), c.Original())
	if err != nil {
		t.Fatal(err)
	}
	all, err := posteriors(c, original.Final, c.Test.X.Gather(c.EvalRows()))
	if err != nil {
		t.Fatal(err)
	}
	first, err := modelPairOf(t.Context(), c, unlearn.NoOp{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(first.Unseen.Before.Row(1), all.Row(2)) || !slices.Equal(target.Unseen.Before.Row(1), all.Row(3)) {
		t.Error("the attacker is taught by records that they are judged on")
	}
	if !slices.Equal(target.Erased.Before.Data, target.Erased.After.Data) {
		t.Error("a model that does nothing says something else afterwards")
	}
}

func TestUploadsAreMeasured(t *testing.T) {
	e := newEnv(t)
	l, err := collectLeaks(t.Context(), e, briefLeakStudy())
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Rows) != 4 {
		t.Fatalf("%d rows", len(l.Rows))
	}
	for _, x := range l.Rows {
		codes := x.Upload != OwnGradients
		if x.Victims != 40 || x.Known != 90 || x.Drawn <= 0 || x.Printed <= 0 || x.ClassMean <= 0 || x.MeanRecord <= x.ClassMean {
			t.Errorf("%+v", x)
		}
		if (x.Coded > 0) != codes || (x.Pair > 0) != codes || (x.Above > 0) != codes {
			t.Errorf("%s: what is of codes alone: %+v", x.Upload, x)
		}
	}
	if err := l.table().Table.Check(); err != nil {
		t.Error(err)
	}
	again, err := collectLeaks(t.Context(), e, briefLeakStudy())
	if err != nil || !slices.Equal(again.Runs, l.Runs) {
		t.Errorf("again: %v, %v", again, err)
	}
}

// Every point of a sweep is its own case with its own job.
func TestSweepsNameTheirCases(t *testing.T) {
	e := newEnv(t)
	for _, w := range []sweep{byShare, byBeta, byRate} {
		for name, base := range map[string]func(Study) Case{"models": backdoorCase, "uploads": ordinaryCase} {
			s, err := w.study("quick", base)
			if err != nil {
				t.Fatal(err)
			}
			ids, settings := map[string]bool{}, map[string]bool{}
			for _, c := range s.Cases {
				id := measurements(e, Study{Cases: []Case{c}, Seeds: 1})[0].ID
				if ids[id] || settings[c.Label] || c.At == 0 {
					t.Errorf("%s, %s: %s is there twice, at %v", w.axis, name, id, c.At)
				}
				ids[id], settings[c.Label] = true, true
			}
			if len(s.Cases) < 3 {
				t.Errorf("%s: %d cases", w.axis, len(s.Cases))
			}
		}
	}
	s, err := byShare.study("quick", backdoorCase)
	if err != nil {
		t.Fatal(err)
	}
	if s.Cases[0].Backdoor().Fraction == s.Cases[1].Backdoor().Fraction || glyphs().Backdoor().Fraction != 0 {
		t.Error("the cases of a sweep share a backdoor")
	}
}

// The figures need only rows.
func TestFiguresOfASweep(t *testing.T) {
	e := newEnv(t)
	s, err := byRate.study("quick", ordinaryCase)
	if err != nil {
		t.Fatal(err)
	}
	l := &leaks{s, e, &paper.Evidence[Leak]{Data: map[string]string{}}}
	ev := &evidence{s, e, &paper.Evidence[Row]{Data: map[string]string{}}}
	for i, c := range s.Cases {
		for seed := range 3 {
			v := float64(i+1) / 10
			for _, kind := range uploadNames() {
				l.Rows = append(l.Rows, Leak{Case: c.Label, Upload: kind, Seed: seed, Drawn: v + float64(seed), ClassMean: 2, Found: v, Pair: 0.5 + v, Before: 0.5})
			}
			for _, a := range c.variants() {
				ev.Rows = append(ev.Rows, Row{Case: c.Label, Variant: a.Label, Seed: seed, Erased: v, Test: 1 - v})
			}
		}
	}
	for _, out := range []*paper.Output{l.reconstructionFigure(figure12, byRate), l.informationFigure(figure11, byRate), ev.curves(figure15, byRate)} {
		if _, err := out.Figure.PNG(); err != nil {
			t.Error(err)
		}
	}
	if text := l.reconstructionFigure(figure12, byRate).Figure.Text(); !strings.Contains(text, "mean of the class") {
		t.Errorf("the floor is not drawn: %s", text)
	}
	out, err := claimsFigure(figure9)
	if err != nil || !strings.Contains(out.Figure.Text(), "with replacement") {
		t.Errorf("%v", err)
	}
}

// The program's measures use masked records: the accuracy, and the reconstruction error, which
// is scored on the codes of masked records and against them. Both are computed here by hand; on
// unmasked records they have other values.
func TestTheProgramsMeasuresAreTakenOnMaskedRecords(t *testing.T) {
	e, of := newEnv(t), briefLeakStudy().Cases[0]
	c, err := e.Lab().Case(t.Context(), of.setting(0))
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := c.Weights(t.Context(), unlearn.NoOp{})
	if err != nil {
		t.Fatal(err)
	}
	seed := engine.Root(lab.UnlearnSeed)
	masked := func(d unlearn.Data) unlearn.Data {
		draw := func(record int) *rand.Rand { return seed.Stream(engine.StreamMask, uint64(record)) }
		x, _, err := privacy.Masking{}.Mask(d.X, d.IDs, draw)
		if err != nil {
			t.Fatal(err)
		}
		d.X = x
		return d
	}
	right := func(d unlearn.Data) float64 {
		said, err := c.Runner.Predict(w, d.X)
		if err != nil {
			t.Fatal(err)
		}
		return train.Accuracy(said.Logits(), d.Y)
	}
	row, forget := &Row{}, withNumbers(c.Problem.Train, c.Forget, 0)
	if err := row.addAccuracies(c, of, w); err != nil {
		t.Fatal(err)
	}
	if inClear := right(forget); row.Masked != right(masked(forget)) || row.Masked == inClear || row.Erased != inClear {
		t.Errorf("right of masked records %v and of records in clear %v, by hand %v and %v", row.Masked, row.Erased, right(masked(forget)), inClear)
	}

	victims := withNumbers(c.Problem.Train, firstN(c.Forget, of.Victims), 0)
	k := attackerView{Case: c, spec: of, engine: e.Engine, seed: attackSeed, weights: w, victims: victims}
	codes := func(d unlearn.Data) array.Matrix[float32] {
		sent, err := unlearn.NewErasure(c.Runner, w, d, nil, seed)
		if err != nil {
			t.Fatal(err)
		}
		return sent.Codes
	}
	coded := func(of, against unlearn.Data) float64 {
		evidence := representation.CodedEvidence{Codes: codes(victims), Records: victims.X, MaskedCodes: codes(of), MaskedRecords: against.X}
		found, err := representation.Reconstruction{}.Coded(t.Context(), e.Engine, evidence, attackSeed)
		if err != nil {
			t.Fatal(err)
		}
		return found.SSE.Value
	}
	u := of.uploadKinds()[1]
	sent, err := k.uploadOf(t.Context(), u, victims)
	if err != nil {
		t.Fatal(err)
	}
	var leak Leak
	if err := k.codedMeasure(t.Context(), &leak, u, representation.Reconstruction{}, sent); err != nil {
		t.Fatal(err)
	}
	hidden := masked(victims)
	if want := coded(hidden, hidden); u.name != WithoutCodes || leak.Coded != want {
		t.Errorf("%s: %v, by hand %v", u.name, leak.Coded, want)
	}
	for what, other := range map[string]float64{"codes in clear": coded(victims, hidden), "records in clear": coded(hidden, victims)} {
		if leak.Coded == other {
			t.Errorf("%v is the value of %s", leak.Coded, what)
		}
	}
}
