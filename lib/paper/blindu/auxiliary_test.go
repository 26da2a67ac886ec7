package blindu

import (
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// For every kind of auxiliary records there is a method, a control with the same records and no
// codes, and a labelled row of each.
func TestEveryKindOfAuxiliaryRecordsHasItsRows(t *testing.T) {
	s, err := auxiliaryStudy("quick")
	if err != nil {
		t.Fatal(err)
	}
	c := s.Cases[0]
	variants, sources := c.variants(), unlearn.Sources()
	if c.Backdoor() == nil || len(s.Cases) != 1 || len(variants) != 2+2*len(sources)+2 || len(c.Only) != len(variants) {
		t.Fatalf("%d cases of %d variants for %d kinds", len(s.Cases), len(variants), len(sources))
	}
	of := func(label string) lab.Variant {
		k := slices.IndexFunc(variants, func(a lab.Variant) bool { return a.Label == label && label != "" })
		if k < 0 {
			t.Fatalf("no variant %q", label)
		}
		return variants[k]
	}
	for _, source := range sources {
		control, method := of(auxiliaryLabel(source.Name())), of(blindUOnLabel(source.Name()))
		tuned, is := control.Method.(unlearn.AuxiliaryTuning)
		if !is || !control.Control || defaults.Fill(tuned).Auxiliary != source.Name() {
			t.Errorf("%s: the control is %+v", source.Name(), control)
		}
		blind, is := method.Method.(unlearn.BlindU)
		if !is || method.Control || blind.Masking.Replacement || blind.Unmasked || defaults.Fill(blind).Auxiliary != source.Name() {
			t.Errorf("%s: the method is %+v", source.Name(), method)
		}
	}
	if sum := of(InvertedSum).Method.(unlearn.BlindU); sum.Auxiliary != unlearn.Inverted || sum.Weighting != unlearn.Added {
		t.Errorf("the plain sum is %+v", sum)
	}
	ev := &evidence{s, newEnv(t), &paper.Evidence[Row]{Data: map[string]string{}}}
	for i, a := range variants {
		for seed := range 3 {
			v := float64(i+1) / 100
			ev.Rows = append(ev.Rows, Row{Case: c.Label, Variant: a.Label, Control: a.Control, Seed: seed, Erased: v, Open: 0.2 + v, Retain: 0.4 + v, Test: 0.6 + v})
		}
	}
	table := ev.auxiliary().Table
	if err := table.Check(); err != nil {
		t.Error(err)
	}
	var rows []string
	for _, row := range table.Rows {
		i := slices.IndexFunc(variants, func(a lab.Variant) bool { return a.Label == row.Cells[0].Text })
		rows = append(rows, row.Cells[0].Text)
		if (row.Kind == report.Control) != variants[i].Control {
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

// Records inverted towards the backdoor's class contain its trigger: inverted records are not
// free of what is to be forgotten.
func TestInvertedRecordsShowTheTrigger(t *testing.T) {
	of := briefStudy().Cases[0]
	c, err := newEnv(t).Lab().Case(t.Context(), of.setting(0))
	if err != nil {
		t.Fatal(err)
	}
	m := unlearn.BlindU{Auxiliary: unlearn.Inverted}
	r, err := c.Request(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.PrepareRequest(t.Context(), r)
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
