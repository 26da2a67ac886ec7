package blindu

// Table III and Figure 6: all methods.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
)

var table3 = paper.Recipe{
	ID:    "blindu/table3",
	Title: "BlindU Table III. Forgetting a backdoor's records, and any records",
	Doc: "6 % of the train part are to be forgotten. 'erased' is the share of them whose label, that of the backdoor where there is one, the model " +
		"still gives, on the records as they are. On images the program measures its own method on masked ones, whose trigger mostly is masked too, " +
		"and VBU on unmasked ones, on Adult both on unmasked ones; HBFU it measures on unseen records with the trigger. 'triggered' is the share of " +
		"unseen records with the trigger that are taken for the backdoor's class. Where nothing was done to the records, a model that never met them " +
		"gives most of their labels rightly: read every row beside 'retrained', not beside 0. " +
		"'auxiliary records alone' goes on training for three epochs on what BlindU, which takes up to 20, is given beside its codes, and knows nothing " +
		"of them.",
}

var figure6 = paper.Recipe{
	ID:    "blindu/figure6",
	Title: "BlindU Fig. 6. What is forgotten, and what is kept",
	Doc: "A point is a model. To the right: 1 - 'erased', the share of the records to be forgotten whose label the model no longer gives; up: the " +
		"share of right answers on unseen records that no method may look at. The paper draws the way of three methods, and no retrained model, which " +
		"is where a method should end.",
}

// printed are the paper's values of a variant: accuracy on the test set and on the forget set,
// in per cent, with deviations over five seeds.
func printed(c Case, variant string) string {
	if as, coded := map[string]string{VBUCoded: VBU, HBFUCoded: HBFU, Coded: WithoutReplacement}[variant]; coded {
		variant = as // the paper's numbers are those of its program
	}
	backdoor := c.Backdoor() != nil
	key := map[bool]string{true: "backdoor ", false: "normal "}[backdoor] + c.publishedDataSet() + " " + variant
	return map[string]string{
		"backdoor mnist " + VBU: "88.32 +- 0.73  2.02 +- 0.41", "backdoor mnist " + WithReplacement: "94.55 +- 0.85  1.89 +- 1.29",
		"backdoor mnist " + WithoutReplacement: "94.65 +- 0.67  1.56 +- 0.95",
		"normal mnist " + VBU:                  "89.19 +- 0.77  17.7 +- 0.57", "normal mnist " + WithReplacement: "93.01 +- 0.65  17.19 +- 0.85",
		"normal mnist " + WithoutReplacement: "91.38 +- 0.72  14.00 +- 1.08",
		"backdoor adult " + VBU:              "64.64 +- 0.34  8.45 +- 0.35", "backdoor adult " + WithReplacement: "84.34 +- 0.53  9.44 +- 0.41",
		"backdoor adult " + WithoutReplacement: "84.05 +- 0.46  7.25 +- 0.43",
		"normal adult " + VBU:                  "51.32 +- 1.03  7.82 +- 2.33", "normal adult " + WithReplacement: "84.08 +- 0.36  44.33 +- 7.37",
		"normal adult " + WithoutReplacement: "84.05 +- 0.58  34.02 +- 2.87",
		"backdoor mnist " + HBFU:             "95.86 +- 0.47  5.05 +- 0.92", "normal mnist " + HBFU: "86.64 +- 0.52  17.35 +- 0.81",
		"backdoor adult " + HBFU: "85.45 +- 0.43  99.99 +- 0.0", "normal adult " + HBFU: "83.03 +- 0.58  80.89 +- 0.73",
		"backdoor cifar10 " + HBFU: "75.83 +- 0.52  8.11 +- 0.45", "normal cifar10 " + HBFU: "71.32 +- 0.64  68.28 +- 0.83",
		"backdoor cifar10 " + VBU: "65.45 +- 1.64  7.92 +- 0.55", "normal cifar10 " + VBU: "69.16 +- 0.83  63.93 +- 1.32",
		"backdoor cifar10 " + WithReplacement: "75.83 +- 0.94  7.11 +- 0.37", "normal cifar10 " + WithReplacement: "75.21 +- 0.67  68.02 +- 0.79",
		"backdoor cifar10 " + WithoutReplacement: "74.39 +- 0.77  6.57 +- 0.51", "normal cifar10 " + WithoutReplacement: "73.89 +- 0.73  67.66 +- 0.86",
	}[key]
}

func (ev *evidence) table3() *paper.Output {
	triggered := column{Name: triggeredColumn.Name, Note: triggeredColumn.Note, Cell: func(l line) report.Cell {
		if ev.caseOf(l).Backdoor() == nil {
			return report.Gap("no trigger")
		}
		return triggeredColumn.Cell(l)
	}}
	return &paper.Output{Table: ev.variantTable(table3, []column{
		erasedMeanColumn, maskedColumn, triggered, retainColumn, testColumn, drawnColumn,
		paper.TextColumn("paper", "accuracy on test and forget set in per cent, as printed, on the whole set", "",
			func(l line) string { return printed(ev.caseOf(l), l.Label) }),
	})}
}

// notes give for every case the numbers of records, the differences from the program's settings,
// and how the methods ended.
func (ev *evidence) notes() []string {
	out := []string{"Intervals are Student's over models of different seeds; the records are the same in all of them."}
	if len(ev.Synthetic) > 0 {
		out = append(out, "glyphs are generated.")
	}
	out = slices.Concat(out, ev.MissingNotes(), ev.Caveats, ev.differences())
	for _, c := range ev.Cases {
		k := slices.IndexFunc(ev.Rows, func(r Row) bool { return r.Case == c.Label })
		if k < 0 {
			continue
		}
		r := ev.Rows[k]
		out = append(out, fmt.Sprintf("%s: %d of %d records are to be forgotten; %d unseen ones are judged.", c.Label, r.Forget, r.Train, r.Judged))
		out = append(out, ev.endingNotes(c)...)
	}
	return out
}

// endingNotes say how the methods of a case ended that have a stopping rule.
func (ev *evidence) endingNotes(c Case) (out []string) {
	for _, a := range c.variants() {
		var ends []string
		for _, r := range ev.rowsOf(c.Label, a.Label) {
			if end := cmp.Or(r.Diverged, r.Note); end != "" {
				ends = append(ends, end)
			}
		}
		if len(ends) > 0 {
			out = append(out, fmt.Sprintf("%s, %s: %s.", c.Label, a.Label, countEndings(ends)))
		}
	}
	return out
}

// countEndings are the endings of several models with their numbers, in the order of the seeds;
// for one model there is no count.
func countEndings(ends []string) string {
	if len(ends) == 1 {
		return ends[0]
	}
	var out []string
	for i, end := range ends {
		if slices.Index(ends, end) < i {
			continue
		}
		n := 0
		for _, other := range ends {
			if other == end {
				n++
			}
		}
		out = append(out, fmt.Sprintf("%d of %d: %s", n, len(ends), end))
	}
	return strings.Join(out, "; ")
}

func (ev *evidence) figure6() *paper.Output {
	about := plot.Meta{Title: figure6.Title, Caption: withCellsNote(figure6.Doc, ev.differences()), Source: ev.provenance(figure6.ID).Line()}
	f := plot.Panels{Meta: about, Columns: 2}
	for _, c := range ev.Cases {
		if len(ev.rowsOf(c.Label, Original)) > 0 {
			f.Figures = append(f.Figures, ev.tradeOff(c))
		}
	}
	return &paper.Output{Figure: f}
}

// tradeOff is a case's panel.
func (ev *evidence) tradeOff(c Case) plot.Figure {
	s := plot.Scatter{Meta: plot.Meta{Title: c.Label}, X: plot.Axis{Label: "1 - erased"}, Y: plot.Axis{Label: "test"}}
	var missing []string
	for _, a := range c.variants() {
		if !slices.Contains([]string{Original, Retrained, Auxiliary, VBU, HBFU, BFU, WithReplacement, WithoutReplacement, Printed, VBUCoded,
			HBFUCoded, Coded}, a.Label) {
			continue
		}
		cloud := plot.Cloud{Name: a.Label, Control: a.Control}
		models := ev.rowsOf(c.Label, a.Label)
		for _, r := range models {
			if r.Diverged == "" {
				cloud.X, cloud.Y = append(cloud.X, 1-r.Erased), append(cloud.Y, r.Test)
			}
		}
		if n := len(models) - len(cloud.X); n > 0 {
			missing = append(missing, fmt.Sprintf("%s: %d of %d models diverged", a.Label, n, len(models)))
		}
		if len(cloud.X) > 0 {
			s.Clouds = append(s.Clouds, cloud)
		}
	}
	if len(missing) > 0 {
		s.Meta.Title += " (" + strings.Join(missing, "; ") + ")"
	}
	return s
}
