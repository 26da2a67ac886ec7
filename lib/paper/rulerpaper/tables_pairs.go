package rulerpaper

// Tables 10 and 11, and the pairwise tests.

import (
	"context"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

var table10 = Recipe{
	ID:    "ruler/table10",
	Title: "RULER Table 10. Bad Teacher beside the four methods",
	Doc: "The paper claims that Bad Teacher, by another mechanism, shows the same negative M2 at every fraction, stable over teacher seeds. " +
		"The rows 'teacher 102' and 'teacher 100' repeat it with other random teachers.",
}

func init() {
	table10.studies = func(_ context.Context, s Scale) ([]Study, error) {
		return []Study{mainStudy(s), teacherStudy(s, 102), teacherStudy(s, 100)}, nil
	}
	table10.make = func(e *Env, s Scale, parts []*Collected) (*Output, error) {
		c := parts[0]
		all := []columns{testColumns("M2 gap", m2), testColumns("M4 rank", m4), effectColumn("ΔM4", "", deltaM4)}
		t := e.variantTable(table10, s, all, parts...)
		add := func(f float64, label string, kind report.Kind, rows []Row) {
			addVariant(t, fractionGroup+percent(f), label, kind, rows, all)
		}
		for _, f := range c.Study.Fractions {
			for _, a := range c.variants() {
				if !a.Control {
					add(f, a.Label, report.Method, rowsOf(c.Rows, a.Label, f))
				}
			}
			for _, p := range parts[1:] {
				add(f, fmt.Sprintf("%s, %s (%d seeds)", BT, p.Study.Name, len(p.Study.Seeds)), report.Method, rowsOf(p.Rows, BT, f))
			}
			for _, a := range controls() {
				add(f, a.Label, report.Control, rowsOf(c.Rows, a.Label, f))
			}
		}
		return &Output{Table: t}, nil
	}
}

var table11 = Recipe{
	ID:    "ruler/table11",
	Title: "RULER Table 11. Bad Teacher against each method",
	Doc: "Paired differences, Bad Teacher less the other, on the data sets' means: signed-rank test with Benjamini-Hochberg over the " +
		"comparisons of a fraction. " +
		"The paper reports a difference from all four methods at 1 % only. The text does not say on which metric; M2 and M4 are both shown.",
}

func init() {
	table11.studies = oneStudy(mainStudy)
	table11.make = func(e *Env, s Scale, parts []*Collected) (*Output, error) {
		c := parts[0]
		t := e.table(table11, s, c)
		t.Columns = []report.Column{{Name: "against"}, {Name: "M2 difference"}, {Name: "p"}, {Name: "p, BH"}, {Name: "M4 difference"}, {Name: "p"},
			{Name: "p, BH"}}
		for _, f := range c.Study.Fractions {
			rows, err := teacherRows(c, f)
			if err != nil {
				return nil, err
			}
			t.Rows = append(t.Rows, rows...)
		}
		return &Output{Table: t}, nil
	}
}

func teacherRows(c *Collected, f float64) ([]report.Row, error) {
	var others []Variant
	for _, a := range c.variants() {
		if a.Label != BT {
			others = append(others, a)
		}
	}
	var out []report.Row
	for _, a := range others {
		out = append(out, report.Row{Kind: kindOf(a), Group: "forget fraction " + percent(f), Cells: []report.Cell{report.Str(a.Label)}})
	}
	for _, m := range []metric{m2, m4} {
		family := make([]ruler.Comparison, len(others))
		var p []float64
		for i, a := range others {
			if c.diverged(BT, f) || c.diverged(a.Label, f) {
				family[i] = ruler.Comparison{Difference: math.NaN()}
				continue
			}
			pair, err := ruler.Pairwise([]ruler.Series{c.series(f, m, BT), c.series(f, m, a.Label)}, ruler.OnDataSets)
			if err != nil {
				return nil, err
			}
			family[i] = pair[0]
			if pair[0].Test != nil {
				p = append(p, pair[0].Test.P)
			}
		}
		adjusted := stats.BenjaminiHochberg(p)
		for i := range family {
			if family[i].Test != nil {
				family[i].Adjusted, adjusted = &adjusted[0], adjusted[1:]
			}
			out[i].Cells = append(out[i].Cells, comparisonCells(family[i], m.Digits)...)
		}
	}
	return out, nil
}

func (c *Collected) series(f float64, m metric, variant string) ruler.Series {
	return ruler.Series{Fraction: f, Metric: m.Name, Method: variant, Obs: observations(rowsOf(c.Rows, variant, f), m)}
}

func comparisonCells(c ruler.Comparison, digits int) []report.Cell {
	if c.Test == nil {
		return []report.Cell{report.Num(c.Difference, digits), report.Gap("n < 5"), report.Gap("n < 5")}
	}
	return []report.Cell{report.Num(c.Difference, digits), report.PVal(c.Test.P), report.PVal(*c.Adjusted)}
}

var pairwise = Recipe{
	ID:    "ruler/pairwise",
	Title: "RULER section 5.3. Methods against each other",
	Doc: "Signed-rank tests of the six pairs of methods on M2, M4, attack accuracy and retain accuracy, with Benjamini-Hochberg over " +
		"the 24 tests of a fraction as in the paper (on data-set means). " +
		"The last column adjusts as the published program does: 54 tests, three fractions by M2, M4 and attack accuracy, paired on data set and seed. " +
		"The paper claims no pair differs on M2, M4 or the attack, and that Fine-Tuning and SCRUB keep more retain accuracy.",
}

func init() {
	pairwise.studies = oneStudy(mainStudy)
	pairwise.make = func(e *Env, s Scale, parts []*Collected) (*Output, error) {
		c := parts[0]
		t := e.table(pairwise, s, c)
		t.Columns = []report.Column{{Name: "pair"}, {Name: "metric"}, {Name: "difference"}, {Name: "p"}, {Name: "p, BH over 24"},
			{Name: "p, BH over 54, per run"}}
		program, err := c.family(c.Study.Fractions, []metric{m2, m4, mia}, ruler.OnRuns)
		if err != nil {
			return nil, err
		}
		for _, f := range c.Study.Fractions {
			family, err := c.family([]float64{f}, []metric{m2, m4, mia, retain}, ruler.OnDataSets)
			if err != nil {
				return nil, err
			}
			for _, x := range family {
				cells := append([]report.Cell{report.Str(x.A + " − " + x.B), report.Str(x.Metric)}, comparisonCells(x, 5)...)
				t.Rows = append(t.Rows, report.Row{Group: "forget fraction " + percent(f), Cells: append(cells, adjustedIn(program, x))})
			}
		}
		return &Output{Table: t}, nil
	}
}

// family are the tests of every pair of the four methods on the given metrics, adjusted
// together. Diverged methods are left out.
func (c *Collected) family(fractions []float64, metrics []metric, pairing ruler.Pairing) ([]ruler.Comparison, error) {
	var series []ruler.Series
	for _, f := range fractions {
		for _, m := range metrics {
			for _, a := range methods() {
				if !c.diverged(a.Label, f) {
					series = append(series, c.series(f, m, a.Label))
				}
			}
		}
	}
	return ruler.Pairwise(series, pairing)
}

// adjustedIn is the adjusted p-value of the same comparison in another family.
func adjustedIn(family []ruler.Comparison, x ruler.Comparison) report.Cell {
	for _, y := range family {
		if y.Fraction == x.Fraction && y.Metric == x.Metric && y.A == x.A && y.B == x.B && y.Adjusted != nil {
			return report.PVal(*y.Adjusted)
		}
	}
	return report.Gap("not in this family")
}
