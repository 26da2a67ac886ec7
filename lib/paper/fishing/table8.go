package fishing

// Table 8: marker genes.

import (
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

var table8 = paper.Recipe{
	ID:    "fishing/table8",
	Title: "Fishing Table 8. Marker genes, one by one",
	Doc: "Correlation over unseen cells of what the decoder says of a gene with its expression, with library size and, as the published program has " +
		"it, without. A marker of a type says how well the decoder still tells that type. Null 0, higher is better. The markers of the simulated " +
		"cells are planted, one for each common type.",
}

// bareMark marks a row without library size.
const bareMark = ", without library size"

// printed8 are the paper's correlations, without library size.
func printed8() map[string]map[string]string {
	out := map[string]map[string]string{}
	for gene, r := range map[string][6]string{
		"CD3D":  {"0.767", "0.761", "0.770", "0.769", "0.602", "0.601"},
		"CD3E":  {"0.645", "0.642", "0.644", "0.648", "0.532", "0.552"},
		"MS4A1": {"0.809", "0.812", "0.810", "0.808", "0.693", "0.761"},
		"CD79A": {"0.900", "0.900", "0.901", "0.901", "0.727", "0.815"},
		"CD14":  {"0.798", "0.797", "0.800", "0.797", "0.767", "0.644"},
		"LYZ":   {"0.901", "0.901", "0.900", "0.899", "0.875", "0.835"},
		"NKG7":  {"0.930", "0.928", "0.928", "0.929", "0.698", "0.515"},
		"GNLY":  {"0.900", "0.894", "0.903", "0.903", "0.636", "0.304"},
		mean8:   {"0.831", "0.829", "0.832", "0.832", "0.691", "0.628"},
	} {
		out[gene] = map[string]string{}
		for k, variant := range table8Variants() {
			out[gene][variant] = r[k]
		}
	}
	return out
}

// table8Variants are the columns of the paper's table, which are rows here.
func table8Variants() []string {
	return []string{Original, RetrainedCoded, RetainTuned, Ascended, Extra, Fisher}
}

const mean8 = "mean"

func (ev *evidence) table8() *paper.Output {
	genes := ev.markerNames()
	t := ev.table(table8)
	t.Notes, t.Columns = ev.notes(), paper.Headings("model", ev.geneColumns(genes, false))
	for _, c := range ev.Cases {
		for _, a := range c.variants() {
			if rows := ev.rowsOf(c.Label, a.Label); len(rows) > 0 && len(c.Markers) > 0 {
				l := lineOf(c, a, rows)
				t.Rows = append(t.Rows, l.Row(ev.geneColumns(genes, false)))
				l.Label += bareMark
				t.Rows = append(t.Rows, l.Row(ev.geneColumns(genes, true)))
			}
		}
	}
	if printed := printed8(); slices.ContainsFunc(genes, func(g string) bool { return printed[g] != nil }) {
		for _, variant := range table8Variants() {
			row := report.Row{Group: "printed, PBMC-33k, without library size", Kind: report.Paper, Cells: []report.Cell{report.Str(variant)}}
			for _, gene := range append(slices.Clone(genes), mean8) {
				row.Cells = append(row.Cells, report.Str(printed[gene][variant]))
			}
			t.Rows = append(t.Rows, row)
		}
		t.Notes = append(t.Notes, "The printed 'extra-gradient' is one model of 20 steps (ELBO 477.6); Tables 2 and 6 print a mean over ten seeds, "+
			"403.7 and a mean correlation of 0.789.")
	}
	return &paper.Output{Table: t}
}

// markerNames are the marker genes of all cases.
func (ev *evidence) markerNames() []string {
	var out []string
	for _, c := range ev.Cases {
		for _, gene := range c.Markers {
			if !slices.Contains(out, gene) {
				out = append(out, gene)
			}
		}
	}
	return out
}

// geneColumns are the genes and their mean.
func (ev *evidence) geneColumns(genes []string, bare bool) (out []column) {
	value, mean := func(m Marker) *float64 { return m.R }, Row.MarkerR
	if bare {
		value, mean = func(m Marker) *float64 { return m.Bare }, Row.BareMarkerR
	}
	for _, gene := range genes {
		own := paper.BoundedColumn(gene, "", -1, 1, func(r Row) float64 { return r.gene(gene, value) })
		out = append(out, column{Name: gene, Cell: func(l line) report.Cell {
			switch {
			case !slices.Contains(ev.caseOf(l).Markers, gene):
				return report.Gap("no marker of this case")
			case !slices.Contains(l.Models[0].markerNames(), gene):
				return report.Gap("not among the variable genes")
			}
			return own.Cell(l)
		}})
	}
	return append(out, paper.BoundedColumn(mean8, "", -1, 1, mean))
}

// markerNames are the marker genes that were found.
func (r Row) markerNames() (out []string) {
	for _, m := range r.Markers {
		out = append(out, m.Gene)
	}
	return out
}

// gene is a value of a marker gene, NaN if there is none.
func (r Row) gene(name string, value func(Marker) *float64) float64 {
	for _, m := range r.Markers {
		if v := value(m); m.Gene == name && v != nil {
			return *v
		}
	}
	return math.NaN()
}
