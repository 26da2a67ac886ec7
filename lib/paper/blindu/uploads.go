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
	t := &report.Table{
		ID: uploads.ID, Title: uploads.Title, Caption: uploads.Doc, Provenance: l.provenance(uploads.ID),
		Columns: []report.Column{
			{Name: "upload"},
			{Name: "drawn", Note: "squared error of the patient attacker per record; mean over models with its 95 % interval; higher is better " +
				"for who uploads"},
			{Name: "drawn, printed", Note: "the same of the program's attacker, 10 epochs at 1e-4"},
			{Name: "drawn, as coded", Note: "the program's measure; no comparison with the columns beside it"},
			{Name: "mean of the class", Note: "squared error of the mean of the record's class"},
			{Name: "information", Note: "nats, held out; null 0, lower is better"},
			{Name: "read", Note: "nats, as coded"},
			{Name: "above", Note: "nats, a bound from above"},
			{Name: "before and after", Note: "AUC, null 0.5"},
			{Name: "before", Note: "AUC, null 0.5"},
		},
		Notes: slices.Concat(
			[]string{"Intervals are Student's over models of different seeds."}, l.MissingNotes(), l.Caveats, differences(l.Cases, uncounted)),
	}
	if len(l.Synthetic) > 0 {
		t.Notes = append(t.Notes, "glyphs are generated.")
	}
	for _, c := range l.Cases {
		for _, kind := range uploadNames() {
			if rows := l.rows(c.Label, kind); len(rows) > 0 {
				t.Rows = append(t.Rows, leakRow(c, kind, rows))
			}
		}
	}
	return &paper.Output{Table: t}
}

func (l *leaks) rows(label, kind string) (out []Leak) {
	for _, x := range l.Rows {
		if x.Case == label && x.Upload == kind {
			out = append(out, x)
		}
	}
	return out
}

func leakRow(c Case, kind string, rows []Leak) report.Row {
	l := paper.NewLine(c.Label, kind, false, rows, func(Leak) string { return "" })
	l.AddMean(1, func(x Leak) float64 { return x.Drawn })
	l.AddMean(1, func(x Leak) float64 { return x.Printed })
	if kind == OwnGradients {
		l.AddCell(report.Gap("not coded so"))
		l.AddMean(1, func(x Leak) float64 { return x.ClassMean })
		for range 5 {
			l.AddCell(report.Gap("of codes alone"))
		}
		return l.Row()
	}
	l.AddMean(1, func(x Leak) float64 { return x.Coded })
	l.AddMean(1, func(x Leak) float64 { return x.ClassMean })
	l.AddMean(2, func(x Leak) float64 { return x.Found })
	l.AddMean(2, func(x Leak) float64 { return x.Read })
	l.AddMean(1, func(x Leak) float64 { return x.Above })
	l.AddShare(func(x Leak) float64 { return x.Pair })
	l.AddShare(func(x Leak) float64 { return x.Before })
	return l.Row()
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
