package alarms

// The table of false alarms and of memories found.

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

func show(e *paper.Env, s Study, ev *paper.Evidence[Answer]) *paper.Output {
	t := &report.Table{
		ID: id, Title: title, Caption: doc,
		Columns: []report.Column{
			{Name: "lens"},
			{Name: "false alarms", Note: "share of the retrained networks that a verdict calls remembered or pushed away; 95 % interval over cases; best 0"},
			{Name: "no verdict", Note: "share of the retrained networks of which the lens, or the whole audit, says that it cannot tell"},
			{Name: "memories found", Note: "share of the originals of other seeds in which a memory is seen; 95 % interval over cases; best 1"},
			{Name: "cases", Note: "that the lens applies to"},
		},
		Provenance: ev.Provenance(e, id, s.Scale, Results, s.seeds()),
	}
	for _, b := range s.Beside {
		group := b.String()
		for _, lens := range lensNames(ev.Rows) {
			r := rates(ev.Rows, lens, b)
			if r.cases == 0 {
				continue
			}
			t.Rows = append(t.Rows, report.Row{Group: group, Cells: []report.Cell{
				report.Str(lens), report.Est(r.falseAlarms, 2), report.Est(r.silent, 2), report.Est(r.found, 2), report.Num(float64(r.cases), 0),
			}})
		}
	}
	t.Notes = append(t.Notes,
		fmt.Sprintf("Every case has one forget set, %d retrained networks and %d originals under audit. Those of a case share data and the "+
			"models that they are compared with, so that cases, and not networks, are what the intervals are over.", s.Models, s.Models),
		"An interval of 95 % promises at most one false alarm in 20 for a single lens. The whole audit asks several families of lenses: it accuses "+
			"a model where one does with intervals that promise this for all of them together, or single records do.",
		"Without retrained models and inputs, nothing in an audit shows whether the sets were drawn alike, and its answer says that it supposes so. "+
			"In most of these cases they were not.",
		"In some cases there is no memory to find: records that the others explain, or whose copies stay.")
	t.Notes = append(t.Notes, ev.MissingNotes()...)
	return &paper.Output{Table: t}
}

// String names the audits: "beside 2 retrained models".
func (b Beside) String() string {
	switch {
	case b.Retrained == 0 && b.Inputs:
		return "without retrained models, with inputs"
	case b.Retrained == 0:
		return "without retrained models and inputs"
	case b.Retrained == 1:
		return "beside one retrained model"
	}
	return fmt.Sprintf("beside %d retrained models", b.Retrained)
}

// lensNames are the lenses of some answers, in their order; the whole audit is the first.
func lensNames(all []Answer) (out []string) {
	for _, a := range all {
		if !slices.Contains(out, a.Lens) {
			out = append(out, a.Lens)
		}
	}
	return out
}

// errorRates are those of a lens: means over cases of the shares of models.
type errorRates struct {
	falseAlarms, silent, found stats.Estimate
	cases                      int
}

func rates(all []Answer, lens string, beside Beside) errorRates {
	var labels []string
	counts := map[string]*struct{ forgot, alarms, silent, remember, found float64 }{}
	for _, a := range all {
		if a.Lens != lens || a.Beside != beside {
			continue
		}
		n := counts[a.Case]
		if n == nil {
			n = new(struct{ forgot, alarms, silent, remember, found float64 })
			labels, counts[a.Case] = append(labels, a.Case), n
		}
		switch {
		case a.Remembers:
			n.remember++
			n.found += one(a.Memory)
		default:
			n.forgot++
			n.alarms += one(a.Accused)
			n.silent += one(!a.Placed)
		}
	}
	var alarms, silent, found []float64
	for _, label := range labels {
		n := counts[label]
		alarms, silent, found = append(alarms, n.alarms/n.forgot), append(silent, n.silent/n.forgot), append(found, n.found/n.remember)
	}
	mean := func(x []float64) stats.Estimate { return stats.MeanInterval(x, 0.95, "cases").ClampedTo(0, 1) }
	return errorRates{
		falseAlarms: mean(alarms).WithNull(0, stats.LowerIsBetter), silent: mean(silent).WithNull(0, stats.LowerIsBetter),
		found: mean(found).WithNull(0, stats.HigherIsBetter), cases: len(labels),
	}
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
