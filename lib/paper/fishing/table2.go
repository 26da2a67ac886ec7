package fishing

// Table 2 and Figure 1: all methods.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	datacells "github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

var table2 = paper.Recipe{
	ID:    "fishing/table2",
	Title: "Fishing Table 2. Who was in training? Attacks on models that forgot a rare type of cell",
	Doc: "Members are the forgotten cells, non-members the unseen cells that lie nearest to them in the original, out of the half of them " +
		"that no method may look at. " +
		"P-B is the attacker of the paper's table: trained on the original's features, 80 % of the cells, and scored on all of them, those it was " +
		"trained on included. 'sampled z' is that reading whole: matched cells and features of one draw from each posterior, as in the program. " +
		"'held out' counts only the cells that the attacker was not trained on. 'cross-fitted' is ours: an attacker of the model itself on standardised " +
		"features, every cell scored by one that has not seen it. But for 'sampled z' posteriors are represented by their means; the " +
		"distance that is an attacker's last feature is to all retained cells, where it draws 5,000. " +
		"Advantage is |2 AUC - 1|; what chance alone gives is in the notes. " +
		"A model that was retrained without the cells cannot know them: what an attacker finds there is the type, not membership. " +
		"The methods for as many steps as the paper's stand in the table 'steps'.",
}

var figure1 = paper.Recipe{
	ID:    "fishing/figure1",
	Title: "Fishing Fig. 1. What the attackers find, against what chance gives",
	Doc: "2 AUC - 1 of two attackers, per model and variant, null 0; the band is where 95 of 100 values of the cross-fitted one lie when members and " +
		"non-members are exchangeable. The paper draws |2 AUC - 1| of one attacker and the retrained model's value as a line.",
}

// printed are the paper's values of a variant: AUC, advantage, ELBO.
func printed(variant string) string {
	return map[string]string{
		Original: "0.783  0.565  364.2", RetrainedCoded: "0.523  0.046  365.6", RetainTuned: "0.665  0.331  363.2",
		Ascended: "0.702  0.404  363.3", Dampened: "0.725  0.450  363.9", Scrubbed: "0.737  0.474  363.8",
		Contrasted: "0.153  0.695  364.0", Fisher: "0.814  0.628  489.8", Private: "0.464  0.072  403.3",
		Frozen: "0.992  0.984  -", Extra: "0.429  0.300  403.7",
	}[variant]
}

func (ev *evidence) table2() *paper.Output {
	pb, ours := learned.PB().Name, learned.CrossFitted(nil).Name
	columns := []column{
		paper.ShareColumn("AUC, P-B", "as coded: all cells are scored; null 0.5, nearest to the null is best; mean over models with its 95 % interval",
			ProtocolAUC(pb)),
		paper.ShareColumn("sampled z", "P-B as coded: its non-members are those nearest to one draw from the posterior, and its features are of draws",
			func(r Row) float64 { return r.Drawn.Attack.All.AUC.Value }),
		paper.ShareColumn("held out", "P-B on the cells that its attacker was not trained on; matched cells lie beside those, which pulls it below 0.5",
			func(r Row) float64 { return heldOutAUC(r.Attacks[pb]) }),
		paper.ShareColumn("AUC, cross-fitted", "ours, a matched cell in the fold of the member beside it; null in the notes, near 0.5", ProtocolAUC(ours)),
		paper.ShareColumn("advantage", "of the cross-fitted attacker, |2 AUC - 1|, mean over models", advantage),
		reconColumn,
		elboColumn,
		markerColumn("marker r", "mean correlation of marker genes, with library size; higher is better", Row.MarkerR),
	}
	columns = append(columns, ev.spentColumns()...)
	columns = append(columns, printedColumn("AUC, advantage and ELBO as printed, on PBMC-33k", "", printed))
	t := ev.variantTable(table2, columns)
	t.Notes = slices.Concat(ev.notes(), []string{ev.intervalNote()}, ev.forgettingNotes())
	if len(ev.variantRows(Frozen)) == 0 {
		t.Notes = append(t.Notes, "Left out at this scale are frozen critics, extra-gradient and private training, which take minutes a model.")
		t.Notes = append(t.Notes, ev.orderDifferences()...)
		return &paper.Output{Table: t}
	}
	t.Notes = append(t.Notes, "The paper's values of two methods are of other protocols than its others: "+
		"of frozen critics P-C, with one seed, of Fisher scrubbing P-A.", nonmembersSeen)
	t.Notes = append(append(t.Notes, ev.runNotes(Extra)...), ev.runNotes(ExtraTrue)...)
	return &paper.Output{Table: t}
}

// intervalNote describes the intervals.
func (ev *evidence) intervalNote() string {
	if ev.Seeds == 1 {
		return "There is one model of each kind, and so no interval: by how much models of other seeds differ is not seen here."
	}
	return "Intervals are Student's over models of different seeds; the cells are the same in all of them."
}

// nonmembersSeen qualifies the rows of methods that use held-out cells.
const nonmembersSeen = "Extra-gradient, and frozen critics where they use non-members, look at half of the unseen cells: " +
	"the non-members are of the other half, the utility is measured on all."

// variantRows are the rows of a variant in all cases.
func (ev *evidence) variantRows(label string) (out []Row) {
	for _, r := range ev.Rows {
		if r.Variant == label {
			out = append(out, r)
		}
	}
	return out
}

// runNotes are the methods' own notes on their runs, model by model.
func (ev *evidence) runNotes(variant string) []string {
	var out []string
	for _, r := range ev.variantRows(variant) {
		out = append(out, fmt.Sprintf("%s, seed %d: %s", r.Case, r.Seed, cmp.Or(r.Note, r.Diverged)))
	}
	if len(out) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("How far %s goes. %s.", variant, strings.Join(out, "; "))}
}

// line is a variant of a case, and column a column of a table of lines.
type (
	line   = paper.Line[Row]
	column = paper.Column[Row]
)

// lineOf is the line of a variant's models.
func lineOf(c Case, a lab.Variant, rows []Row) line {
	return line{Group: c.Label, Label: a.Label, Control: a.Control, Models: rows, Diverged: func(r Row) string { return r.Diverged }}
}

// table starts a recipe's table.
func (ev *evidence) table(r paper.Recipe) *report.Table {
	return &report.Table{ID: r.ID, Title: r.Title, Caption: r.Doc, Provenance: ev.provenance(r.ID)}
}

// variantTable is a table of every variant of every case.
func (ev *evidence) variantTable(r paper.Recipe, columns []column) *report.Table {
	t := ev.table(r)
	t.Columns = paper.Headings("model", columns)
	for _, c := range ev.Cases {
		for _, a := range c.variants() {
			if rows := ev.rowsOf(c.Label, a.Label); len(rows) > 0 {
				t.Rows = append(t.Rows, lineOf(c, a, rows).Row(columns))
			}
		}
	}
	return t
}

// printedColumn has the paper's value of a variant, or a gap for the reason if there is none.
func printedColumn(note, reason string, printed func(variant string) string) column {
	return paper.TextColumn("paper", note, reason, func(l line) string { return printed(l.Label) })
}

// printedOfCase is printedColumn for values that also depend on the case.
func (ev *evidence) printedOfCase(note, reason string, printed func(c Case, variant string) string) column {
	return paper.TextColumn("paper", note, reason, func(l line) string { return printed(ev.caseOf(l), l.Label) })
}

// caseOf is a line's case.
func (ev *evidence) caseOf(l line) Case {
	return ev.Cases[slices.IndexFunc(ev.Cases, func(c Case) bool { return c.Label == l.Group })]
}

var (
	elboColumn  = paper.MeanColumn("ELBO, unseen", "reconstruction loss plus divergence of unseen cells; lower is better", 1, Row.ELBO)
	reconColumn = paper.MeanColumn("recon, forgotten", "reconstruction loss of the forgotten cells", 1, func(r Row) float64 { return r.ForgetRecon })
)

// advantage is that of the cross-fitted attacker.
func advantage(r Row) float64 { return r.Attacks[learned.CrossFitted(nil).Name].All.Advantage.Value }

// heldOutAUC is a protocol's AUC on the cells that its attacker was not trained on, NaN if
// members or non-members have none.
func heldOutAUC(a ProtocolResult) float64 {
	if a.HeldOut == nil {
		return math.NaN()
	}
	return a.HeldOut.AUC.Value
}

// rowsOf are the rows of a variant of a case, in the order of their seeds.
func (ev *evidence) rowsOf(label, variant string) []Row {
	var out []Row
	for _, r := range ev.Rows {
		if r.Case == label && r.Variant == variant {
			out = append(out, r)
		}
	}
	return out
}

// notes say for every case how many cells there are and what chance gives.
func (ev *evidence) notes() []string {
	var out []string
	out = append(append(append(out, syntheticNotes(ev.Cases)...), ev.MissingNotes()...), ev.Caveats...)
	out = append(append(out, geneChoiceNotes(ev.Cases)...), ev.trainingNotes()...)
	for _, c := range ev.Cases {
		rows := ev.rowsOf(c.Label, Original)
		if len(rows) == 0 {
			continue
		}
		negatives, same := countRange(rows, func(r Row) int { return r.Negatives }), countRange(rows, func(r Row) int { return r.SameType })
		r := rows[0]
		floor, fixed := r.chanceFloor(learned.CrossFitted(nil).Name), stats.ChanceFloor(r.Forget, r.Negatives)
		out = append(out, fmt.Sprintf("%s: %d members; of the %d unseen cells that no method may look at %s are matched non-members, "+
			"%s of them of a forgotten type. When members and non-members are exchangeable "+
			"the cross-fitted attacker shows an advantage of %.3f on average and more than %.3f in 5 of 100 cases, because its folds "+
			"teach each other; scores that learn nothing from these cells show %.3f and %.3f (seed %d). A model that never had the members is above "+
			"that where they are of another type.",
			c.Label, r.Forget, r.Judged, negatives, same, floor.Mean, floor.P95, fixed.Mean, fixed.P95, r.Seed))
		if note := nullNote(c, ev.rowsOf(c.Label, Retrained)); note != "" {
			out = append(out, note)
		}
		out = append(out, ev.spendingNotes(c)...)
		if found := r.markerNames(); len(found) < len(c.Markers) {
			out = append(out, markersNote(c, found))
		}
	}
	return out
}

// syntheticNotes name the synthetic data sets of some cases.
func syntheticNotes(cases []Case) []string {
	var out []string
	for _, c := range cases {
		if info, err := datacells.Lookup(c.DataSet()); err == nil && info.Synthetic && !slices.Contains(out, c.DataSet()) {
			out = append(out, c.DataSet())
		}
	}
	if out == nil {
		return nil
	}
	return []string{strings.Join(out, " and ") + " are generated."}
}

// geneChoiceNotes say on which values the variable genes were chosen.
func geneChoiceNotes(cases []Case) []string {
	var counts, logged []string
	for _, c := range cases {
		if c.preparation().OnCounts {
			counts = append(counts, c.Label)
		} else {
			logged = append(logged, c.Label)
		}
	}
	const reason = "for which the recipe was made; the program chose those of PBMC-33k on logged values."
	switch {
	case logged == nil:
		return []string{"Variable genes are chosen on counts, " + reason}
	case counts == nil:
		return []string{"Variable genes are chosen on logged values, as the program chose those of PBMC-33k; the recipe was made for counts."}
	}
	return []string{fmt.Sprintf("Variable genes are chosen on counts (%s), %s So they are here (%s).",
		strings.Join(counts, "; "), reason, strings.Join(logged, "; "))}
}

// chanceFloor is the advantage of a protocol by chance, over all cells that it scores.
func (r Row) chanceFloor(protocol string) stats.Floor {
	a := r.Attacks[protocol].All.Advantage
	return stats.Floor{Mean: a.ChanceMean, P95: a.ChanceP95}
}

// countRange is the range of a count over rows: "34 to 41".
func countRange(rows []Row, count func(Row) int) string {
	low, high := math.MaxInt, 0
	for _, r := range rows {
		low, high = min(low, count(r)), max(high, count(r))
	}
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}

func (ev *evidence) figure1() *paper.Output {
	meta := plot.Meta{Title: figure1.Title, Caption: joinCaption(figure1.Doc, ev.trainingNotes()), Source: ev.provenance(figure1.ID).Line()}
	f := plot.Panels{Meta: meta, Columns: 1}
	for _, c := range ev.Cases {
		if rows := ev.rowsOf(c.Label, Original); len(rows) > 0 {
			variants := c.variants()
			parts := (len(variants) + panelsPerRow - 1) / panelsPerRow
			for part := range slices.Chunk(variants, (len(variants)+parts-1)/parts) {
				f.Figures = append(f.Figures, ev.panel(c, rows[0], part))
			}
		}
	}
	return &paper.Output{Figure: f}
}

// panelsPerRow is the largest number of variants in a panel; more would break their names within
// words.
const panelsPerRow = 11

// panel shows variants of a case: a point per model, variant and attacker.
func (ev *evidence) panel(c Case, of Row, variants []lab.Variant) plot.Figure {
	floor := of.chanceFloor(learned.CrossFitted(nil).Name)
	s := plot.Strips{
		Meta: plot.Meta{Title: fmt.Sprintf("%s: %d members, %d non-members", c.Label, of.Forget, of.Negatives)},
		Y:    plot.Axis{Label: "2 AUC - 1"}, Null: plot.NullBand(0, floor.P95),
	}
	series := []plot.StripSeries{{Name: "P-B, all scored"}, {Name: "cross-fitted"}}
	for _, a := range variants {
		s.Groups = append(s.Groups, a.Label)
		var coded, ours []float64
		for _, r := range ev.rowsOf(c.Label, a.Label) {
			if r.Diverged != "" {
				continue
			}
			coded = append(coded, r.Attacks[learned.PB().Name].All.Advantage.Signed)
			ours = append(ours, r.Attacks[learned.CrossFitted(nil).Name].All.Advantage.Signed)
		}
		series[0].Values, series[1].Values = append(series[0].Values, coded), append(series[1].Values, ours)
	}
	s.Series = series
	return s
}
