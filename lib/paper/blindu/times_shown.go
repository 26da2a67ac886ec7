package blindu

// Figures 7 and 14: wall-clock times.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Times are wall-clock times of methods on one machine.
type Times struct {
	On      string // description of the data
	Turns   int    // counted runs of each method
	Machine paper.Machine
	Cells   []TimedCell
}

var figure7 = paper.Recipe{
	ID:    "blindu/figure7",
	Title: "BlindU Fig. 7. Time by how much is to be forgotten",
	Doc: "Seconds of a whole method, with the user's masking and encoding, the critic and the checks of the stopping rule. A method stops when " +
		"it has forgotten, so that steps differ. The users of a federation work one after another here. Beside it, how BlindU's program counts the same " +
		"runs: for BlindU its model's steps at twice a training step, without the critic; for VBU its steps at a training step; for HBFU five " +
		"ordinary rounds of one user for every round but one. The paper reads more than 5 times the speed of HBFU from such counts.",
}

var figure14 = paper.Recipe{
	ID:    "blindu/figure14",
	Title: "BlindU Fig. 14. Time by beta",
	Doc:   "As Figure 7, by the weight of the compression. The paper reads more time of BlindU at a larger beta.",
}

// timesRecipe is a recipe of times in a sweep of a scale's first case. It measures whenever it
// is run, on the machine that runs it; only the originals are stored.
func timesRecipe(r paper.Recipe, w sweep) paper.Recipe {
	study := func(scale string) (Study, error) { return w.study(scale, timedCase) }
	r.Timed = true
	r.Jobs = func(ctx context.Context, e *paper.Env, scale string) ([]lab.Job, error) {
		s, err := study(scale)
		if err != nil {
			return nil, err
		}
		return originalJobs(ctx, e.Lab(), s)
	}
	r.Make = func(ctx context.Context, e *paper.Env, scale string) (*paper.Output, error) {
		s, err := study(scale)
		if err != nil {
			return nil, err
		}
		times, found, err := s.measureTimes(ctx, e)
		if err != nil {
			return nil, err
		}
		provenance := found.Provenance(e, r.ID, s.Scale, Results, 1)
		out := &paper.Output{Figure: times.Figure(r.Title, r.Doc, provenance.Line()), Table: times.Table(), Runs: times.records()}
		out.Table.ID, out.Table.Title, out.Table.Caption, out.Table.Provenance = r.ID, r.Title, r.Doc, provenance
		return out, nil
	}
	return r
}

// timedCase is a scale's first case with the paper's share to forget.
func timedCase(s Study) Case {
	c := s.Cases[0]
	byShare.vary(&c, 0.06)
	return c
}

// originalJobs are the jobs of the models that methods are timed on.
func originalJobs(ctx context.Context, l *lab.Lab, s Study) (out []lab.Job, err error) {
	for _, of := range s.Cases {
		jobs, err := l.Jobs(ctx, of.setting(0), unlearn.NoOp{})
		if err != nil {
			return nil, err
		}
		out = append(out, jobs...)
	}
	return lab.Dedup(out), nil
}

// numTurns is the number of counted runs of a method.
func (s Study) numTurns() int {
	if s.Scale == "quick" {
		return 2
	}
	return 3
}

// measureTimes measures the cases of a study, one method at a time, after all originals are
// there.
func (s Study) measureTimes(ctx context.Context, e *paper.Env) (Times, *paper.Evidence[Timing], error) {
	out, found := Times{Turns: s.numTurns(), Machine: paper.ThisMachine(e.Engine)}, &paper.Evidence[Timing]{Data: map[string]string{}}
	opened := make([]*lab.Case, len(s.Cases))
	for i, of := range s.Cases {
		c, err := e.Lab().Case(ctx, of.setting(0))
		if errors.Is(err, datasets.ErrMissing) {
			return out, nil, fmt.Errorf("no data set of this scale is on this machine: lethe data get %s: %w", of.DataSet(), err)
		}
		if err != nil {
			return out, nil, err
		}
		opened[i], out.On, found.Data[c.DataName()] = c, fmt.Sprintf("%d records of %s", c.Problem.Train.X.Rows, c.DataName()), c.Hash
	}
	jobs, err := originalJobs(ctx, e.Lab(), s)
	if err != nil {
		return out, nil, err
	}
	if err := e.Lab().Do(ctx, e.Workers, jobs); err != nil {
		return out, nil, err
	}
	for _, j := range jobs {
		found.Runs = append(found.Runs, j.Key)
	}
	ctx, task := progress.Start(ctx, "timing the methods", len(s.Cases))
	defer task.Done()
	for i, of := range s.Cases {
		cell, err := of.timeMethods(ctx, opened[i], out.Turns)
		if err != nil {
			return out, nil, fmt.Errorf("%s: %w", of.Label, err)
		}
		out.Cells = append(out.Cells, cell)
		task.Add(1)
	}
	return out, found, nil
}

// timeMethods measures a case.
func (c Case) timeMethods(ctx context.Context, opened *lab.Case, turns int) (TimedCell, error) {
	methods := TimedMethods()
	ctx, task := progress.Start(ctx, "by the clock: "+c.Label, (turns+1)*(len(methods)+1))
	defer task.Done()
	cell := TimedCell{Share: c.Backdoor().Fraction, Beta: c.beta()}
	err := cell.RunInterleaved(turns, methods, func(m *TimedMethod) (RunCost, error) {
		t, err := c.TimeMethod(ctx, opened, m)
		task.Add(1)
		return t, err
	})
	return cell, err
}

// sweep is the parameter in which the cells differ: the share, or else beta.
func (t Times) sweep() (w sweep, at func(TimedCell) float64) {
	for _, c := range t.Cells {
		if c.Beta != t.Cells[0].Beta {
			return byBeta, func(c TimedCell) float64 { return c.Beta }
		}
	}
	return byShare, func(c TimedCell) float64 { return c.Share }
}

// Figure draws the times against the parameter in which the cells differ: the medians with the
// fastest and slowest run, and the times as the program computes them. Caption and source name
// the machine.
func (t Times) Figure(title, doc, source string) plot.Figure {
	w, at := t.sweep()
	panel := func(title string, value func(Timing) *float64, spread bool) plot.Curves {
		p := plot.Curves{Meta: plot.Meta{Title: title}, X: plot.Axis{Label: w.axis, Log: w.log}, Y: plot.Axis{Label: "seconds", Log: true}}
		for k, m := range t.Cells[0].Methods {
			line := plot.Curve{Name: m.Method, Control: m.Method == Retrained || m.Method == Together}
			for _, c := range t.Cells {
				v := value(c.Methods[k])
				if v == nil || *v <= 0 { // the program has no time if HBFU stops after one round
					continue
				}
				line.X, line.Y = append(line.X, at(c)), append(line.Y, *v)
				if spread {
					line.Low, line.High = append(line.Low, slices.Min(c.Methods[k].Seconds)), append(line.High, slices.Max(c.Methods[k].Seconds))
				}
			}
			if len(line.X) > 0 {
				p.Curves = append(p.Curves, line)
			}
		}
		return p
	}
	f := plot.Panels{Columns: 2, Meta: plot.Meta{Title: title, Caption: strings.TrimSpace(t.describe() + " " + doc), Source: t.Machine.String()}}
	if source != "" {
		f.Source = source + " \u00b7 " + f.Source
	}
	f.Figures = append(f.Figures, panel("by the wall clock", func(t Timing) *float64 {
		if t.Diverged != "" {
			return nil
		}
		return &t.Median
	}, true))
	if p := panel("as BlindU's program counts", func(t Timing) *float64 { return t.Program }, false); len(p.Curves) > 0 {
		f.Figures = append(f.Figures, p)
	}
	return f
}

// describe says what was measured, and on which machine.
func (t Times) describe() string {
	return fmt.Sprintf("%s Medians over %d runs on %s, from the fastest to the slowest.", t.Machine.Describe(), t.Turns, t.On)
}

// Table has the times by share and beta.
func (t Times) Table() *report.Table {
	out := &report.Table{
		Columns: []report.Column{{Name: "method"}, {Name: "median", Align: report.AlignRight}, {Name: "fastest", Align: report.AlignRight},
			{Name: "steps", Note: "of all users together; of BlindU " + criticsSteps()},
			{Name: "a step", Align: report.AlignRight, Note: "of the critic's before the first too"},
			{Name: "a user", Align: report.AlignRight, Note: "of a federation: the mean of one user's seconds"},
			{Name: "side by side", Align: report.AlignRight, Note: "of a federation: if all users worked at once"},
			{Name: "program", Align: report.AlignRight, Note: "how BlindU's program counts the time of the same run"}, {Name: "ended"}},
		Notes: []string{t.describe()},
	}
	for _, c := range t.Cells {
		group := fmt.Sprintf("share %g, beta %g: %s a training step", c.Share, c.Beta, report.FormatSeconds(c.Step))
		for _, m := range c.Methods {
			out.Rows = append(out.Rows, m.row(group))
		}
	}
	return out
}

func (t Timing) row(group string) report.Row {
	if t.Diverged != "" {
		return report.GapRow("diverged", group, t.Method, 9)
	}
	duration := func(v float64, there bool) report.Cell {
		if !there {
			return report.Str("")
		}
		return report.Cell{Text: report.FormatSeconds(v), Value: &v}
	}
	program := report.Str("")
	if t.Program != nil {
		program = duration(*t.Program, true)
	}
	return report.Row{Group: group, Cells: []report.Cell{
		report.Str(t.Method), duration(t.Median, true), duration(slices.Min(t.Seconds), true), report.Num(float64(t.Steps), 0),
		duration(t.PerStep, true), duration(t.User, t.User > 0), duration(t.SideBySide, t.User > 0), program, report.Str(t.Note),
	}}
}

// records are the timings one by one.
func (t Times) records() report.Records {
	type record struct {
		Share float64 `json:"share"`
		Beta  float64 `json:"beta"`
		Step  float64 `json:"training_step_seconds"`
		Timing
	}
	var out []record
	for _, c := range t.Cells {
		for _, m := range c.Methods {
			out = append(out, record{c.Share, c.Beta, c.Step, m})
		}
	}
	return report.NewRecords(out)
}
