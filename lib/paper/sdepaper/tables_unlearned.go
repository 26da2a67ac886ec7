package sdepaper

// Tables 4 and 8: unlearned models.

import (
	"fmt"

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
	defineUnlearned(&table4, tenth, unlearnings.unlearnedTable)
}

var table8 = paper.Recipe{
	ID:    "sde/table8",
	Title: "SDE Table 8. Unlearned models, by the share that is to be forgotten",
	Doc:   "Table 4 at every fraction of the scale. " + table4.Doc,
}

func init() {
	defineUnlearned(&table8, everyFraction, unlearnings.unlearnedTable)
}

// everyFraction are the fractions of table 8.
func everyFraction(s Study) []float64 { return s.UnlearnFractions }

// defineUnlearned sets the functions of a recipe of unlearned models.
func defineUnlearned(r *paper.Recipe, fractions func(Study) []float64, table func(unlearnings, paper.Recipe) *report.Table) {
	define(r, unlearnedCells(fractions), everyVariant, func(ev *evidence[Unlearned]) *paper.Output {
		return &paper.Output{Table: table(unlearnings{ev}, *r), Runs: records(ev.Rows)}
	})
}

func (ev unlearnings) unlearnedTable(r paper.Recipe) *report.Table {
	t, columns := ev.table(r), unlearnedColumns()
	t.Columns = paper.Headings("model", columns)
	for _, s := range ev.Settings {
		for _, f := range ev.Fractions {
			for _, a := range ev.Variants() {
				t.Rows = append(t.Rows, ev.line(group(s, f), s, f, a).Row(columns))
				t.Notes = append(t.Notes, ev.warnings(s, f, a)...)
			}
		}
	}
	t.Notes = append(t.Notes, fmt.Sprintf("|S| = %d, %d subsets of the forgotten images; %d models.", ev.UnlearnSize, ev.Subsets, ev.Seeds))
	t.Notes = append(t.Notes, ev.variantNotes()...)
	return t
}

// line has the models of a variant.
func (ev unlearnings) line(group string, s Setting, fraction float64, a Variant) paper.Line[Unlearned] {
	return paper.Line[Unlearned]{Group: group, Label: a.Label, Control: a.Control, Models: ev.variantRows(s, fraction, a),
		Diverged: Unlearned.diverged}
}

// unlearnedColumns are those of table 4.
func unlearnedColumns() []paper.Column[Unlearned] {
	rates := func(name, note string, of func(Unlearned) Rates) paper.Column[Unlearned] {
		return paper.Column[Unlearned]{Name: name, Note: note, Cell: func(l paper.Line[Unlearned]) report.Cell { return ruleCell(ratesOf(l.Models, of)) }}
	}
	otr := func(name, note, judge string) paper.Column[Unlearned] {
		return rates(name, note, func(u Unlearned) Rates { return u.OTR(judge) })
	}
	attacked := func(name, note string, of func(Unlearned) stats.Estimate) paper.Column[Unlearned] {
		return paper.Column[Unlearned]{Name: name, Note: note, Cell: func(l paper.Line[Unlearned]) report.Cell { return report.Est(pooled(l.Models, of), 2) }}
	}
	out := []paper.Column[Unlearned]{
		paper.ShareColumn("Acc_r", "accuracy on retained images; mean over models with Student's interval, of one model no interval",
			func(u Unlearned) float64 { return u.Retain }),
		paper.ShareColumn("Acc_f", "accuracy on forgotten images", func(u Unlearned) float64 { return u.Forget }),
		paper.ShareColumn("Acc_test", "accuracy on test images", func(u Unlearned) float64 { return u.Test }),
		{Name: "moved", Note: "distance of the weights from the original's, in parts of its norm", Cell: func(l paper.Line[Unlearned]) report.Cell {
			return report.Num(l.Mean(func(u Unlearned) float64 { return u.Moved }).Value, 3)
		}},
		attacked("ASR", "share of forgotten images that a confidence threshold takes for members; its threshold was learned on "+
			"retained images and one half of the test images", func(u Unlearned) stats.Estimate { return u.ASR }),
		attacked("ASR, held out", "the same share of the other half of the test images: the value of a model that forgot",
			func(u Unlearned) stats.Estimate { return u.HeldOut }),
	}
	for _, layer := range otrLayers() {
		out = append(out, otr("OTR "+layer, "share of subsets of the forgotten images judged out "+
			"by SDE, a tie being out as in algorithm 2: mean over draws of references, then over models, with Student's interval over models; "+
			"null 0.5; "+gateNote, sde.SDE{}.Name()+"/"+layer))
	}
	for _, m := range otrMethods()[1:] {
		out = append(out, otr("OTR hp, "+m.Name(), "the same by "+m.Name()+": "+m.About(), m.Name()+"/hp"))
	}
	return append(out,
		otr("OTR hp, "+ScaledForgotten, "SDE's rate when the activations of the forgotten images are scaled by 5 %: no memory changes", ScaledForgotten+"/hp"),
		otr("OTR hp, "+HeldOutTargets, "SDE's rate for test images, which were never in training", HeldOutTargets+"/hp"),
		rates("F1 h", "of SDE on retained against test images, whose truth is known in every model", func(u Unlearned) Rates { return u.F1("h") }),
		rates("F1 hp", "", func(u Unlearned) Rates { return u.F1("hp") }),
		paper.TextColumn("paper", "C10-ResNet18 as printed: Acc_r, Acc_f, ASR, OTR h, OTR hp", "", func(l paper.Line[Unlearned]) string {
			if len(l.Models) == 0 {
				return ""
			}
			return published4(l.Models[0])
		}))
}

// warnings are notes on models of a row that diverged and on those that moved extremely far.
func (ev unlearnings) warnings(s Setting, fraction float64, a Variant) (notes []string) {
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

// variantRows are a variant's rows, one per model.
func (ev unlearnings) variantRows(s Setting, fraction float64, a Variant) []Unlearned {
	return filter(ev.Rows, func(u Unlearned) bool { return u.Setting == s.Label && u.Fraction == fraction && u.Variant == a.Label })
}

// published4 is the paper's row of table 4.
func published4(u Unlearned) string {
	if u.Setting != "C10-R18" || u.Fraction != 0.10 {
		return ""
	}
	return map[string]string{
		Retrain: "98.57 93.25 .30 87.0 94.0", RandomLabel: "98.80 98.63 .29 84.0 83.2", Unroll: "99.36 99.21 .30 3.0 4.4",
		Sparsity: "92.72 90.56 .42 50.8 53.8", SalUn: "98.66 98.53 .29 52.4 51.8",
	}[u.Variant]
}
