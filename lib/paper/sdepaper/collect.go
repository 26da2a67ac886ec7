package sdepaper

// The evidence behind the tables.

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// evidence is the data behind the tables of one scale.
type evidence struct {
	Study
	env       *paper.Env
	sets      []*prepared // of the settings
	judged    []Judged
	losses    []groupLoss
	unlearned []Unlearned
	runs      []string
	data      map[string]string // data set -> hash
	caveats   []string
	generated bool
}

// groupLoss is the loss of a training, and the row group of its model.
type groupLoss struct {
	group string
	loss  float64
}

// sideBySide is the number of parallel jobs. A convolutional network takes up to a gigabyte and
// keeps most cores busy; two jobs use the rest.
const sideBySide = 2

// collect opens a scale's settings and finds or computes the measurements.
func collect(ctx context.Context, e *paper.Env, scale string, pieces func(Study) []measurement) (*evidence, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return nil, err
	}
	all := pieces(s)
	if len(all) == 0 {
		return nil, noSettingsError(s)
	}
	ev := &evidence{Study: s, env: e, data: map[string]string{}}
	ev.Settings, ev.Fractions = settingsOf(all)
	opened := map[string]*prepared{}
	for _, setting := range ev.Settings {
		p, err := newLabEnv(e).openSetting(ctx, setting)
		if err != nil {
			return nil, err
		}
		opened[p.Label] = p
		ev.sets = append(ev.sets, p)
		ev.data[p.About.Name] = p.Hash
		ev.generated = ev.generated || p.About.Synthetic
		if p.About.Caveat != "" && !slices.Contains(ev.caveats, p.About.Caveat) {
			ev.caveats = append(ev.caveats, p.About.Caveat)
		}
	}
	jobs, err := newLabEnv(e).jobs(ctx, s, all)
	if err != nil {
		return nil, err
	}
	if err := e.Lab().Do(ctx, cmp.Or(e.Workers, sideBySide), jobs); err != nil {
		return nil, err
	}
	for _, p := range all {
		if err := ev.addMeasurement(ctx, opened[p.Label], p); err != nil {
			return nil, fmt.Errorf("%s, R %g, seed %d: %w", p.Label, p.fraction, p.seed, err)
		}
	}
	return ev, nil
}

// settingsOf are the settings and the fractions of measurements, in order.
func settingsOf(pieces []measurement) (settings []Setting, fractions []float64) {
	for _, p := range pieces {
		if !slices.ContainsFunc(settings, func(x Setting) bool { return x.Label == p.Label }) {
			settings = append(settings, p.Setting)
		}
		if !slices.Contains(fractions, p.fraction) {
			fractions = append(fractions, p.fraction)
		}
	}
	return settings, fractions
}

// addMeasurement finds or computes a measurement.
func (ev *evidence) addMeasurement(ctx context.Context, of *prepared, p measurement) error {
	d := newLabEnv(ev.env)
	if p.judge != "" {
		j, err := d.judge(ctx, ev.Study, of, p.fraction, p.seed, p.judge)
		if err != nil {
			return err
		}
		ev.judged, ev.runs = append(ev.judged, j.rows...), append(ev.runs, j.run)
		if p.judge == partMain { // every model has it, once
			ev.losses = append(ev.losses, groupLoss{group(p.Setting, p.fraction), j.loss})
		}
		return nil
	}
	if !p.rows {
		return nil
	}
	for _, a := range p.variants {
		row, id, err := d.unlearned(ctx, ev.Study, of, p.fraction, p.seed, a)
		if err != nil {
			return err
		}
		ev.unlearned = append(ev.unlearned, *row)
		if id != "" { // nothing was measured on a diverged method
			ev.runs = append(ev.runs, id)
		}
	}
	return nil
}

// provenance is the provenance of an output.
func (ev *evidence) provenance(r paper.Recipe) report.Provenance {
	return ev.env.Provenance(r.ID, ev.Scale, Results, seedsBelow(ev.Seeds), ev.data, ev.runs)
}

// seedsBelow are the seeds 0 ... n-1.
func seedsBelow(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// table starts a recipe's table, with the common notes.
func (ev *evidence) table(r paper.Recipe) *report.Table {
	t := &report.Table{ID: r.ID, Title: r.Title, Caption: r.Doc, Provenance: ev.provenance(r)}
	if ev.generated {
		t.Notes = append(t.Notes, "The images are generated.")
	}
	t.Notes = append(t.Notes, ev.caveats...)
	if ev.Scale != "paper" {
		for _, s := range ev.Settings {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %s, %s images, %s; %d epochs. Less than the published size, whose values are "+
				"beside it only to say what was claimed.", s.Label, s.DataSet, count(s.Images), s.network(), s.Fit.Epochs))
		}
	}
	return t
}

func count(n int) string {
	if n == 0 {
		return "all"
	}
	return fmt.Sprint(n)
}

// network names a network, with its width if that is not the published one.
func (s Setting) network() string {
	if s.Width == 0 {
		return s.Net
	}
	return fmt.Sprintf("%s with %d channels in its first layer", s.Net, s.Width)
}

// meanOf is the mean of a value over models, with Student's interval.
func meanOf[T any](rows []T, value func(T) float64) stats.Estimate {
	var x []float64
	for _, r := range rows {
		x = append(x, value(r))
	}
	return stats.MeanInterval(x, 0.95, stats.OverModels).ClampedTo(0, 1)
}

// pooled is the mean over models of estimates over subsets; for a single model it is that
// model's own, with its interval over subsets.
func pooled[T any](rows []T, value func(T) stats.Estimate) stats.Estimate {
	if len(rows) == 1 {
		return value(rows[0])
	}
	return meanOf(rows, func(r T) float64 { return value(r).Value })
}

// filter keeps the rows for which keep is true.
func filter[T any](rows []T, keep func(T) bool) []T {
	var out []T
	for _, r := range rows {
		if keep(r) {
			out = append(out, r)
		}
	}
	return out
}

func percent(f float64) string { return fmt.Sprintf("%g %%", f*100) }
