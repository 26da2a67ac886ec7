package blindu

// The table of uploads, and Figure 9: the claims on masking.

import (
	"context"
	"slices"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/report"
)

var uploads = paper.Recipe{
	ID:    "blindu/uploads",
	Title: "What is uploaded, and what it reveals",
	Doc: "Records of all classes are to be forgotten; attackers know other records of the same kind, with their uploads. 'drawn' is the squared " +
		"error per record of a patient attacker against the original record; 'mean of the class' needs no upload: whoever is above it has drawn " +
		"nothing. 'as coded' is the program's measure, of an attacker who is taught the very records, against masked ones. 'information' is a " +
		"bound from below, in nats, by a critic on pairs that it has not seen, 'read' what the program reads, of which most is not information, 'above' " +
		"a bound from above. 'before and after' is the AUC of who tells the forgotten from unseen records by both models, 'before' by the first alone.",
}

// uploadStudy has the second case of each pair of cases of a scale.
func uploadStudy(scale string) (Study, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return s, err
	}
	var out []Case
	for i := 1; i < len(s.Cases); i += 2 {
		out = append(out, s.Cases[i])
	}
	s.Cases = out
	return s, nil
}

func (l *leaks) table() *paper.Output {
	columns := []paper.Column[Leak]{
		paper.MeanColumn("drawn", "squared error of the patient attacker per record; mean over models with its 95 % interval; higher is better "+
			"for who uploads", 1, func(x Leak) float64 { return x.Drawn }),
		paper.MeanColumn("drawn, printed", "the same of the program's attacker, 10 epochs at 1e-4", 1, func(x Leak) float64 { return x.Printed }),
		unlessGradients("not coded so", paper.MeanColumn("drawn, as coded", "the program's measure; no comparison with the columns beside it", 1,
			func(x Leak) float64 { return x.Coded })),
		paper.MeanColumn("mean of the class", "squared error of the mean of the record's class", 1, func(x Leak) float64 { return x.ClassMean }),
	}
	for _, c := range []paper.Column[Leak]{
		paper.MeanColumn("information", "nats, held out; null 0, lower is better", 2, func(x Leak) float64 { return x.Found }),
		paper.MeanColumn("read", "nats, as coded", 2, func(x Leak) float64 { return x.Read }),
		paper.MeanColumn("above", "nats, a bound from above", 1, func(x Leak) float64 { return x.Above }),
		paper.ShareColumn("before and after", "AUC, null 0.5", func(x Leak) float64 { return x.Pair }),
		paper.ShareColumn("before", "AUC, null 0.5", func(x Leak) float64 { return x.Before }),
	} {
		columns = append(columns, unlessGradients("of codes alone", c))
	}
	t := &report.Table{
		ID: uploads.ID, Title: uploads.Title, Caption: uploads.Doc, Provenance: l.provenance(uploads.ID), Columns: paper.Headings("upload", columns),
		Notes: slices.Concat(
			[]string{"Intervals are Student's over models of different seeds."}, l.MissingNotes(), l.Caveats, differences(l.Cases, uncounted)),
	}
	if len(l.Synthetic) > 0 {
		t.Notes = append(t.Notes, "glyphs are generated.")
	}
	for _, c := range l.Cases {
		for _, kind := range uploadNames() {
			if rows := l.rows(c.Label, kind); len(rows) > 0 {
				t.Rows = append(t.Rows, uploadLine(c.Label, kind, rows).Row(columns))
			}
		}
	}
	return &paper.Output{Table: t}
}

// unlessGradients is a column that gradients have no value in, for the reason.
func unlessGradients(reason string, c paper.Column[Leak]) paper.Column[Leak] {
	return paper.Column[Leak]{Name: c.Name, Note: c.Note, Cell: func(l paper.Line[Leak]) report.Cell {
		if l.Label == OwnGradients {
			return report.Gap(reason)
		}
		return c.Cell(l)
	}}
}

// uploadLine is the line of an upload, which does not diverge.
func uploadLine[R any](group, label string, rows []R) paper.Line[R] {
	return paper.Line[R]{Group: group, Label: label, Models: rows, Diverged: func(R) string { return "" }}
}

func (l *leaks) rows(label, kind string) (out []Leak) {
	for _, x := range l.Rows {
		if x.Case == label && x.Upload == kind {
			out = append(out, x)
		}
	}
	return out
}

var figure9 = paper.Recipe{
	ID:    "blindu/figure9",
	Title: "BlindU Fig. 9. The epsilon and the delta that are claimed of masking",
	Doc: "By the sampling rate, for a record of 784 features, by the formulas of Claims 1 and 2. Delta is the share of the record that is sent as it " +
		"is, and no epsilon is needed beside it (privacy.SmallestDelta): the smaller numbers of sampling with replacement are those of sending less.",
}

// claimsRecipe is a recipe that needs no model.
func claimsRecipe(r paper.Recipe) paper.Recipe {
	r.Make = func(_ context.Context, _ *paper.Env, scale string) (*paper.Output, error) {
		if _, err := StudyAt(scale); err != nil {
			return nil, err
		}
		return claimsFigure(r)
	}
	return r
}

// claimsFigure draws the formulas.
func claimsFigure(r paper.Recipe) (*paper.Output, error) {
	const features = 784
	f := plot.Panels{Meta: plot.Meta{Title: r.Title, Caption: r.Doc, Source: "formulas; nothing is trained"}, Columns: 2}
	epsilon := plot.Curves{Meta: plot.Meta{Title: "epsilon"}, X: plot.Axis{Label: "sampling rate"}, Y: plot.Axis{Label: "epsilon"}}
	delta := plot.Curves{Meta: plot.Meta{Title: "delta"}, X: plot.Axis{Label: "sampling rate"}, Y: plot.Axis{Label: "delta"}}
	for _, again := range []bool{false, true} {
		name := map[bool]string{false: "without replacement", true: "with replacement"}[again]
		e, d := plot.Curve{Name: name}, plot.Curve{Name: name}
		for k := 1; k <= 19; k++ {
			rate := float64(k) / 20
			claim, err := privacy.Masking{Rate: rate, Replacement: again}.Claim(features)
			if err != nil {
				return nil, err
			}
			e.X, e.Y = append(e.X, rate), append(e.Y, claim.Epsilon)
			d.X, d.Y = append(d.X, rate), append(d.Y, claim.Delta)
		}
		epsilon.Curves, delta.Curves = append(epsilon.Curves, e), append(delta.Curves, d)
	}
	f.Figures = []plot.Figure{epsilon, delta}
	return &paper.Output{Figure: f}, nil
}
