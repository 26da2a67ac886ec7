package rulerpaper

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
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
	out, err := table9.make(envOf(&paper.Env{}), Scale{Name: "paper"}, []*Collected{c})
	if err != nil || out.Table.Check() != nil || len(out.Table.Rows) != 3 {
		t.Fatalf("%+v, %v", out, err)
	}
	for i, want := range [][]string{
		{"a", "5 %", "9", "7/8", "1/2", "4/4", "4/4", "2/4"},
		{"b", "5 %", "9", "8/8", "2/2", "4/4", "4/4", "2/4"},
		{"all", "all", "", "15/16", "3/4", "8/8", "8/8", "4/8", "", "", ""},
	} {
		for k, w := range want {
			if got := out.Table.Rows[i].Cells[k].Text; got != w {
				t.Errorf("row %d, %s: %s, want %s", i, out.Table.Columns[k].Name, got, w)
			}
		}
	}
	// Of b: 1/sqrt 2 for one method, 2/sqrt 2 for the other, with either seed.
	if got := *out.Table.Rows[1].Cells[8].Value; got < 1.0606 || got > 1.0607 {
		t.Errorf("the median standard deviation is %v, want 1.5/sqrt 2", got)
	}
	want := "negative in 2, 1 of 2 cells, by training seed: 1.5 on average, 1 to 2 (paper, one seed: 21 of 30). With all 2 seeds at once in 1."
	if got := c.allNegative(); !strings.HasSuffix(got, want) {
		t.Errorf("%q does not end in %q", got, want)
	}
}

// A column of Tables 7 and 12 and of the gallery is of one study and, in Table 12, of one data set; a rate holds
// where M2 is below 0 and M4 above one half.
func TestColumnsOfSeveralStudiesTellThemApart(t *testing.T) {
	s := tiny()
	collect := func(r Recipe, m4 func(study, set, variant int) float64) *report.Table {
		t.Helper()
		studies, err := r.studies(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		var parts []*Collected
		for i, study := range studies {
			study.DataSets = []string{"a", "b"}
			c := &Collected{Study: study}
			for d, set := range study.DataSets {
				for k, a := range study.Variants {
					value := m4(i, d, k)
					c.Rows = append(c.Rows, Row{DataSet: set, Variant: a.Label, Control: a.Control, Fraction: 0.05, M4: value, M2: value - 0.6, study: study.Name})
				}
			}
			parts = append(parts, c)
		}
		out, err := r.make(envOf(&paper.Env{}), s, parts)
		if err != nil || out.Table.Check() != nil {
			t.Fatal(err, out)
		}
		return out.Table
	}
	value := func(study, set, variant int) float64 {
		return 0.45 + 0.04*float64(study) + 0.01*float64(set) + 0.001*float64(variant)
	}
	near := func(c report.Cell, want float64) bool {
		return c.Value != nil && *c.Value > want-1e-9 && *c.Value < want+1e-9
	}

	table, variants := collect(table7, value), len(learningRateStudy(s, mainRate, false).Variants)
	for i, row := range table.Rows {
		block, set, variant := i/(2*variants), i/variants%2, i%variants
		holds := 0
		for k := range learningRates {
			want := value(3*block+k, set, variant)
			holds += count(want-0.6 < 0 && want > 0.5)
			if !near(row.Cells[2+k], want-0.6) || !near(row.Cells[2+len(learningRates)+k], want) {
				t.Errorf("Table 7, row %d, %s: %+v, want %v", i, table.Columns[2+k].Name, row.Cells, want)
			}
		}
		if text := row.Cells[len(row.Cells)-1].Text; text != fmt.Sprintf("%d/3", holds) || row.Cells[0].Text != []string{"a", "b"}[set] {
			t.Errorf("Table 7, row %d of data set %s holds in %s, want %d", i, row.Cells[0].Text, text, holds)
		}
	}
	table = collect(table12, value)
	for i, row := range table.Rows {
		for k := range 2 * len(architectures) {
			if want := value(k%len(architectures), k/len(architectures), i); !near(row.Cells[1+k], want) {
				t.Errorf("Table 12, row %d, %s: %+v, want %v", i, table.Columns[1+k].Name, row.Cells[1+k], want)
			}
		}
	}
	table, variants = collect(gallery, value), len(galleryStudy(s).Variants)
	for i, row := range table.Rows {
		full, capped := value(0, i/variants, i%variants), value(1, i/variants, i%variants)
		for k, want := range []float64{capped, full, full - capped, capped, full} { // the oracle's M4 is 0 here
			if !near(row.Cells[2+k], want) {
				t.Errorf("gallery, row %d, %s: %+v, want %v", i, table.Columns[2+k].Name, row.Cells[2+k], want)
			}
		}
	}
}
