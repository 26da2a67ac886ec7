package lenses

// The study of agreement between lenses.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

const (
	agreementID    = "agreement"
	agreementTitle = "Which lenses measure the same thing?"
	agreementDoc   = "How much two lenses agree on which models remember more: Spearman's correlation, over the models of a case, of the share of the " +
		"original's memory that each of the two finds, and the mean of that over cases with its 95 % interval over cases. 1: one lens says " +
		"all that the other says about the order of methods; 0: they have nothing to do with each other. A case where either lens is " +
		"blind, cannot be looked at or says the same of all models is left out, and counted."
)

// Agreement is the study of agreement, for the command line.
func Agreement() paper.Paper {
	return paper.Paper{
		Name: agreementID, Title: agreementTitle, Scales: Paper().Scales,
		Recipes: []paper.Recipe{agreement(agreementID), agreement(agreementID + "/" + paper.Figure)},
	}
}

func agreement(id string) paper.Recipe {
	return newRecipe(id, agreementTitle, agreementDoc, MeasureAgreement)
}

// Pair is a pair of lenses and their rank correlation in every case.
type Pair struct {
	A, B  int       // of audit.TableLenses
	Cases []string  // cases in which both have a reading
	Rho   []float64 // per case
}

// Mean is the mean over cases, with Student's interval over them, cut to [-1, 1].
func (p Pair) Mean() stats.Estimate {
	return stats.MeanInterval(p.Rho, 0.95, "cases").ClampedTo(-1, 1).WithNull(0, stats.HigherIsBetter)
}

// MeasureAgreement reads every method of every case through every lens and compares the
// rankings.
func MeasureAgreement(ctx context.Context, e *paper.Env, cases []NamedCase, scale string) (*paper.Output, error) {
	lenses := audit.TableLenses()
	var pairs []Pair
	for b := range lenses {
		for a := range b {
			pairs = append(pairs, Pair{A: a, B: b})
		}
	}
	t := &report.Table{
		ID: agreementID, Title: agreementTitle, Caption: agreementDoc,
		Columns: []report.Column{{Name: "lens"}, {Name: "and"}, {Name: "rank correlation", Note: "mean over cases, 95 % interval over cases; null 0"},
			{Name: "least"}, {Name: "most"}, {Name: "cases"}},
	}
	for _, n := range cases {
		// The table of lenses, for its rows and its provenance.
		inner := &report.Table{Columns: make([]report.Column, len(lenses)+2), Provenance: t.Provenance}
		placed, err := placeCase(ctx, e.Lab(), inner, n, n.variants())
		if errors.Is(err, datasets.ErrMissing) {
			t.Notes = append(t.Notes, fmt.Sprintf("Left out, its file is not on this machine: %s. Get it with: lethe data get %s", n.DataSet(), n.DataSet()))
			continue
		}
		if err != nil {
			return nil, err
		}
		t.Provenance = inner.Provenance
		addCaseToPairs(pairs, n.Name, placed.Shares())
	}
	for _, p := range pairs {
		row := report.Row{Cells: []report.Cell{report.Str(lenses[p.A].Name()), report.Str(lenses[p.B].Name())}}
		if len(p.Rho) == 0 {
			t.Rows = append(t.Rows, report.Row{Cells: append(row.Cells, report.Gap("no case"), report.Gap("no case"), report.Gap("no case"), report.Num(0, 0))})
			continue
		}
		t.Rows = append(t.Rows, report.Row{Cells: append(row.Cells, report.Est(p.Mean(), 2),
			report.Num(slices.Min(p.Rho), 2), report.Num(slices.Max(p.Rho), 2), report.Num(float64(len(p.Rho)), 0))})
	}
	t.Notes = append(t.Notes, "Few models make a rank correlation: of ten that have nothing to do with each other it is within 0.63 of 0 in 95 of 100 cases. "+
		"Models of one case share data and original, so that cases, and not models, are what the interval is over.")
	t.Provenance.Scale, t.Provenance.Seeds, t.Provenance.Command = scale, []int64{int64(e.Shift)}, e.Command(agreementID, scale)
	return &paper.Output{Table: t, Figure: pairFigure(lenses, pairs, t.Provenance.Line())}, nil
}

// addCaseToPairs adds a case to every pair of lenses that both have readings of it.
func addCaseToPairs(pairs []Pair, name string, shares [][]float64) {
	for k := range pairs {
		var x, y []float64
		for _, of := range shares {
			if a, b := of[pairs[k].A], of[pairs[k].B]; !math.IsNaN(a) && !math.IsNaN(b) {
				x, y = append(x, a), append(y, b)
			}
		}
		if len(x) < 4 {
			continue
		}
		if rho, err := stats.Spearman(x, y); err == nil {
			pairs[k].Cases, pairs[k].Rho = append(pairs[k].Cases, name), append(pairs[k].Rho, rho)
		}
	}
}

// pairFigure shows all pairs with more than one case: the means, and below them the intervals,
// the strongest first.
func pairFigure(lenses []audit.Lens, pairs []Pair, source string) plot.Panels {
	return plot.Panels{
		Meta:    plot.Meta{Title: agreementTitle, Caption: agreementDoc, Source: source, Width: 1080},
		Columns: 1, Figures: []plot.Figure{pairHeatmap(lenses, pairs), pairForest(lenses, pairs)},
	}
}

// pairForest shows the means with their intervals over cases.
func pairForest(lenses []audit.Lens, pairs []Pair) plot.Forest {
	low, high := -1.0, 1.0
	f := plot.Forest{
		Meta: plot.Meta{Title: "The same, with 95 % intervals over cases"}, Digits: 2,
		X: plot.Axis{Label: "rank correlation", Min: &low, Max: &high}, Null: &plot.Null{Value: 0},
	}
	for _, p := range pairs {
		if len(p.Rho) < 2 {
			continue
		}
		label := fmt.Sprintf("%s, %s (%d cases)", lenses[p.A].Name(), lenses[p.B].Name(), len(p.Rho))
		f.Rows = append(f.Rows, plot.ForestRow{Label: label, Estimate: p.Mean()})
	}
	slices.SortStableFunc(f.Rows, func(a, b plot.ForestRow) int { return cmp.Compare(b.Estimate.Value, a.Estimate.Value) })
	if len(f.Rows) == 0 {
		f.Rows = []plot.ForestRow{{Label: "every pair", Missing: "one case at most"}}
	}
	return f
}

func pairHeatmap(lenses []audit.Lens, pairs []Pair) plot.Heatmap {
	low, high, null := -1.0, 1.0, 0.0
	h := plot.Heatmap{
		Meta: plot.Meta{Title: "Means over two cases or more"}, Value: "rank correlation", Min: &low, Max: &high, Null: &null,
	}
	values, missing := map[[2]int]float64{}, map[[2]int]string{}
	for _, p := range pairs {
		at := [2]int{p.B, p.A}
		if len(p.Rho) < 2 {
			missing[at] = "one case at most"
			continue
		}
		values[at] = p.Mean().Value
	}
	for i, lens := range lenses {
		h.Columns, h.Rows = append(h.Columns, lens.Name()), append(h.Rows, lens.Name())
		row, gaps := make([]float64, len(lenses)), make([]string, len(lenses))
		for j := range lenses {
			at := [2]int{max(i, j), min(i, j)}
			row[j], gaps[j] = values[at], missing[at]
			if i == j {
				row[j] = 1
			}
		}
		h.Values, h.Missing = append(h.Values, row), append(h.Missing, gaps)
	}
	return h
}
