package alarms

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/audit/judge"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/paper/lenses"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Rates are means over cases, by hand: forgetful models make false alarms, others memories that are found.
func TestRatesAreMeansOverCases(t *testing.T) {
	var all []Answer
	add := func(label string, remembers bool, retrained int, placed, found bool) {
		all = append(all, Answer{Case: label, Lens: "loss", Remembers: remembers, Beside: Beside{Retrained: retrained}, Placed: placed, Accused: found, Memory: found})
	}
	for k := range 4 {
		add("one", false, 2, k != 0, k == 3) // an alarm in four, one that says nothing
		add("one", true, 2, true, k != 1)
		add("one", false, 1, true, true) // beside another number of models
	}
	add("two", false, 2, true, false)
	add("two", true, 2, false, false)
	all = append(all, Answer{Case: "one", Lens: "entropy", Beside: Beside{Retrained: 2}, Accused: true},
		Answer{Case: "two", Lens: "loss", Remembers: true, Beside: Beside{Retrained: 2}, Placed: true, Accused: true}) // pushed away is no memory
	r := rates(all, "loss", Beside{Retrained: 2})
	if r.cases != 2 || r.falseAlarms.Value != 0.125 || r.silent.Value != 0.125 || r.found.Value != 0.375 || r.falseAlarms.Low != 0 || r.found.Over != "cases" {
		t.Errorf("%+v", r)
	}
	if r := rates(all, "loss", Beside{Retrained: 5}); r.cases != 0 {
		t.Errorf("beside five models: %+v", r)
	}
}

// Originals of other seeds are seen where there is a memory, and retrained networks are not: who is who is
// planted, so that exchanged roles fail.
func TestOriginalsAreFoundAndRetrainedNetworksAreNot(t *testing.T) {
	e, store := enginetest.WithStore(t)
	env := &paper.Env{Engine: e, Store: store}
	cases, err := lenses.Cases("quick")
	if err != nil {
		t.Fatal(err)
	}
	s := Study{Scale: "quick", Cases: cases[2:3], Beside: []Beside{{0, false}, {0, true}, {2, true}}, Models: 3}
	ev, err := paper.Collect(t.Context(), env, measurements(env, s))
	if err != nil {
		t.Fatal(err)
	}
	if r := rates(ev.Rows, (audit.Loss{}).Name(), Beside{2, true}); r.cases != 1 || r.falseAlarms.Value != 0 || r.found.Value != 1 {
		t.Errorf("%s: %+v", cases[2].Name, r)
	}
	seeds := map[bool]map[int]bool{false: {}, true: {}}
	for _, a := range ev.Rows {
		seeds[a.Remembers][a.Seed] = true
		if a.Seed < 2 || a.Seed > 4 || (a.Lens == wholeAudit) != (a.Reading == nil) || a.Accused && !a.Placed || a.Memory && !a.Accused {
			t.Errorf("%+v", a)
		}
	}
	if len(seeds[false]) != 3 || len(seeds[true]) != 3 {
		t.Errorf("seeds %v", seeds)
	}
	before, err := paper.Collect(t.Context(), env, measurements(env, Study{Scale: "quick", Cases: cases[2:3], Beside: []Beside{{}}, Models: 2}))
	if err != nil {
		t.Fatal(err)
	}
	compared := map[float64]bool{} // losses of the models of the first seeds, which audits compare with
	for _, a := range before.Rows {
		if a.Lens == (audit.Loss{}).Name() {
			compared[a.Reading.Value] = true
		}
	}
	for _, a := range ev.Rows {
		if a.Lens == (audit.Loss{}).Name() && compared[a.Reading.Value] {
			t.Errorf("%+v is one of the models that audits compare with", a)
		}
	}
	out := show(env, s, ev)
	if err := out.Table.Check(); err != nil {
		t.Error(err)
	}
	if got := fmt.Sprint(out.Table.Provenance.Seeds); got != "[0 1 2 3 4]" { // 0 and 1 are compared with
		t.Errorf("seeds %s", got)
	}
	for _, r := range out.Table.Rows {
		if strings.HasPrefix(r.Group, "without") && strings.Contains(r.Cells[0].Text, "retrained") {
			t.Errorf("%s without retrained models", r.Cells[0].Text)
		}
	}
}

func TestStudiesOfScales(t *testing.T) {
	quick, err := StudyAt("quick")
	if err != nil || len(quick.Cases) < 8 || quick.Models < 5 {
		t.Errorf("%d cases, %d models, %v", len(quick.Cases), quick.Models, err)
	}
	if _, err := StudyAt("hour"); err == nil {
		t.Error("a scale that does not exist")
	}
}

// A case is a case although others have its name: RULER's ten data sets share one, and the cells and the bottleneck of two
// scales. Before, 24 cases of standard scale were 13.
func TestCasesOfOneNameAreNotOne(t *testing.T) {
	for scale, cases := range map[string]int{"quick": 11, "standard": 24, "paper": 24} {
		s, err := StudyAt(scale)
		if err != nil {
			t.Fatal(err)
		}
		var all []Answer
		for _, c := range s.Cases {
			all = append(all, Answer{Case: s.label(c), Lens: "loss"}, Answer{Case: s.label(c), Lens: "loss", Remembers: true})
		}
		if r := rates(all, "loss", Beside{}); r.cases != cases || len(s.Cases) != cases || r.found.N != cases {
			t.Errorf("%s: %d cases of %d", scale, r.cases, len(s.Cases))
		}
	}
}

// A case whose name is its own is called by it, so that its stored answers stay.
func TestACaseWithANameOfItsOwnKeepsIt(t *testing.T) {
	s, err := StudyAt("quick")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Cases {
		if s.label(c) != c.Name {
			t.Errorf("%q is called %q", c.Name, s.label(c))
		}
	}
}

// A reading without a number is none in the store, which holds no NaN.
func TestReadingsWithoutANumberAreNone(t *testing.T) {
	none := math.NaN()
	for want, e := range map[bool]stats.Estimate{true: {Value: 1, Low: 0, High: 2}, false: {Value: none, Low: none, High: none}} {
		if got := finite(e); (got != nil) != want {
			t.Errorf("%v gives %v", e, got)
		}
	}
	if finite(stats.Estimate{Value: 1, Low: none, High: none}) != nil {
		t.Error("a value without an interval")
	}
}

type noMatrix struct{ audit.Matrix }

// An audit beside some models and without inputs has no others, and leaves the evidence as it was.
func TestAnAuditBesideHasNoMore(t *testing.T) {
	e := &judge.Evidence{}
	for _, role := range []audit.Role{audit.Unlearned, audit.Retrained, audit.Original, audit.Retrained, audit.Retrained} {
		e.Models = append(e.Models, &judge.Model{Role: role})
	}
	e.Inputs = noMatrix{}
	for _, b := range []Beside{{0, false}, {2, true}, {5, true}} {
		got := b.evidence(e)
		if n := len(got.ModelsOf(audit.Retrained)); n != min(3, b.Retrained) || len(got.Models) != 2+n || (got.Inputs != nil) != b.Inputs {
			t.Errorf("%s: %d models, %d retrained, inputs %v", b, len(got.Models), n, got.Inputs != nil)
		}
	}
	if len(e.Models) != 5 || e.Inputs == nil {
		t.Error("the evidence has changed")
	}
}
