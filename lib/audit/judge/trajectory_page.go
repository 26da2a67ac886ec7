// The section of a report on the trajectory: sentences, a table row per step, and learning curves.

package judge

import (
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
)

// Sentences describes the trajectory, a sentence or two for every curve that has a reference. A
// relapse is reported only if the verdict on the last step alone is "remembered". So comparing with
// the step of least memory among many accuses no model more often than that verdict does.
func (t *Trajectory) Sentences() []string {
	var out []string
	for _, c := range t.Curves {
		if s := c.sentences(); s != "" {
			out = append(out, c.Label()+": "+s)
		}
	}
	return out
}

// stepState summarises a step's verdict.
type stepState int

const (
	stepUnknown stepState = iota
	stepRemembered
	stepForgotten
	stepBeyond
)

func stateOfStep(v *Verdict) stepState {
	switch {
	case v == nil:
		return stepUnknown
	case v.Memory():
		return stepRemembered
	case v.Call == audit.Forgotten || v.Call == Unseen:
		return stepForgotten
	case v.Call == audit.Beyond:
		return stepBeyond
	}
	return stepUnknown
}

// sentences describes a curve; empty for a curve that is cost alone, or that has no reference.
func (c Curve) sentences() string {
	last := c.Steps[len(c.Steps)-1]
	if c.Cost || last == nil || last.Reference == NoReference {
		return ""
	}
	in := func(s stepState) (names []string) {
		for _, v := range c.Steps {
			if stateOfStep(v) == s {
				names = append(names, v.Reading.Model)
			}
		}
		return names
	}
	first := slices.IndexFunc(c.Steps, func(v *Verdict) bool { return stateOfStep(v) == stepForgotten || stateOfStep(v) == stepBeyond })
	switch {
	case first < 0 && in(stepRemembered) == nil:
		return "cannot tell at any step whether the records are remembered."
	case first < 0:
		return fmt.Sprintf("the records are not forgotten at any step; memory is seen at %s.", joinNames(in(stepRemembered)))
	}
	s := fmt.Sprintf("the first step without visible memory is %s", c.Steps[first].Reading.Model)
	if in(stepRemembered) == nil {
		s = "memory is seen at no step"
	}
	if small := c.Steps[first].Smallest; !math.IsNaN(small) {
		s += fmt.Sprintf(" (a distance of less than %s from the %s is missed in more than one case of five)", report.FormatNumber(small, 2), last.Reference)
	}
	s += "."
	if over := in(stepBeyond); over != nil {
		s += fmt.Sprintf(" Pushed beyond the %s at %s", last.Reference, joinNames(over))
		switch {
		case stateOfStep(last) == stepBeyond:
			s += ", and so to the end."
		case stateOfStep(last) == stepForgotten:
			s += ", and back at the end."
		default:
			s += "."
		}
	}
	if stateOfStep(last) == stepRemembered {
		s += c.relapseText(last)
	}
	return s
}

// relapseText says, for a curve that ends in memory, whether the return is more than chance.
func (c Curve) relapseText(last *Verdict) string {
	var best *Verdict // the step before with the least memory
	for _, v := range c.Steps {
		if s := stateOfStep(v); (s == stepForgotten || s == stepBeyond) && (best == nil || float64(v.Reading.Memory)*(v.Reading.Value-best.Reading.Value) < 0) {
			best = v
		}
	}
	from, to := report.FormatNumber(best.Reading.Value, 3), report.FormatNumber(last.Reading.Value, 3)
	if audit.Alike(best.Reading, last.Reading) {
		return fmt.Sprintf(" Memory is seen again at the end, at %s after %s at %s, which may be chance.", to, from, best.Reading.Model)
	}
	return fmt.Sprintf(" The forgetting is reversed: %s at %s, and %s at the end, where the records are remembered.", from, best.Reading.Model, to)
}

// Tables have a row per step, followed by the retrained models; there is a table per panel.
func (t *Trajectory) Tables() []*report.Table {
	var out []*report.Table
	for _, courses := range t.panels() {
		out = append(out, t.table(courses))
	}
	if len(out) > 0 {
		out[0].Caption = "Each number with its 95 % interval. A verdict places the step between the original and the retrained models, or the null " +
			"where there are none; of many steps one in twenty is unlike its reference by chance."
	}
	return out
}

// panels returns the curves that are shown together.
func (t *Trajectory) panels() [][]Curve {
	var out [][]Curve
	for _, c := range t.Curves {
		if n := len(out); n > 0 && out[n-1][0].Panel == c.Panel {
			out[n-1] = append(out[n-1], c)
			continue
		}
		out = append(out, []Curve{c})
	}
	return out
}

func (t *Trajectory) table(courses []Curve) *report.Table {
	out := &report.Table{Title: "Along unlearning: " + courses[0].Panel, Columns: report.Columns("model")}
	for _, c := range courses {
		out.Columns = append(out.Columns, report.Column{Name: c.Line})
		if !c.Cost {
			out.Columns = append(out.Columns, report.Column{Name: "verdict"})
		}
	}
	add := func(model string, of func(c Curve) (*audit.Reading, string)) {
		cells := []report.Cell{report.Str(model)}
		for _, c := range courses {
			r, call := of(c)
			if cells = append(cells, readingCell(r)); !c.Cost {
				cells = append(cells, report.Cell{}.WithVerdict(call))
			}
		}
		out.Add(cells...)
	}
	for k, m := range t.Steps {
		add(m.Name, func(c Curve) (*audit.Reading, string) {
			if v := c.Steps[k]; v != nil {
				return &v.Reading, string(v.Call)
			}
			return nil, ""
		})
	}
	for _, name := range t.retrained() {
		add(name, func(c Curve) (*audit.Reading, string) {
			if k := slices.IndexFunc(c.Retrained, func(r audit.Reading) bool { return r.Model == name }); k >= 0 {
				return &c.Retrained[k], "reference"
			}
			return nil, ""
		})
	}
	return out
}

// retrained returns the names of the retrained models that any curve has.
func (t *Trajectory) retrained() []string {
	var out []string
	for _, c := range t.Curves {
		for _, r := range c.Retrained {
			if !slices.Contains(out, r.Model) {
				out = append(out, r.Model)
			}
		}
	}
	return out
}

// Figure draws the quantities along the steps, in their panels, and the retrained models' values of
// those about memory.
func (t *Trajectory) Figure() (plot.Figure, error) {
	if len(t.Curves) == 0 {
		return nil, fmt.Errorf("judge: there is no curve, so there is nothing to draw")
	}
	return t.figure(), nil
}

func (t *Trajectory) figure() plot.Panels {
	out := plot.Panels{Meta: plot.Meta{Title: "Along unlearning, with 95 % intervals"}, Columns: 1}
	for _, courses := range t.panels() {
		out.Figures = append(out.Figures, t.panel(courses))
	}
	return out
}

// panel draws the curves of one panel.
func (t *Trajectory) panel(courses []Curve) plot.Curves {
	first, last := t.Steps[0].Name, t.Steps[len(t.Steps)-1].Name
	x := plot.Axis{Label: "step, from " + first + " to " + last, Whole: true}
	f := plot.Curves{Meta: plot.Meta{Title: courses[0].Panel}, X: x, Null: courses[0].nullLine()}
	for _, c := range courses {
		f.Curves = append(f.Curves, c.plotCurve())
	}
	for _, c := range courses {
		if r := c.reference(); r != nil && !c.Cost {
			f.Curves = append(f.Curves, levelLine(*r, "retrained, "+c.Line, len(t.Steps)))
		}
	}
	return f
}

// plotCurve has a point per step; steps count from 0.
func (c Curve) plotCurve() plot.Curve {
	out := plot.Curve{Name: c.Line}
	banded := !slices.ContainsFunc(c.Steps, func(v *Verdict) bool { return v != nil && !v.Reading.HasInterval() })
	for k, v := range c.Steps {
		if v == nil || v.Reading.Absent != "" {
			continue
		}
		out.X, out.Y = append(out.X, float64(k)), append(out.Y, v.Reading.Value)
		if banded {
			out.Low, out.High = append(out.Low, v.Reading.Low), append(out.High, v.Reading.High)
		}
	}
	return out
}

// reference is the joint reading of the retrained models; nil where there are none.
func (c Curve) reference() *audit.Reading {
	if len(c.Retrained) == 0 {
		return nil
	}
	v := Verdict{Lens: c.Lens, Retrained: c.Retrained}
	return v.reference()
}

func (c Curve) nullLine() *plot.Null {
	for _, v := range c.Steps {
		switch {
		case v == nil || v.Reading.Null == nil:
		case math.IsNaN(v.Reading.Floor.P95):
			return &plot.Null{Value: *v.Reading.Null}
		default:
			null := plot.NullBand(*v.Reading.Null, v.Reading.Floor.P95)
			null.BandLabel = "chance, 95 %"
			return null
		}
	}
	return nil
}

// levelLine is a horizontal line over all steps.
func levelLine(r audit.Reading, name string, steps int) plot.Curve {
	end := float64(steps - 1)
	out := plot.Curve{Name: name, X: []float64{0, end}, Y: []float64{r.Value, r.Value}, Control: true}
	if r.HasInterval() {
		out.Low, out.High = []float64{r.Low, r.Low}, []float64{r.High, r.High}
	}
	return out
}

// parts returns the trajectory's section of a page.
func (t *Trajectory) parts() ([]report.Part, error) {
	var out []report.Part
	for _, s := range t.Sentences() {
		out = append(out, report.Text(s))
	}
	if len(t.Curves) > 0 {
		picture, err := audit.PagePicture(t.figure(), 2, "Readings of the models saved along unlearning, step by step, with 95 % intervals. Grey: "+
			"the retrained models. The line is the null, the band holds 95 of 100 values under chance alone.")
		if err != nil {
			return nil, err
		}
		for _, table := range t.Tables() {
			out = append(out, table)
		}
		out = append(out, picture...)
	}
	var skipped report.List
	for _, u := range t.Skipped {
		skipped = append(skipped, fmt.Sprintf("%s: %s.", u.Name(), u.Why))
	}
	if skipped != nil {
		out = append(out, report.Text("Quantities that were not read, and what they need:"), skipped)
	}
	return out, nil
}
