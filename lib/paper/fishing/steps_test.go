package fishing

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Beside every method that counts epochs stands the same method for the paper's steps, and
// nothing else is in it.
func TestEveryMethodThatCountsEpochsHasAStepMatchedVariant(t *testing.T) {
	for scale, want := range map[string]int{"quick": 10, "hour": 10, "standard": 10} {
		s, err := bySteps(scale)
		if err != nil || len(s.Cases) != 1 {
			t.Fatalf("%s: %d cases, %v", scale, len(s.Cases), err)
		}
		variants := s.Cases[0].variants()
		if len(variants) != 3+2*want {
			t.Errorf("%s: %d variants", scale, len(variants))
		}
		table2 := map[string]lab.Variant{}
		all, _ := StudyAt(scale)
		for _, a := range all.Cases[0].variants() {
			table2[a.Label] = a
		}
		for i := 3; i < len(variants); i += 2 {
			a, b := variants[i], variants[i+1]
			if a.Method != table2[a.Label].Method || a.Control != b.Control || b.Label != a.Label+asManySteps {
				t.Errorf("%s: %s beside %s", scale, b.Label, a.Label)
			}
			if name := a.Method.Info().Name + "-step-matched"; b.Method.Info().Name != name {
				t.Errorf("%s: %s is %s, want %s", scale, b.Label, b.Method.Info().Name, name)
			}
		}
		for _, label := range []string{Ten, Thirty, RetainTuned, Ascended, Dampened, Scrubbed, ScrubbedOne, Contrasted} {
			if !slices.ContainsFunc(variants, func(a lab.Variant) bool { return a.Label == label+asManySteps }) {
				t.Errorf("%s: %s has no step-matched variant", scale, label)
			}
		}
	}
	matched := stepMatched(unlearn.SCRUBLatent{Joint: true}).(unlearn.StepMatched[unlearn.SCRUBLatent])
	if !matched.Of.Joint || matched.Retained != 28094 || matched.Batch != 256 || matched.Records != 0 {
		t.Errorf("%+v", matched)
	}
	if _, err := bySteps("huge"); err == nil {
		t.Error("an unknown scale is taken")
	}
}

// The share is relative to the original and the retrained model of the same seed.
func TestTheShareOfTheWayIsBySeed(t *testing.T) {
	row := func(variant string, seed int, loss float64) Row {
		return Row{Case: "c", Variant: variant, Seed: seed, ForgetRecon: loss}
	}
	ev := &evidence{Evidence: &paper.Evidence[Row]{Rows: []Row{
		row(Original, 0, 100), row(Original, 1, 200), row(Retrained, 0, 110), row(Retrained, 1, 240),
		row("m", 0, 105), row("m", 1, 210), {Case: "d", Variant: Original, Seed: 0, ForgetRecon: 7}, {Case: "d", Variant: Retrained, Seed: 0, ForgetRecon: 7},
	}}}
	way := ev.shareOfWay(func(r Row) float64 { return r.ForgetRecon })
	for variant, want := range map[string][2]float64{Original: {0, 0}, Retrained: {1, 1}, "m": {0.5, 0.25}} {
		for seed, r := range ev.rowsOf("c", variant) {
			if got := way(r); got != want[seed] {
				t.Errorf("%s, seed %d: %v, want %v", variant, seed, got, want[seed])
			}
		}
	}
	if got := ev.shareOfWay(func(r Row) float64 { return r.ForgetRecon })(ev.Rows[6]); !math.IsNaN(got) {
		t.Errorf("between two equal models the way is %v", got)
	}
}

// PBMC-3k's 2,289 cells are 9 batches, and so are 2,258 of them: 900 steps for the paper's
// 11,000, and 90 for 1,100. The note follows the settings, and there is none at the paper's rate.
func TestTheNoteOfStepsFollowsTheSettings(t *testing.T) {
	c := pbmc3k("dendritic cells", "DC", 100)
	for want, got := range map[string]string{
		"trained at 0.001, 10 times the paper's rate, for 900 steps where the paper's PBMC-33k takes 11000. ":  trainingNote(c, 2289, 2258),
		"keep the paper's rate, 0.0001, and its numbers of epochs: 10 epochs are 90 steps where it takes 1100": trainingNote(c, 2289, 2258),
		"for 1700 steps":                  trainingNote(c, 4300, 4000),
		"10 epochs are 160 steps":         trainingNote(c, 4300, 4000),
		"for 360 steps where the paper's": trainingNote(pbmc3k("", "", 40), 2289, 2258),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if got := trainingNote(pbmc33k(), 28124, 28094); got != "" {
		t.Errorf("at the paper's rate the note is %q", got)
	}
	a, b := c, c
	a.Label, b.Label = "a", "b"
	notes := groupNotes([]Case{a, {Label: "none"}, b}, func(c Case) string {
		if c.Label == "none" {
			return ""
		}
		return "same"
	})
	if !slices.Equal(notes, []string{"a; b: same"}) {
		t.Errorf("%q", notes)
	}
}

// From cells to the table of steps: every row has its steps and its share of the way, and a
// step-matched method takes as many steps as the paper's.
func TestTheTableOfSteps(t *testing.T) {
	s := briefStudy()
	c := &s.Cases[0]
	c.Only = []string{Original, Retrained, OtherSeed}
	short := unlearn.RetainTuning{Epochs: 2, Patience: 2}
	c.Also = []lab.Variant{{Label: Ten, Method: short, Control: true}, {Label: Ten + asManySteps, Method: matchSteps(short), Control: true}}
	ev, err := collect(t.Context(), newEnv(t), s)
	if err != nil {
		t.Fatal(err)
	}
	table := ev.steps().Table
	if err := table.Check(); err != nil || len(table.Rows) != 5 {
		t.Fatalf("%d rows, %v", len(table.Rows), err)
	}
	r := ev.rowsOf(c.Label, Ten)[0]
	perEpoch := batchesOf(r.Sizes.Train-r.Forget, c.Fit.Batch)
	epochs := int(math.Round(2 * 110 / float64(perEpoch)))
	if got, want := ev.rowsOf(c.Label, Ten+asManySteps)[0].Steps, epochs*perEpoch; got != want || r.Steps != 2*perEpoch {
		t.Errorf("%d steps, as many as the paper's %d, want %d", r.Steps, got, want)
	}
	if text := table.Rows[4].Cells[1].Text; text != fmt.Sprint(epochs*perEpoch) {
		t.Errorf("the row says %q steps", text)
	}
	if v := *table.Rows[1].Cells[3].Value; v != 1 || *table.Rows[0].Cells[3].Value != 0 || table.Rows[3].Kind != report.Control {
		t.Errorf("the retrained model's way is %v", v)
	}
}

// The privacy spent follows from the steps taken, in the row and in the note; without noise it
// is infinite, and other methods have none.
func TestTheRowHasWhatWasSpent(t *testing.T) {
	s := briefStudy()
	s.Seeds = 1
	c := &s.Cases[0]
	c.Only = []string{Original, Retrained, OtherSeed}
	c.Also = []lab.Variant{
		{Label: Private, Method: unlearn.DPRetrain{Epochs: 3}}, {Label: PrivateExact, Method: unlearn.DPRetrain{Epochs: 3, Exact: true}},
		{Label: Unnoised, Method: unlearn.DPRetrain{Epochs: 3, Noise: new(0.0)}}, {Label: UnnoisedExact, Method: unlearn.DPRetrain{Epochs: 3, Exact: true, Noise: new(0.0)}},
	}
	ev, err := collect(t.Context(), newEnv(t), s)
	if err != nil {
		t.Fatal(err)
	}
	retained := ev.Rows[0].Sizes.Train - ev.Rows[0].Forget
	of := func(variant string) *Spending { return ev.rowsOf(c.Label, variant)[0].Private }
	for variant, cells := range map[string]int{Private: retained - min(1000, retained/10), PrivateExact: retained} {
		p, k := of(variant), batchesOf(cells, 64)
		if p.Cells != cells || p.Steps != 3*k || math.Abs(p.Rate-1/float64(k)) > 1e-12 {
			t.Errorf("%s: %+v, of %d cells", variant, p, cells)
		}
		spentBy(t, variant, p)
	}
	if e := *of(PrivateExact).RDP; e > 10 || e < 9.99 {
		t.Errorf("exactly, epsilon is %v", e)
	}
	for with, without := range map[string]string{Private: Unnoised, PrivateExact: UnnoisedExact} {
		a, b := of(with), of(without)
		if b.RDP != nil || b.Tight != nil || b.Noise != 0 || b.Cells != a.Cells || b.Rate != a.Rate || b.Steps != a.Steps {
			t.Errorf("%s: %+v, with noise %+v", without, b, a)
		}
	}
	for _, variant := range []string{Original, Retrained, OtherSeed} {
		if of(variant) != nil {
			t.Errorf("%s is private: %+v", variant, of(variant))
		}
	}
	for _, out := range []*paper.Output{ev.table2(), ev.table6(), ev.weights()} {
		at := slices.IndexFunc(out.Table.Columns, func(c report.Column) bool { return c.Name == "epsilon" })
		if err := out.Table.Check(); err != nil || at < 0 {
			t.Fatalf("%s: column %d, %v", out.Table.ID, at, err)
		}
		for _, row := range out.Table.Rows {
			label, text := row.Cells[0].Text, row.Cells[at].Text
			switch {
			case strings.Contains(label, "no noise"):
				if text != "infinite" {
					t.Errorf("%s: %q", label, text)
				}
			case strings.HasPrefix(label, "DP-SGD"):
				if want := fmt.Sprintf("%.2f; ", *of(label).RDP); !strings.HasPrefix(text, want) {
					t.Errorf("%s: %q does not begin with %q", label, text, want)
				}
			case strings.ContainsAny(text, "0123456789"):
				t.Errorf("%s claims epsilon %q", label, text)
			}
		}
		if notes := strings.Join(out.Table.Notes, " "); !strings.Contains(notes, fmt.Sprintf("%s: %d of %d retained cells", PrivateExact, retained, retained)) {
			t.Errorf("%s: the notes do not say how many cells: %q", out.Table.ID, notes)
		}
	}
}

// A method is compared with the fine-tuning of its own seed, and no other.
func TestWhatAMethodAddsToTraining(t *testing.T) {
	c := Case{Label: "cells"}
	ev := &evidence{Study: Study{Cases: []Case{c}}, Evidence: &paper.Evidence[Row]{}}
	for seed, loss := range []float64{100, 300} {
		for variant, way := range map[string]float64{Original: 0, Retrained: 1, Ten: 0.1, Scrubbed: 0.4, RetainTuned: 0.25 + 0.05*float64(seed)} {
			ev.Rows = append(ev.Rows, Row{Case: c.Label, Variant: variant, Seed: seed, ForgetRecon: loss * (1 + way)})
		}
	}
	notes := ev.beyondTraining(ev.shareOfWay(func(r Row) float64 { return r.ForgetRecon }))
	if len(notes) != 1 {
		t.Fatalf("%q", notes)
	}
	for _, want := range []string{"SCRUB less fine-tuning, 10 epochs: 0.30", "SCRUB less retain fine-tuning: 0.13", "300 steps of its own", "n = 2"} {
		if !strings.Contains(notes[0], want) {
			t.Errorf("no %q in %s", want, notes[0])
		}
	}
	if strings.Contains(notes[0], Ascended) {
		t.Errorf("a method without rows is compared: %s", notes[0])
	}
}
