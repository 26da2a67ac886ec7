package language

// The table of people.

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

var peopleRecipe = paper.Recipe{
	ID:    "language/people",
	Title: "What a language model still knows of three people",
	Doc: "A decoder is trained on answers to questions about people who do not exist, and has to forget three of them. Each cell: the mean over seeds, " +
		"each with other people to forget, with its 95 % interval, and after the bar the mean of the retrained models, which a model that has forgotten " +
		"must resemble. Much of an answer can be guessed from the others: a retrained model, which never read of the three people, shows how much.",
}

func peopleTable() paper.Recipe {
	return paper.StudyRecipe(peopleRecipe, StudyAt,
		func(e *paper.Env, s Study) []paper.Measurement[Row] {
			return measurements(e, s, peopleRecipe.ID, asTrained)
		}, showPeople)
}

// asTrained is the number of bits of a weight that was not rounded.
const asTrained = 32

type (
	line   = paper.Line[Row]
	column = paper.Column[Row]
)

// lineOf is the line of a variant's models at a number of bits.
func lineOf(ev *paper.Evidence[Row], group, variant string, bits int) line {
	l := line{Group: group, Label: variant, Diverged: func(r Row) string { return r.Diverged }}
	for _, r := range ev.Rows {
		if r.Variant == variant && r.Bits == bits {
			l.Models, l.Control = append(l.Models, r), r.Control
		}
	}
	return l
}

// beside is a column of means over models, each with the mean of the retrained models behind a bar.
func beside(null line, name, note string, low, high float64, value func(Row) float64) column {
	at := null.Mean(value)
	return column{Name: name, Note: note, Cell: func(l line) report.Cell {
		mean := l.Mean(value)
		if low < high {
			mean = mean.ClampedTo(low, high)
		}
		cell := report.Est(mean, 3)
		if len(l.Models) == 1 {
			cell = report.Num(mean.Value, 3)
		}
		if l.Label != null.Label {
			cell.Text += " | " + report.FormatNumber(at.Value, 3)
		}
		return cell
	}}
}

// columns are those of a row; null has the retrained models.
func columns(null line) []column {
	return []column{
		beside(null, "p, forgotten", "mean probability of the forgotten answers, normalised by their length", 0, 1,
			func(r Row) float64 { return r.Probability }),
		beside(null, "p, retained", "the same of retained answers", 0, 1, func(r Row) float64 { return r.RetainProbability }),
		beside(null, "p, held out", "the same of answers about people of whom no model read", 0, 1, func(r Row) float64 { return r.HeldOutProbability }),
		beside(null, "truth ratio", "mean ln R of forgotten questions; below the retrained models' it prefers right answers", 0, 0,
			func(r Row) float64 { return r.TruthRatio }),
		beside(null, "exact", "exact memorisation: share of the forgotten answers' tokens that are the most probable ones", 0, 1,
			func(r Row) float64 { return r.Exact }),
		beside(null, "extraction", "extraction strength of the forgotten answers", 0, 1, func(r Row) float64 { return r.Extraction }),
		beside(null, "min-k", "AUC of Min-K %, forgotten against held-out answers; null 0.5, if the two were alike", 0, 1,
			func(r Row) float64 { return r.MinK }),
		beside(null, "right, forgotten", "share of forgotten questions that are answered right by the most probable tokens", 0, 1,
			func(r Row) float64 { return r.Right }),
		beside(null, "right, retained", "the same of retained questions", 0, 1, func(r Row) float64 { return r.RetainRight }),
		beside(null, "displacement", "distance of the weights from the original's, over their norm", 0, math.Inf(1),
			func(r Row) float64 { return r.Displacement }),
		{Name: "rate", Note: "that the method was taken at, seed by seed", Cell: func(l line) report.Cell { return ratesOf(l.Models) }},
	}
}

// ratesOf lists the rates of the models of a line, seed by seed; one that all have once.
func ratesOf(models []Row) report.Cell {
	var out []string
	for _, r := range models {
		if rate := strings.TrimPrefix(r.Note, "rate "); rate != "" {
			out = append(out, rate)
		}
	}
	switch {
	case len(out) == 0:
		return report.Gap("no rate")
	case len(slices.Compact(slices.Clone(out))) == 1:
		return report.Str(out[0])
	}
	return report.Str(strings.Join(out, ", "))
}

func showPeople(e *paper.Env, s Study, ev *paper.Evidence[Row]) *paper.Output {
	t := newTable(e, s, ev, peopleRecipe, asTrained)
	null := lineOf(ev, "", retrained(), asTrained)
	for _, v := range s.variants() {
		t.Rows = append(t.Rows, lineOf(ev, "", v.Label, asTrained).Row(columns(null)))
	}
	return &paper.Output{Table: t}
}

// rule is the note on how methods are set.
func (b Budget) rule() string {
	return fmt.Sprintf("Each method goes %d times over the forgotten answers, those that use retained ones with as many of them beside; fine-tuning has "+
		"about as many steps over all retained ones (epochs: %d). The rate is that after which forgotten answers are as improbable as "+
		"held-out ones were to the original (unlearn.TextTuned), chosen without the retrained models: of %s, and of those that halve, %d times, the "+
		"step at which this is passed, the smallest that comes as near as the nearest but for a standard error of the held-out answers. A method comes "+
		"as near as it can: look at what is left of the forgotten answers before you compare what is "+
		"left of the rest. Where the rate is the first or the last of these a method would need others, or more epochs, to forget as much: its row is "+
		"no comparison. Refusals need not make the answer improbable: for IdkDPO and refusal tuning the rule asks for what they do not aim at.",
		b.Forgotten, b.Retained, list(rates), halvings)
}

func list(v []float64) string {
	var out []string
	for _, x := range v {
		out = append(out, fmt.Sprint(x))
	}
	return strings.Join(out, ", ")
}

// newTable is a table of lines without its rows.
func newTable(e *paper.Env, s Study, ev *paper.Evidence[Row], r paper.Recipe, bits int) *report.Table {
	null := lineOf(ev, "", retrained(), bits)
	t := &report.Table{
		ID: r.ID, Title: r.Title, Caption: r.Doc, Columns: paper.Headings("model", columns(null)),
		Provenance: ev.Provenance(e, r.ID, s.Scale, Results, s.Seeds),
	}
	if len(ev.Rows) > 0 {
		first := ev.Rows[0]
		least, most := forgottenAnswers(ev.Rows)
		t.Notes = append(t.Notes, fmt.Sprintf("%d answers to forget, %d retained and %d held out at the first seed, and %d to %d to forget at all seeds: as "+
			"many epochs are more steps where there are more; networks of %d weights; up to %d retained questions are asked.",
			first.Forget, first.Retain, first.HeldOut, least, most, first.Weights, s.Asked))
	}
	t.Notes = append(t.Notes, "The people are generated, and a value cannot be guessed from a name. The vocabulary is learned from the training part, the "+
		"forgotten people's names among it and the held-out people's not: Min-K may tell the two apart in a retrained model for that reason alone.",
		"Right is an answer that has the value as whole words.")
	if r.ID == peopleRecipe.ID {
		t.Notes = append(t.Notes, s.Budget.rule())
	}
	t.Notes = append(t.Notes, ev.MissingNotes()...)
	return t
}

// forgottenAnswers returns the smallest and the largest number of answers to forget.
func forgottenAnswers(rows []Row) (least, most int) {
	least = rows[0].Forget
	for _, r := range rows {
		least, most = min(least, r.Forget), max(most, r.Forget)
	}
	return least, most
}

// Compare is the table of people for models of one case, a row each, beside the retrained model. The
// retained questions that are asked are at most so many.
func Compare(ctx context.Context, c *audit.Case, asked int, models ...*audit.Model) (*report.Table, error) {
	read := func(m *audit.Model) (line, error) {
		r := Row{Variant: m.Label, Control: m.Control}
		err := Study{Asked: asked}.read(ctx, c, m, &r)
		return line{Label: m.Label, Control: m.Control, Models: []Row{r}, Diverged: func(Row) string { return "" }}, err
	}
	null, err := read(c.Oracle)
	if err != nil {
		return nil, err
	}
	t := &report.Table{
		ID: "language/case", Title: fmt.Sprintf("What is known of the %d answers to forget", len(c.Forget)), Columns: paper.Headings("model", columns(null)),
		Caption: "After the bar stands the value of the retrained model.", Provenance: c.Provenance(),
	}
	for _, m := range models {
		l, err := read(m)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Label, err)
		}
		t.Rows = append(t.Rows, l.Row(columns(null)))
	}
	return t, nil
}
