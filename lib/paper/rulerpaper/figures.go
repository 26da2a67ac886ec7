package rulerpaper

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/plot"
)

// effectForest draws one metric of every variant and fraction with its interval.
func effectForest(e *Env, r Recipe, s Scale, c *Collected, m metric) plot.Figure {
	f := plot.Forest{Meta: e.meta(r, s, c), X: plot.Axis{Label: m.Name}, Null: &plot.Null{Value: m.Null}, Digits: m.Digits}
	f.Caption = "Negative values are read as memory of the forget set. 'do nothing' is the original model, of which nothing was unlearned; " +
		"five epochs of fine-tuning never see the forget set. p: mixed model, Student's t with one degree of freedom per data set less one."
	for _, fraction := range c.Study.Fractions {
		for _, a := range c.variants() {
			if a.Label == OtherOracle || a.Label == Destroyed || a.Label == Oracle {
				continue // on another scale, or zero by definition; the table has them
			}
			eff := newEffect(rowsOf(c.Rows, a.Label, fraction), m)
			row := plot.ForestRow{Group: "forget fraction " + percent(fraction), Label: a.Label, Control: a.Control}
			if eff.err != nil {
				row.Missing = eff.err.Error()
				f.Rows = append(f.Rows, row)
				continue
			}
			row.Estimate = eff.Mean
			if eff.Mixed != nil {
				p := eff.Mixed.PT
				row.P = &p
			}
			f.Rows = append(f.Rows, row)
		}
	}
	return f
}

// strips draws one metric's runs, a group per data set and a series per variant.
func strips(c *Collected, m metric, fraction float64, variants []Variant) plot.Strips {
	f := plot.Strips{X: plot.Axis{Label: "data set"}, Y: plot.Axis{Label: m.Name}, Groups: c.Study.DataSets, Null: &plot.Null{Value: m.Null}}
	for _, a := range variants {
		series := plot.StripSeries{Name: a.Label, Control: a.Control}
		rows := rowsOf(c.Rows, a.Label, fraction)
		for _, d := range c.Study.DataSets {
			series.Values = append(series.Values, values(filter(rows, func(r Row) bool { return r.DataSet == d }), m.Value))
		}
		f.Series = append(f.Series, series)
	}
	return f
}

func variantsNamed(labels ...string) []Variant {
	var out []Variant
	for _, l := range labels {
		for _, a := range append(append(methods(), Variant{Label: BT}), controls()...) {
			if a.Label == l {
				out = append(out, a)
			}
		}
	}
	return out
}

var figure5 = Recipe{
	ID:    "ruler/figure5",
	Title: "RULER Fig. 5. The null of M2: pairs of oracles, and the methods",
	Doc: "Top: M2 between oracles of different seeds; nothing was unlearned in either, so the null should be here. The paper finds " +
		"it approximately centred on zero. " +
		"Bottom: M2 of the methods at 5 % beside the original model ('do nothing'). Mind the two scales.",
}

func init() {
	figure5.studies = oneStudy(mainStudy)
	figure5.make = func(e *Env, s Scale, parts []*Collected) (*Output, error) {
		c := parts[0]
		top := strips(c, m2, 0.05, variantsNamed(OtherOracle))
		top.Title = "pairs of oracles of different seeds"
		bottom := strips(c, m2, 0.05, variantsNamed(GA, NG, FT, SC, BT, NoOp, Matched))
		bottom.Title = "methods and controls, same seed as the oracle"
		return &Output{Figure: plot.Panels{Meta: e.meta(figure5, s, c), Columns: 1, Figures: []plot.Figure{top, bottom}}}, nil
	}
}

var figure6 = Recipe{
	ID:    "ruler/figure6",
	Title: "RULER Fig. 6. Representation shift M3 per data set",
	Doc: "M3 is the change through unlearning of the similarity to the oracle on the forget set. The paper finds it negative almost " +
		"everywhere: unlearning moves the forget records away from where the oracle has them. " +
		"The control, fine-tuning for 5 epochs, never looks at the forget set and shifts as well; without unlearning M3 is zero by definition. " +
		"Bad Teacher, which shifts most, has a panel and a scale of its own.",
}

func init() {
	figure6.studies = oneStudy(mainStudy)
	figure6.make = func(e *Env, s Scale, parts []*Collected) (*Output, error) {
		c := parts[0]
		p := plot.Panels{Meta: e.meta(figure6, s, c), Columns: 1}
		for _, f := range c.Study.Fractions {
			panel := strips(c, m3, f, variantsNamed(GA, NG, FT, SC, Matched))
			panel.Title = "forget fraction " + percent(f)
			p.Figures = append(p.Figures, panel)
		}
		p.Figures = append(p.Figures, badTeacherShift(c))
		return &Output{Figure: p}, nil
	}
}

// badTeacherShift is the panel of Bad Teacher, whose values would dwarf all others: a series per
// forget fraction.
func badTeacherShift(c *Collected) plot.Strips {
	var out plot.Strips
	for _, f := range c.Study.Fractions {
		of := strips(c, m3, f, variantsNamed(BT))
		of.Series[0].Name = fmt.Sprintf("%s, %s", BT, percent(f))
		of.Series = append(out.Series, of.Series...)
		out = of
	}
	out.Title = BT + ", forget fractions side by side (mind the scale)"
	return out
}

var figure7 = Recipe{
	ID:    "ruler/figure7",
	Title: "RULER Fig. 7. M4 per data set",
	Doc: "M4 of the methods, of the original ('do nothing') and of the oracle at 5 %. The paper reads values above 0.5 as memory of the forget set. " +
		"Where the oracle, which never saw these records, scores the same, the deviation is the data's geometry.",
}

func init() {
	figure7.studies = oneStudy(mainStudy)
	figure7.make = func(e *Env, s Scale, parts []*Collected) (*Output, error) {
		c := parts[0]
		f := strips(c, m4, 0.05, variantsNamed(GA, NG, FT, SC, BT, NoOp, Oracle))
		f.Meta = e.meta(figure7, s, c)
		f.Title = figure7.Title + fmt.Sprintf(" (forget fraction %s)", percent(0.05))
		return &Output{Figure: f}, nil
	}
}
