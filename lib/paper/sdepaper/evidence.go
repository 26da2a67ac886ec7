package sdepaper

// The evidence behind the tables.

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// evidence is what a recipe shows: the rows of its measurements.
type evidence[R any] struct {
	Study
	env *paper.Env
	*paper.Evidence[R]
}

// verdicts, unlearnings and the others are the evidence of the recipes, by what is measured.
type (
	verdicts    struct{ *evidence[Judged] }
	unlearnings struct{ *evidence[Unlearned] }
	learnings   struct{ *evidence[Learned] }
)

// provenance is the provenance of an output.
func (ev *evidence[R]) provenance(r paper.Recipe) report.Provenance {
	return ev.Provenance(ev.env, r.ID, ev.Scale, Results, ev.Seeds)
}

// table starts a recipe's table, with the common notes.
func (ev *evidence[R]) table(r paper.Recipe) *report.Table {
	t := &report.Table{ID: r.ID, Title: r.Title, Caption: r.Doc, Provenance: ev.provenance(r)}
	if len(ev.Synthetic) > 0 {
		t.Notes = append(t.Notes, "The images are generated.")
	}
	t.Notes = append(t.Notes, ev.Caveats...)
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
