package attacks

// The table of true positive rates, and the figure of vulnerable records.

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
)

const (
	tprID    = "attacks/tpr"
	tprTitle = "True positives at low false positive rates, after unlearning"
	tprDoc   = "Every shadow model was trained on a random half of the records in question and forgot it by the method of the row; its partner had " +
		"the other half. An attack tells the records that a model had, and was to forget, from those that it never had. 'u-lira' " +
		"has shadow models that the same method has unlearned, 'lira, unaware' those that forgot nothing, the others none or " +
		"those of 'u-lira' (RMIA). 'Retrained' models never had any of the records: what an attack finds there is chance."
	figureID    = "attacks/figure1"
	figureTitle = "Which records are vulnerable, before unlearning and after"
	figureDoc   = "A point is a record: across, how well U-LiRA tells models that had it from those that had not before unlearning, up, how well " +
		"after; 0.5 is not at all. Points above the diagonal have become easier to find. What retrained models show is chance, at these numbers of models: " +
		"a little below 0.5 on average, because no model is among its own shadows."
)

func tprTable() paper.Recipe {
	r := paper.Recipe{ID: tprID, Title: tprTitle, Doc: tprDoc}
	return paper.StudyRecipe(r, StudyAt, shadowMeasurements, showTPR)
}

func vulnerability() paper.Recipe {
	r := paper.Recipe{ID: figureID, Title: figureTitle, Doc: figureDoc}
	return paper.StudyRecipe(r, StudyAt, shadowMeasurements, func(e *paper.Env, s Study, ev *paper.Evidence[AttackResult]) *paper.Output {
		f := scatterPanels(ev.Rows)
		f.Source = ev.Provenance(e, figureID, s.Scale, Results, 1).Line()
		return &paper.Output{Figure: f}
	})
}

func showTPR(e *paper.Env, s Study, ev *paper.Evidence[AttackResult]) *paper.Output {
	t := &report.Table{
		ID: tprID, Title: tprTitle, Caption: tprDoc,
		Columns: []report.Column{
			{Name: "attack"},
			{Name: "AUC", Note: "mean over models, 95 % interval over pairs; null 0.5"},
			{Name: "TPR at 0.1 %", Note: "share of members above the score that one of 1,000 non-members of all models passes; null 0.001"},
			{Name: "TPR at 1 %", Note: "the same of 100; null 0.01"},
			{Name: "TPR at 5 %", Note: "the same of 20; null 0.05"},
			{Name: "records", Note: "of which each model had half"},
		},
		Provenance: ev.Provenance(e, tprID, s.Scale, Results, 1),
	}
	for _, r := range ev.Rows {
		group := fmt.Sprintf("%s: %s", r.Case, r.Variant)
		if r.Failure != "" {
			t.Rows = append(t.Rows, report.GapRow("diverged", group, "every attack", len(t.Columns)))
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %s.", group, r.Failure))
			continue
		}
		row := report.Row{Group: group, Cells: []report.Cell{report.Str(r.Attack), report.Est(r.Sweep.AUC, 3)}}
		if r.Control {
			row.Kind = report.Control
		}
		for _, rate := range []string{"0.001", "0.01", "0.05"} {
			cell := report.Gap("too few")
			if v, there := r.Sweep.PooledTPR[rate]; there {
				cell = report.Est(v, 3)
			}
			row.Cells = append(row.Cells, cell)
		}
		row.Cells = append(row.Cells, report.Num(float64(r.Assigned), 0))
		t.Rows = append(t.Rows, row)
	}
	t.Notes = append(t.Notes,
		fmt.Sprintf("%d shadow models in each case. Intervals are over pairs of models and take the score that non-members pass as given; "+
			"those of attacks by likelihood ratios are wider, because what two models teach about each other is one thing.", s.Models))
	t.Notes = append(t.Notes, ev.MissingNotes()...)
	f := scatterPanels(ev.Rows)
	f.Source = t.Provenance.Line()
	return &paper.Output{Table: t, Figure: f}
}

// scatterPanels shows every record before and after unlearning, a panel per variant.
func scatterPanels(rows []AttackResult) plot.Panels {
	out := plot.Panels{Meta: plot.Meta{Title: figureTitle, Caption: figureDoc, Width: 1080}, Columns: 3}
	before := map[string][]float64{}
	name := shadow.ULiRA{Pooled: true}.Name()
	for _, r := range rows {
		if r.Variant == Original && r.Attack == name {
			before[r.Case] = r.Records
		}
	}
	low, high := 0.0, 1.0
	for _, r := range rows {
		if r.Attack != name || r.Variant == Original {
			continue
		}
		kind := "record, unlearned models"
		if r.Control {
			kind = "record, retrained models"
		}
		out.Figures = append(out.Figures, plot.Scatter{
			Meta: plot.Meta{Title: fmt.Sprintf("%s: %s", r.Case, r.Variant)},
			X:    plot.Axis{Label: "AUC before unlearning", Min: &low, Max: &high}, Y: plot.Axis{Label: "AUC after", Min: &low, Max: &high},
			Clouds: []plot.Cloud{{Name: kind, X: slices.Clone(before[r.Case]), Y: slices.Clone(r.Records), Control: r.Control}},
			Null:   &plot.Null{Value: 0.5},
		})
	}
	return out
}
