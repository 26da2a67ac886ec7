package sdepaper

// Tables 4 and 8: unlearned models.

import (
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

var table4 = paper.Recipe{
	ID:    "sde/table4",
	Title: "SDE Table 4. Unlearned models",
	Doc: "A share R of the training images is to be forgotten, a tenth in the paper. OTR is the share of subsets of them that are " +
		"judged out of training; the paper reads a higher one as better forgetting and ranks the methods by it. " +
		"Read it beside the controls: 'do nothing' is the original, 'random weights' has forgotten everything, and the two retrained " +
		"models never saw the images. " +
		"The columns to the right ask the same question of other statistics, of which 'spread only' sees one number per set. " +
		"Table 4b has the shares of ties and the spread over draws.",
}

// tenth is the fraction of table 4, as a list.
func tenth(s Study) []float64 { return []float64{s.fraction()} }

func init() {
	defineRecipe(&table4, table4Measurements(tenth), func(_ context.Context, ev *evidence) (*paper.Output, error) {
		return &paper.Output{Table: ev.unlearnedTable(table4, []float64{ev.fraction()})}, nil
	})
}

var table8 = paper.Recipe{
	ID:    "sde/table8",
	Title: "SDE Table 8. Unlearned models, by the share that is to be forgotten",
	Doc:   "Table 4 at every fraction of the scale. " + table4.Doc,
}

func init() {
	defineRecipe(&table8, table4Measurements(func(s Study) []float64 { return s.UnlearnFractions }), func(_ context.Context,
		ev *evidence) (*paper.Output, error) {
		return &paper.Output{Table: ev.unlearnedTable(table8, ev.UnlearnFractions)}, nil
	})
}

func (ev *evidence) unlearnedTable(r paper.Recipe, fractions []float64) *report.Table {
	t := ev.table(r)
	t.Columns = []report.Column{
		{Name: "model"},
		{Name: "Acc_r", Note: "accuracy on retained images; mean over models with Student's interval, of one model no interval"},
		{Name: "Acc_f", Note: "accuracy on forgotten images"}, {Name: "Acc_test", Note: "accuracy on test images"},
		{Name: "moved", Note: "distance of the weights from the original's, in parts of its norm"},
		{Name: "ASR", Note: "share of forgotten images that a confidence threshold takes for members; its threshold was learned on " +
			"retained images and one half of the test images"},
		{Name: "ASR, held out", Note: "the same share of the other half of the test images: the value of a model that forgot"},
	}
	for _, layer := range otrLayers() {
		t.Columns = append(t.Columns, report.Column{Name: "OTR " + layer, Note: "share of subsets of the forgotten images judged out " +
			"by SDE, a tie being out as in algorithm 2: mean over draws of references, then over models, with Student's interval over models; " +
			"null 0.5; " + gateNote})
	}
	for _, m := range otrMethods()[1:] {
		t.Columns = append(t.Columns, report.Column{Name: "OTR hp, " + m.Name(), Note: "the same by " + m.Name() + ": " + m.About()})
	}
	t.Columns = append(t.Columns,
		report.Column{Name: "OTR hp, " + ScaledForgotten, Note: "SDE's rate when the activations of the forgotten images are scaled by 5 %: no memory changes"},
		report.Column{Name: "OTR hp, " + HeldOutTargets, Note: "SDE's rate for test images, which were never in training"},
		report.Column{Name: "F1 h", Note: "of SDE on retained against test images, whose truth is known in every model"}, report.Column{Name: "F1 hp"},
		report.Column{Name: "paper", Note: "C10-ResNet18 as printed: Acc_r, Acc_f, ASR, OTR h, OTR hp"})
	for _, s := range ev.Settings {
		for _, f := range fractions {
			for _, a := range ev.Variants() {
				if ev.diverged(s, f, a) {
					t.Rows = append(t.Rows, report.GapRow("diverged", group(s, f), a.Label, len(t.Columns)))
				} else {
					t.Rows = append(t.Rows, ev.unlearnedRow(s, f, a))
				}
				t.Notes = append(t.Notes, ev.warnings(s, f, a)...)
			}
		}
	}
	t.Notes = append(t.Notes, fmt.Sprintf("|S| = %d, %d subsets of the forgotten images; %d models.", ev.UnlearnSize, ev.Subsets, ev.Seeds))
	t.Notes = append(t.Notes, ev.variantNotes()...)
	return t
}

// diverged reports whether a model of a row diverged.
func (ev *evidence) diverged(s Setting, fraction float64, a Variant) bool {
	return slices.ContainsFunc(ev.variantRows(s, fraction, a), func(u Unlearned) bool { return u.Diverged != "" })
}

// warnings are notes on models of a row that diverged and on those that moved extremely far.
func (ev *evidence) warnings(s Setting, fraction float64, a Variant) (notes []string) {
	for _, u := range ev.variantRows(s, fraction, a) {
		name := fmt.Sprintf("%s, %s, seed %d", group(s, fraction), a.Label, u.Seed)
		switch {
		case u.Diverged != "":
			notes = append(notes, name+": "+u.Diverged+". A mean that it would be part of has no number.")
		case u.Moved > unlearn.LargeDisplacement:
			notes = append(notes, fmt.Sprintf("%s: the weights moved by %.3g times their own length.", name, u.Moved))
		}
	}
	return notes
}

func (ev *evidence) unlearnedRow(s Setting, fraction float64, a Variant) report.Row {
	rows := ev.variantRows(s, fraction, a)
	number := func(f func(Unlearned) float64, digits int) report.Cell { return report.Est(meanOf(rows, f), digits) }
	row := report.Row{Group: group(s, fraction), Cells: []report.Cell{
		report.Str(a.Label),
		number(func(u Unlearned) float64 { return u.Retain }, 3), number(func(u Unlearned) float64 { return u.Forget }, 3),
		number(func(u Unlearned) float64 { return u.Test }, 3), report.Num(meanOf(rows, func(u Unlearned) float64 { return u.Moved }).Value, 3),
		report.Est(pooled(rows, func(u Unlearned) stats.Estimate { return u.ASR }), 2),
		report.Est(pooled(rows, func(u Unlearned) stats.Estimate { return u.HeldOut }), 2),
	}}
	if a.Control {
		row.Kind = report.Control
	}
	otr := func(name string) report.Cell {
		return ruleCell(ratesOf(rows, func(u Unlearned) Rates { return u.OTR(name) }))
	}
	for _, layer := range otrLayers() {
		row.Cells = append(row.Cells, otr(sde.SDE{}.Name()+"/"+layer))
	}
	for _, m := range otrMethods()[1:] {
		row.Cells = append(row.Cells, otr(m.Name()+"/hp"))
	}
	row.Cells = append(row.Cells, otr(ScaledForgotten+"/hp"), otr(HeldOutTargets+"/hp"))
	for _, layer := range otrLayers() {
		row.Cells = append(row.Cells, ruleCell(ratesOf(rows, func(u Unlearned) Rates { return u.F1(layer) })))
	}
	return report.Row{Kind: row.Kind, Group: row.Group, Cells: append(row.Cells, report.Str(published4(s.Label, fraction, a.Label)))}
}

// variantRows are a variant's rows, one per model.
func (ev *evidence) variantRows(s Setting, fraction float64, a Variant) []Unlearned {
	return filter(ev.unlearned, func(u Unlearned) bool { return u.Setting == s.Label && u.Fraction == fraction && u.Variant == a.Label })
}

// published4 is the paper's row of table 4.
func published4(setting string, fraction float64, variant string) string {
	if setting != "C10-R18" || fraction != 0.10 {
		return ""
	}
	return map[string]string{
		Retrain: "98.57 93.25 .30 87.0 94.0", RandomLabel: "98.80 98.63 .29 84.0 83.2", Unroll: "99.36 99.21 .30 3.0 4.4",
		Sparsity: "92.72 90.56 .42 50.8 53.8", SalUn: "98.66 98.53 .29 52.4 51.8",
	}[variant]
}
