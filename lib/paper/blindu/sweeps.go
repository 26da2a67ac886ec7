package blindu

// Figures 4, 10 to 13 and 15: sweeps over share, beta and rate.

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/stats"
)

// sweep is a study in which one parameter of a case takes several values.
type sweep struct {
	axis   string
	values []float64
	vary   func(c *Case, v float64)
	log    bool
}

// The paper's sweeps, with fewer values at scale quick.
var (
	byShare = sweep{axis: "share of the train part that is to be forgotten", values: []float64{0.02, 0.04, 0.06, 0.08}, vary: func(c *Case, v float64) {
		if b, is := c.Forget.(lab.Backdoor); is {
			b.Fraction = v
			c.Forget = b
			return
		}
		c.Forget = lab.Random{Fraction: v}
	}}
	byBeta = sweep{axis: "beta", values: []float64{1e-4, 1e-3, 1e-2, 1e-1, 1}, log: true, vary: func(c *Case, v float64) {
		c.Goal = lab.Compression{Beta: new(v)}
	}}
	byRate = sweep{axis: "sampling rate", values: []float64{0.2, 0.4, 0.6, 0.8, 1}, vary: func(c *Case, v float64) { c.Rate = v }}
)

// study is a sweep of the case that base selects from a scale.
func (w sweep) study(scale string, base func(Study) Case) (Study, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return s, err
	}
	c, values := base(s), w.values
	if scale == "quick" && len(values) == 5 {
		values = []float64{values[1], values[2], values[4]}
	}
	s.Cases = nil
	for _, v := range values {
		at := c
		w.vary(&at, v)
		at.Label, at.At = fmt.Sprintf("%s, %g", w.axis, v), v
		s.Cases = append(s.Cases, at)
	}
	return s, nil
}

// backdoorCase is a scale's first case with the variants of a sweep.
func backdoorCase(s Study) Case {
	c := s.Cases[0]
	c.Only = []string{Original, Retrained, VBU, VBUCoded, WithReplacement, WithoutReplacement}
	return c
}

// ordinaryCase is a scale's second case, in which random records are to be forgotten.
func ordinaryCase(s Study) Case { return s.Cases[1] }

// sweepRecipe is a recipe on models in a sweep; leakSweepRecipe is one on uploads.
func sweepRecipe(r paper.Recipe, w sweep, show func(*evidence, sweep) *paper.Output) paper.Recipe {
	return modelRecipe(r, func(scale string) (Study, error) { return w.study(scale, backdoorCase) }, func(ev *evidence) *paper.Output { return show(ev, w) })
}

func leakSweepRecipe(r paper.Recipe, w sweep, show func(*leaks, sweep) *paper.Output) paper.Recipe {
	return leakRecipe(r, func(scale string) (Study, error) { return w.study(scale, ordinaryCase) }, func(l *leaks) *paper.Output { return show(l, w) })
}

var figure4 = paper.Recipe{
	ID:    "blindu/figure4",
	Title: "BlindU Fig. 4. Forgetting by how much is to be forgotten",
	Doc: "Left: the share of the backdoor's records whose label the model still gives, unmasked. Right: the share of right answers on unseen records. " +
		"The paper draws both from 2 to 10 %, BlindU on masked records.",
}

var figure13 = paper.Recipe{
	ID:    "blindu/figure13",
	Title: "BlindU Fig. 13. Forgetting by beta",
	Doc: "As Figure 4, by the weight of the compression. The paper reads the rise of the left curve as codes that say too little to forget by; its " +
		"first column, 'mutual information', is in Figure 10 here.",
}

var figure15 = paper.Recipe{
	ID:    "blindu/figure15",
	Title: "BlindU Fig. 15. Forgetting by the sampling rate",
	Doc:   "As Figure 4, by the share of a record's features that is drawn to be in clear. The original and the retrained model do not depend on it.",
}

// curves draws a sweep's two panels.
func (ev *evidence) curves(r paper.Recipe, w sweep) *paper.Output {
	f := plot.Panels{Meta: plot.Meta{Title: r.Title, Caption: withCellsNote(r.Doc, ev.differences()), Source: ev.provenance(r.ID).Line()}, Columns: 2}
	for _, p := range []struct {
		label string
		value func(Row) float64
	}{{"erased", func(r Row) float64 { return r.Erased }}, {"test", func(r Row) float64 { return r.Test }}} {
		panel := plot.Curves{Meta: plot.Meta{Title: p.label}, X: plot.Axis{Label: w.axis, Log: w.log}, Y: plot.Axis{Label: p.label}}
		for _, a := range ev.Cases[0].variants() {
			line := plot.Curve{Name: a.Label, Control: a.Control}
			for _, c := range ev.Cases {
				line = appendMean(line, c.At, values(ev.rowsOf(c.Label, a.Label), p.value), 1)
			}
			panel.Curves = append(panel.Curves, line)
		}
		f.Figures = append(f.Figures, panel)
	}
	return &paper.Output{Figure: f}
}

// values are those of models that did not diverge.
func values(rows []Row, value func(Row) float64) (out []float64) {
	for _, r := range rows {
		if r.Diverged == "" {
			out = append(out, value(r))
		}
	}
	return out
}

// appendMean appends the mean of values at x to a curve, with its interval as the band. The band
// is cut at 0 if no value is below it, and at most if no value is above it.
func appendMean(c plot.Curve, x float64, of []float64, most float64) plot.Curve {
	if len(of) == 0 {
		return c
	}
	c.Add(x, stats.MeanInterval(of, 0.95, stats.OverModels).ClampedTo(0, most))
	return c
}

var figure10 = paper.Recipe{
	ID:    "blindu/figure10",
	Title: "BlindU Fig. 10. Drawing records from what is uploaded, and what codes say of them, by beta",
	Doc: "Squared error per record of an attacker who knows other records with their uploads, by the kind of upload; the grey line is the error of " +
		"the mean of a record's class, which needs no upload: above it nothing was drawn. Right: what a critic finds in held-out pairs of code " +
		"and record, in nats, a bound from below. The paper's attacker is taught the records that it is scored on, and scored against masked ones.",
}

var figure11 = paper.Recipe{
	ID:    "blindu/figure11",
	Title: "BlindU Fig. 11. Who was forgotten? By beta",
	Doc: "AUC of who tells the forgotten records from unseen ones by the models before and after a forgetting by this upload, null 0.5; the grey " +
		"lines are the same attacker who has the model before alone. What the first has beyond the second the forgetting gave away.",
}

var figure12 = paper.Recipe{
	ID:    "blindu/figure12",
	Title: "BlindU Fig. 12. Drawing records from what is uploaded, by the sampling rate",
	Doc:   "As Figure 10, by the share of a record's features that is drawn to be in clear; codes and gradients of whole records do not depend on it.",
}

// uploadNames are the names of the kinds of upload.
func uploadNames() (out []string) {
	for _, u := range (Case{}).uploadKinds() {
		out = append(out, u.name)
	}
	return out
}

// valuesOf are the values of a kind of upload in a case.
func (l *leaks) valuesOf(label, kind string, value func(Leak) float64) (out []float64) {
	for _, x := range l.Rows {
		if x.Case == label && x.Upload == kind {
			out = append(out, value(x))
		}
	}
	return out
}

// lines draws a value of every kind of upload over a sweep.
func (l *leaks) lines(w sweep, title, axis string, most float64, value func(Leak) float64, kinds ...string) plot.Curves {
	panel := plot.Curves{Meta: plot.Meta{Title: title}, X: plot.Axis{Label: w.axis, Log: w.log}, Y: plot.Axis{Label: axis}}
	for _, kind := range kinds {
		line := plot.Curve{Name: kind}
		for _, c := range l.Cases {
			line = appendMean(line, c.At, l.valuesOf(c.Label, kind, value), most)
		}
		panel.Curves = append(panel.Curves, line)
	}
	return panel
}

// addFloor adds a line that needs no upload.
func (l *leaks) addFloor(panel plot.Curves, name string, value func(Leak) float64, kind string) plot.Curves {
	line := plot.Curve{Name: name, Control: true}
	for _, c := range l.Cases {
		line = appendMean(line, c.At, l.valuesOf(c.Label, kind, value), math.Inf(1))
	}
	panel.Curves = append(panel.Curves, line)
	return panel
}

func (l *leaks) reconstructionFigure(r paper.Recipe, w sweep) *paper.Output {
	f := plot.Panels{Meta: plot.Meta{Title: r.Title, Caption: withCellsNote(r.Doc, differences(l.Cases, uncounted)),
		Source: l.provenance(r.ID).Line()}, Columns: 2}
	errors := l.lines(w, "drawing the record", "squared error", math.Inf(1), func(x Leak) float64 { return x.Drawn }, uploadNames()...)
	f.Figures = append(f.Figures, l.addFloor(errors, "mean of the class", func(x Leak) float64 { return x.ClassMean }, PlainCodes))
	f.Figures = append(f.Figures, l.lines(w, "information", "nats", math.Inf(1), func(x Leak) float64 { return x.Found }, PlainCodes, WithoutCodes, WithCodes))
	return &paper.Output{Figure: f}
}

func (l *leaks) informationFigure(r paper.Recipe, w sweep) *paper.Output {
	of := []string{PlainCodes, WithoutCodes, WithCodes}
	panel := l.lines(w, "before and after", "AUC", 1, func(x Leak) float64 { return x.Pair }, of...)
	panel = l.addFloor(panel, "before alone", func(x Leak) float64 { return x.Before }, PlainCodes)
	panel.Meta = plot.Meta{Title: r.Title, Caption: withCellsNote(r.Doc, differences(l.Cases, uncounted)), Source: l.provenance(r.ID).Line()}
	panel.Null = &plot.Null{Value: 0.5}
	return &paper.Output{Figure: panel}
}
