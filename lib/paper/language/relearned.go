package language

// How much of the forgotten answers tuning brings back, as numbers.

import (
	"cmp"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

var relearnedRecipe = paper.Recipe{
	ID:    "language/relearned",
	Title: "How much of the forgotten answers tuning brings back",
	Doc: "The ends of the curves of the figure on relearning: how probable the forgotten answers are that a model is not tuned on, before and after tuning, " +
		"and by how much more than in the retrained model of the same seed, tuned alike. A model that has forgotten has 0 there, within its interval.",
}

// regained is what one model knows of the answers that it is not tuned on: before and after tuning, and
// beside the retrained model.
type regained struct{ before, after, retrained Point }

func relearnedTable() paper.Recipe {
	return paper.StudyRecipe(relearnedRecipe, StudyAt, relearningMeasurements, showRelearned)
}

func showRelearned(e *paper.Env, s Study, ev *paper.Evidence[Point]) *paper.Output {
	columns := regainedColumns()
	t := &report.Table{
		ID: relearnedRecipe.ID, Title: relearnedRecipe.Title, Caption: relearnedRecipe.Doc, Columns: paper.Headings("model", columns),
		Provenance: ev.Provenance(e, relearnedRecipe.ID, s.Scale, Results, s.Seeds),
	}
	for _, on := range []string{OnForgotten, OnRetained} {
		for _, v := range s.tuned() {
			t.Rows = append(t.Rows, regainedLine(ev.Rows, v, on).Row(columns))
		}
	}
	t.Notes = append(ev.MissingNotes(), s.Budget.rule())
	return &paper.Output{Table: t}
}

func regainedColumns() []paper.Column[regained] {
	probability, exact := func(p Point) float64 { return p.Probability }, func(p Point) float64 { return p.Exact }
	share := func(name, note string, of func(regained) Point, value func(Point) float64) paper.Column[regained] {
		return paper.ShareColumn(name, note, func(r regained) float64 { return value(of(r)) })
	}
	over := func(name string, value func(Point) float64) paper.Column[regained] {
		return paper.BoundedColumn(name, "by how much more than in the retrained model of the same seed, tuned alike; null 0", -1, 1,
			func(r regained) float64 { return value(r.after) - value(r.retrained) })
	}
	before, after := func(r regained) Point { return r.before }, func(r regained) Point { return r.after }
	return []paper.Column[regained]{
		share("p, before", "mean probability of the answers, normalised by their length", before, probability),
		share("p, after", "", after, probability),
		over("p, over retrained", probability),
		share("exact, before", "exact memorisation: share of the answers' tokens that are the most probable ones", before, exact),
		share("exact, after", "", after, exact),
		over("exact, over retrained", exact),
	}
}

// regainedLine is the line of a variant, a model for each seed.
func regainedLine(points []Point, v lab.Variant, on string) paper.Line[regained] {
	l := paper.Line[regained]{Group: "tuned on " + on, Label: v.Label, Control: v.Control,
		Diverged: func(r regained) string { return cmp.Or(r.after.Diverged, r.retrained.Diverged) }}
	for _, p := range points {
		if p.Variant == v.Label && p.On == on && p.Step == 0 {
			l.Models = append(l.Models, regained{p, lastPoint(points, p, v.Label), lastPoint(points, p, retrained())})
		}
	}
	return l
}

// lastPoint is the last point of a variant's curve that is tuned as at is.
func lastPoint(points []Point, at Point, variant string) (last Point) {
	for _, p := range points {
		if p.Variant == variant && p.Seed == at.Seed && p.On == at.On && p.Step >= last.Step {
			last = p
		}
	}
	return last
}
