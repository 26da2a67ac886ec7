package rulerpaper

import (
	"strings"
	"testing"
)

// Two data sets, one fraction, two forget sets, two training seeds. In "a" one
// combination of seed 1 is not negative, in "b" all are.
func TestTable9CountsCombinationsOverForgetSetsAndSeeds(t *testing.T) {
	c := &Collected{Study: Study{DataSets: []string{"a", "b"}, Fractions: []float64{0.05}, Seeds: []int{0, 1}, ForgetSeeds: []uint32{1, 2}}}
	for _, d := range c.Study.DataSets {
		for _, seed := range c.Study.Seeds {
			for i, set := range c.Study.ForgetSeeds {
				for j, a := range append(methods()[:2], controls()...) {
					r := Row{DataSet: d, Variant: a.Label, Control: a.Control, Fraction: 0.05, Seed: seed, ForgetSeed: set, Forget: 9}
					r.M2 = -1 - float64(10*seed) - float64(i*(j+1)) // SD over forget sets: (j+1)/sqrt 2
					if d == "a" && seed == 1 && i == 1 && a.Label == GA || a.Label == OtherOracle && seed == 0 {
						r.M2 = 1
					}
					c.Rows = append(c.Rows, r)
				}
			}
		}
	}
	for _, k := range []struct {
		set  string
		want []string
	}{
		{"a", []string{"a", "5 %", "9", "7/8", "1/2", "4/4", "4/4", "2/4"}},
		{"b", []string{"b", "5 %", "9", "8/8", "2/2", "4/4", "4/4", "2/4"}},
	} {
		row := c.forgetSetRow(k.set, 0.05)
		for i, w := range k.want {
			if got := row.Cells[i].Text; got != w {
				t.Errorf("%s, column %d: %s, want %s", k.set, i, got, w)
			}
		}
	}
	for i, want := range []string{"15/16", "3/4", "8/8", "8/8", "4/8"} {
		if got := negativeCells(c.Rows)[i].Text; got != want {
			t.Errorf("all sets, column %d: %s, want %s", i, got, want)
		}
	}
	// Of b: 1/sqrt 2 for one method, 2/sqrt 2 for the other, with either seed.
	if got := *c.forgetSetRow("b", 0.05).Cells[8].Value; got < 1.0606 || got > 1.0607 {
		t.Errorf("the median standard deviation is %v, want 1.5/sqrt 2", got)
	}
	want := "negative in 2, 1 of 2 cells, by training seed: 1.5 on average, 1 to 2 (paper, one seed: 21 of 30). With all 2 seeds at once in 1."
	if got := c.allNegative(); !strings.HasSuffix(got, want) {
		t.Errorf("%q does not end in %q", got, want)
	}
}
