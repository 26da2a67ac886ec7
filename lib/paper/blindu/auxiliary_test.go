package blindu

import (
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Of every kind of auxiliary records there is a method, beside it the control that has
// the same records and no codes, and a row of each that says which it is.
func TestEveryKindOfAuxiliaryRecordsHasItsRows(t *testing.T) {
	s, err := kindsOfRecords("quick")
	if err != nil {
		t.Fatal(err)
	}
	c := s.Cases[0]
	arms, sources := c.arms(), unlearn.Sources()
	if c.Backdoor == nil || len(s.Cases) != 1 || len(arms) != 2+2*len(sources)+2 || len(c.Only) != len(arms) {
		t.Fatalf("%d cases of %d arms for %d kinds", len(s.Cases), len(arms), len(sources))
	}
	of := func(label string) lab.Arm {
		k := slices.IndexFunc(arms, func(a lab.Arm) bool { return a.Label == label && label != "" })
		if k < 0 {
			t.Fatalf("no arm %q", label)
		}
		return arms[k]
	}
	for _, source := range sources {
		control, method := of(alone(source.Name())), of(blindlyOn(source.Name()))
		tuned, is := control.Method.(unlearn.AuxiliaryTuning)
		if !is || !control.Control || tuned.Resolved().(unlearn.AuxiliaryTuning).Auxiliary != source.Name() {
			t.Errorf("%s: the control is %+v", source.Name(), control)
		}
		blind, is := method.Method.(unlearn.BlindU)
		if !is || method.Control || blind.Masking.Replacement || blind.Unmasked || blind.Resolved().(unlearn.BlindU).Auxiliary != source.Name() {
			t.Errorf("%s: the method is %+v", source.Name(), method)
		}
	}
	if sum := of(InvertedSum).Method.(unlearn.BlindU); sum.Auxiliary != unlearn.Inverted || sum.Weighing != unlearn.Added {
		t.Errorf("the plain sum is %+v", sum)
	}
	ev := &evidence{s, environment(t), &paper.Evidence[Row]{Data: map[string]string{}}}
	for i, a := range arms {
		for seed := range 3 {
			v := float64(i+1) / 100
			ev.Rows = append(ev.Rows, Row{Case: c.Label, Arm: a.Label, Control: a.Control, Seed: seed, Erased: v, Open: 0.2 + v, Retain: 0.4 + v, Test: 0.6 + v})
		}
	}
	table := ev.auxiliary().Table
	if err := table.Check(); err != nil {
		t.Error(err)
	}
	var rows []string
	for _, row := range table.Rows {
		i := slices.IndexFunc(arms, func(a lab.Arm) bool { return a.Label == row.Cells[0].Text })
		rows = append(rows, row.Cells[0].Text)
		if (row.Kind == report.Control) != arms[i].Control {
			t.Errorf("%s is of kind %q", row.Cells[0].Text, row.Kind)
		}
		for k, from := range []float64{0, 0.2, 0.4, 0.6} {
			if got, want := row.Cells[1+k].Value, from+float64(i+1)/100; got == nil || *got < want-1e-9 || *got > want+1e-9 {
				t.Errorf("%s, %s: %v, want %v", row.Cells[0].Text, table.Columns[1+k].Name, row.Cells[1+k], want)
			}
		}
	}
	if !slices.Equal(rows, c.Only) {
		t.Errorf("the rows %q", strings.Join(rows, ", "))
	}
}

// What a model takes for the class that its backdoor gives has the backdoor's trigger on
// it: inverted records are not free of what is to be forgotten.
func TestInvertedRecordsShowTheTrigger(t *testing.T) {
	of := brief().Cases[0]
	c, err := environment(t).Lab().Case(t.Context(), of.at(0))
	if err != nil {
		t.Fatal(err)
	}
	m := unlearn.BlindU{Auxiliary: unlearn.Inverted}
	r, err := c.Request(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Ask(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	bright, n := map[bool]float64{}, map[bool]float64{}
	for i, y := range b.Auxiliary.Y {
		target := y == 2
		n[target] += 4
		for _, pixel := range []int{12*16 + 12, 12*16 + 13, 13*16 + 12, 13*16 + 13} {
			bright[target] += float64(b.Auxiliary.X.Row(i)[pixel])
		}
	}
	if on, off := bright[true]/n[true], bright[false]/n[false]; on < 0.6 || off > 0.5 {
		t.Errorf("the trigger's pixels are %v bright in its class and %v in others", on, off)
	}
}
