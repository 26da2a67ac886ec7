package rulerpaper

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/paper"
)

// textCollected has M4 of a method, of the oracle and of one of another seed, for five seeds.
func textCollected(method, other [5]float64) *Collected {
	c := &Collected{Study: Study{Name: "texts", DataSets: []string{"mtsamples"}, Fractions: []float64{0.05},
		Variants: []Variant{{Label: NG}, {Label: OtherOracle, Control: true}, {Label: Destroyed, Control: true}}}}
	for seed := range method {
		for label, m4 := range map[string]float64{NG: method[seed], OtherOracle: other[seed], Oracle: 0.07, Destroyed: 0.9} {
			c.Rows = append(c.Rows, Row{DataSet: "mtsamples", Variant: label, Fraction: 0.05, Seed: seed, M4: m4, TextEvidence: &TextEvidence{WithCopy: 3}})
		}
	}
	return c
}

// The note counts methods apart from the oracle of another seed, before and after correction. The p of the
// differences -0.04, -0.05, -0.02, -0.03, -0.06 is 0.0048: t is
// -4 sqrt(2), and with 4 degrees of freedom p = 1 - (3/4) (|t|/3) (1 - 32/108). It is above 0.05/20.
func TestTheNoteOnM4CountsWhatDiffers(t *testing.T) {
	far, same := [5]float64{0.03, 0.02, 0.05, 0.04, 0.01}, [5]float64{0.07, 0.07, 0.07, 0.07, 0.07}
	for _, c := range []struct {
		parts []*Collected
		want  string
	}{
		{[]*Collected{textCollected(far, same)}, "in 1 of 1 comparisons, after Bonferroni's correction for them in 1; that of the oracle of another seed, uncorrected, in 0 of 1."},
		{[]*Collected{textCollected(same, far)}, "in 0 of 1 comparisons, after Bonferroni's correction for them in 0; that of the oracle of another seed, uncorrected, in 1 of 1."},
	} {
		if note := m4Note(c.parts); !strings.HasSuffix(note, c.want) {
			t.Errorf("%q, want %q", note, c.want)
		}
	}
	parts := []*Collected{textCollected(far, same)}
	for range 19 {
		parts = append(parts, textCollected(same, same))
	}
	if note := m4Note(parts); !strings.Contains(note, "in 1 of 20 comparisons, after Bonferroni's correction for them in 0;") {
		t.Error(note)
	}
	if p := fmt.Sprintf("%.4f", textCollected(far, same).pOfM4(NG, 0.05)); p != "[0.0048]" {
		t.Errorf("p = %s", p)
	}
	lost := textCollected(far, same)
	for i := range lost.Rows {
		if lost.Rows[i].Variant == NG && lost.Rows[i].Seed == 2 {
			lost.Rows[i].setNaN()
		}
	}
	if note := m4Note([]*Collected{lost, textCollected(far, same)}); !strings.Contains(note, "in 1 of 1 comparisons") {
		t.Errorf("what diverged is compared: %s", note)
	}
}

// What was not measured on texts is an empty field of the values, and not 0.
func TestValuesOfTextsLeaveOutWhatWasNotMeasured(t *testing.T) {
	c := &Collected{Study: Study{Name: "s"}, Evidence: paper.Evidence[Row]{Rows: []Row{
		{Variant: NG, TextEvidence: &TextEvidence{WithCopy: 2, M4WithCopy: 0.25}},
		{Variant: SC, TextEvidence: &TextEvidence{Without: 2}},
		{Variant: FT, ForgetAcc: 0.5},
	}}}
	var b bytes.Buffer
	if err := runsOf([]*Collected{c}).CSV(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	at := map[string]int{}
	for i, name := range strings.Split(lines[0], ",") {
		at[name] = i
	}
	for line, want := range map[int]map[string]string{
		1: {"forget_accuracy": "", "test_accuracy": "", "m4_with_copy": "0.25", "m4_without": "", "m4": "0", "n_without": "0"},
		2: {"retain_accuracy": "", "m4_with_copy": "", "m4_without": "0"},
		3: {"forget_accuracy": "0.5", "retain_accuracy": "0", "m4_with_copy": ""},
	} {
		fields := strings.Split(lines[line], ",")
		for name, value := range want {
			if got := fields[at[name]]; got != value {
				t.Errorf("line %d: %s is %q, want %q", line, name, got, value)
			}
		}
	}
}
