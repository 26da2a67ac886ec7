package ruler

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

var table10 = Recipe{
	ID:    "ruler/table10",
	Title: "RULER Table 10. Bad Teacher beside the four methods",
	Doc: "The paper claims that Bad Teacher, by another mechanism, shows the same negative M2 at every fraction, stable over teacher seeds. " +
		"The rows 'teacher 102' and 'teacher 100' repeat it with other random teachers.",
}

func init() {
	table10.make = func(ctx context.Context, e *Env, s Scale) (*Output, error) {
		c, err := e.Collect(ctx, mainStudy(s))
		if err != nil {
			return nil, err
		}
		parts := []*Collected{c}
		for _, seed := range []int{102, 100} {
			other, err := e.Collect(ctx, teacherStudy(s, seed))
			if err != nil {
				return nil, err
			}
			parts = append(parts, other)
		}
		t := e.table(table10, s, parts...)
		t.Columns = append([]report.Column{{Name: "arm"}}, effectColumns("M2 gap")...)
		t.Columns = append(t.Columns, effectColumns("M4 rank")...)
		t.Columns = append(t.Columns, report.Column{Name: "ΔM4"})
		add := func(f float64, label string, kind report.Kind, rows []Row) {
			cells := append([]report.Cell{report.Str(label)}, effectOf(rows, m2).cells(m2.Digits)...)
			cells = append(cells, effectOf(rows, m4).cells(m4.Digits)...)
			t.Rows = append(t.Rows, report.Row{Kind: kind, Group: "forget fraction " + percent(f), Cells: append(cells, report.Est(effectOf(rows, deltaM4).estimate(), 4))})
		}
		for _, f := range c.Study.Fractions {
			for _, a := range c.arms() {
				if !a.Control {
					add(f, a.Label, report.Method, of(c.Rows, a.Label, f))
				}
			}
			for _, p := range parts[1:] {
				add(f, fmt.Sprintf("%s, %s (%d seeds)", BT, p.Study.Name, len(p.Study.Seeds)), report.Method, of(p.Rows, BT, f))
			}
			for _, a := range controls() {
				add(f, a.Label, report.Control, of(c.Rows, a.Label, f))
			}
		}
		return &Output{Table: t}, nil
	}
}

var table11 = Recipe{
	ID:    "ruler/table11",
	Title: "RULER Table 11. Bad Teacher against each method",
	Doc: "Paired differences, Bad Teacher less the other, on the data sets' means: signed-rank test with Benjamini-Hochberg over the comparisons of a fraction. " +
		"The paper reports a difference from all four methods at 1 % only. The text does not say on which metric; M2 and M4 are both shown.",
}

func init() {
	table11.make = func(ctx context.Context, e *Env, s Scale) (*Output, error) {
		c, err := e.Collect(ctx, mainStudy(s))
		if err != nil {
			return nil, err
		}
		t := e.table(table11, s, c)
		t.Columns = []report.Column{{Name: "against"}, {Name: "M2 difference"}, {Name: "p"}, {Name: "p, BH"}, {Name: "M4 difference"}, {Name: "p"}, {Name: "p, BH"}}
		for _, f := range c.Study.Fractions {
			t.Rows = append(t.Rows, teacherRows(c, f)...)
		}
		return &Output{Table: t}, nil
	}
}

func teacherRows(c *Collected, f float64) []report.Row {
	var others []Arm
	for _, a := range c.arms() {
		if a.Label != BT {
			others = append(others, a)
		}
	}
	var columns [][]comparison
	for _, m := range []metric{m2, m4} {
		var col []comparison
		for _, a := range others {
			col = append(col, compare(c, f, m, BT, a.Label))
		}
		adjust(col)
		columns = append(columns, col)
	}
	var out []report.Row
	for i, a := range others {
		cells := []report.Cell{report.Str(a.Label)}
		for k, m := range []metric{m2, m4} {
			cells = append(cells, columns[k][i].cells(m.Digits)...)
		}
		out = append(out, report.Row{Kind: a.kind(), Group: "forget fraction " + percent(f), Cells: cells})
	}
	return out
}

// comparison is a paired test of two arms on data-set means.
type comparison struct {
	diff     stats.Estimate
	p, adj   float64
	err      error
	arm, vs  string
	metricOf string
}

func compare(c *Collected, f float64, m metric, arm, against string) comparison {
	_, a := byDataSet(of(c.Rows, arm, f), m)
	_, b := byDataSet(of(c.Rows, against, f), m)
	return paired(a, b, m, arm, against, "data sets")
}

func paired(a, b []float64, m metric, arm, against, over string) comparison {
	diff := make([]float64, len(a))
	for i := range a {
		diff[i] = a[i] - b[i]
	}
	out := comparison{diff: stats.MeanInterval(diff, 0.95, over).Against(0, stats.NearNull), p: 1, arm: arm, vs: against, metricOf: m.Name}
	w, err := stats.Wilcoxon(diff)
	if err != nil {
		out.err = err // no difference anywhere: nothing to test
		return out
	}
	out.p = w.P
	return out
}

// adjust fills in the Benjamini-Hochberg values of a family of comparisons.
func adjust(family []comparison) {
	p := make([]float64, len(family))
	for i, c := range family {
		p[i] = c.p
	}
	for i, q := range stats.BenjaminiHochberg(p) {
		family[i].adj = q
	}
}

func (c comparison) cells(digits int) []report.Cell {
	if c.err != nil {
		return []report.Cell{report.Est(c.diff, digits), report.Gap("no difference"), report.Gap("no difference")}
	}
	return []report.Cell{report.Est(c.diff, digits), report.PVal(c.p), report.PVal(c.adj)}
}

var pairwise = Recipe{
	ID:    "ruler/pairwise",
	Title: "RULER section 5.3. Methods against each other",
	Doc: "Signed-rank tests of the six pairs of methods on M2, M4, attack accuracy and retain accuracy, with Benjamini-Hochberg over the 24 tests of a fraction as in the paper (on data-set means). " +
		"The last column adjusts as the published program does: 54 tests, three fractions by M2, M4 and attack accuracy, paired on data set and seed. " +
		"The paper claims no pair differs on M2, M4 or the attack, and that Fine-Tuning and SCRUB keep more retain accuracy.",
}

func init() {
	pairwise.make = func(ctx context.Context, e *Env, s Scale) (*Output, error) {
		c, err := e.Collect(ctx, mainStudy(s))
		if err != nil {
			return nil, err
		}
		t := e.table(pairwise, s, c)
		t.Columns = []report.Column{{Name: "pair"}, {Name: "metric"}, {Name: "difference"}, {Name: "p"}, {Name: "p, BH over 24"}, {Name: "p, BH over 54, per run"}}
		program := programFamily(c)
		for _, f := range c.Study.Fractions {
			family := pairFamily(c, f)
			for _, x := range family {
				cells := append([]report.Cell{report.Str(x.arm + " − " + x.vs), report.Str(x.metricOf)}, x.cells(5)...)
				if q, ok := program[programKey{f, x.metricOf, x.arm, x.vs}]; ok {
					cells = append(cells, report.PVal(q))
				} else {
					cells = append(cells, report.Gap("not among the 54"))
				}
				t.Rows = append(t.Rows, report.Row{Group: "forget fraction " + percent(f), Cells: cells})
			}
		}
		return &Output{Table: t}, nil
	}
}

// pairFamily are the paper's 24 tests at one fraction.
func pairFamily(c *Collected, f float64) []comparison {
	var family []comparison
	for _, m := range []metric{m2, m4, mia, retain} {
		for i, a := range methods() {
			for _, b := range methods()[i+1:] {
				family = append(family, compare(c, f, m, a.Label, b.Label))
			}
		}
	}
	adjust(family)
	return family
}

type programKey struct {
	fraction       float64
	metric, arm, b string
}

// programFamily are the published program's 54 adjusted p-values.
func programFamily(c *Collected) map[programKey]float64 {
	var keys []programKey
	var family []comparison
	for _, f := range c.Study.Fractions {
		for _, m := range []metric{m2, m4, mia} {
			for i, a := range methods() {
				for _, b := range methods()[i+1:] {
					x, y := values(of(c.Rows, a.Label, f), m.Value), values(of(c.Rows, b.Label, f), m.Value)
					family = append(family, paired(x, y, m, a.Label, b.Label, "runs"))
					keys = append(keys, programKey{f, m.Name, a.Label, b.Label})
				}
			}
		}
	}
	adjust(family)
	out := map[programKey]float64{}
	for i, k := range keys {
		out[k] = family[i].adj
	}
	return out
}
