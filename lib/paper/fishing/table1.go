package fishing

// Table 1: the data.

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	datacells "github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

var table1 = paper.Recipe{
	ID:    "fishing/table1",
	Title: "Fishing Table 1. The cells: forget sets and non-members",
	Doc: "What was counted on this machine, beside the paper's two sets as printed. Non-members are matched in the original model's latent space: " +
		"by posterior means, or, as the published program does, by one draw from every posterior. Compare the share of the forgotten type " +
		"among the matched cells with that among the unseen ones open to matching, the half that no method may look at: where they are alike, " +
		"nothing was matched. Beside the case of the scale stand as many scattered cells as the paper has (Table 3) and Table 5's tissue.",
}

// table1Study has the cases whose cells Table 1 counts, with the original and the two retrained
// models, which the matching uses.
func table1Study(scale string) (Study, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return s, err
	}
	others := s.Cases[0].withScatteredSet()
	others.Label = strings.Split(others.Label, ",")[0] + ", scattered cells"
	s.Cases = append(slices.Insert(s.Cases, 1, others), tissueCases(s)...)
	for i := range s.Cases {
		s.Cases[i].Part, s.Cases[i].Only = "table1", []string{Original, Retrained, OtherSeed}
	}
	return s, nil
}

// Sizes are the numbers of cells, genes and types.
type Sizes struct {
	Train  int            `json:"n_train"`
	Genes  int            `json:"n_genes"`
	Types  int            `json:"n_types"`        // published
	Unseen map[string]int `json:"unseen_by_type"` // cells
	Judged map[string]int `json:"judged_by_type"` // of them, the candidates for matching
}

func newSizes(c *lab.Case) Sizes {
	s := Sizes{Train: c.Problem.Train.X.Rows, Genes: len(c.About.Features), Unseen: map[string]int{}, Judged: map[string]int{}}
	for _, name := range c.About.Classes {
		if name != datacells.Unlabelled {
			s.Types++
		}
	}
	for _, y := range c.Test.Y {
		s.Unseen[c.About.Classes[y]]++
	}
	for _, i := range c.EvalRows() {
		s.Judged[c.About.Classes[c.Test.Y[i]]]++
	}
	return s
}

// property is a row of Table 1: its value for a case, and the paper's for PBMC-33k and Tabula
// Muris, "" for none.
type property struct {
	name          string
	of            func(rows []Row) string
	blood, murine string
}

func properties() []property {
	count := func(value func(Row) int) func([]Row) string {
		return func(rows []Row) string { return countRange(rows, value) }
	}
	return []property{
		{"cells", count(func(r Row) int { return r.Sizes.Train + r.Unseen }), "33,088", "41,647"},
		{"variable genes", count(func(r Row) int { return r.Sizes.Genes }), "2,000", "2,000"},
		{"types (the paper: Leiden's clusters)", count(func(r Row) int { return r.Sizes.Types }), "14", "35"},
		{"train", count(func(r Row) int { return r.Sizes.Train }), "28,124", "35,399"},
		{"unseen", count(func(r Row) int { return r.Unseen }), "4,964", "6,248"},
		{"forgotten", count(func(r Row) int { return r.Forget }), "30 (cluster 13), 35 scattered", "82 (cluster 33), 30 scattered"},
		{"unseen of the forgotten type", typeShare(func(r Row) map[string]int { return r.Sizes.Unseen }), "5*", "15*"},
		{"... of those open to matching", typeShare(func(r Row) map[string]int { return r.Sizes.Judged }), "5*", "15*"},
		{"matched by sampled z, as coded", count(func(r Row) int { return r.Drawn.Draws.Cells }), "194, scattered 330*", "137, scattered 285"},
		{"... of them of the forgotten type, by sampled z", typeShare(func(r Row) map[string]int { return r.Drawn.Draws.ByType }), "3*", ""},
		{"matched by means", count(func(r Row) int { return r.Drawn.Means.Cells }), "34*", ""},
		{"... of them of the forgotten type, by means", typeShare(func(r Row) map[string]int { return r.Drawn.Means.ByType }), "5*", ""},
		{"matched by both", count(func(r Row) int { return r.Drawn.Shared }), "17*", ""},
		{"mean distance, sampled z", func(rows []Row) string { return distanceText(rows, func(r Row) Matching { return r.Drawn.Draws }) }, "5.354*", "3.722*"},
		{"mean distance, means", func(rows []Row) string { return distanceText(rows, func(r Row) Matching { return r.Drawn.Means }) }, "1.776*", ""},
	}
}

// typeShare is the number of cells of the forgotten type among some cells, "" if cells of all
// types are forgotten.
func typeShare(among func(Row) map[string]int) func([]Row) string {
	return func(rows []Row) string {
		if rows[0].Type == "" {
			return ""
		}
		return countRange(rows, func(r Row) int { return among(r)[r.Type] }) + fmt.Sprintf(" of %s", countRange(rows,
			func(r Row) int { return sumCounts(among(r)) }))
	}
}

func sumCounts(counts map[string]int) (n int) {
	for _, k := range counts {
		n += k
	}
	return n
}

func distanceText(rows []Row, value func(Row) Matching) string {
	var all []float64
	for _, r := range rows {
		all = append(all, value(r).Distance)
	}
	low, high := report.FormatNumber(slices.Min(all), 2), report.FormatNumber(slices.Max(all), 2)
	if low == high {
		return low
	}
	return low + " to " + high
}

func (ev *evidence) table1() *paper.Output {
	t := &report.Table{
		ID: table1.ID, Title: table1.Title, Caption: table1.Doc, Provenance: ev.provenance(table1.ID),
		Columns: []report.Column{{Name: "what"}},
	}
	var shown [][]Row
	for _, c := range ev.Cases {
		if rows := ev.rowsOf(c.Label, Original); len(rows) > 0 {
			t.Columns, shown = append(t.Columns, report.Column{Name: c.Label, Note: c.forgetNote()}), append(shown, rows)
			t.Notes = append(t.Notes, compositions(c, rows[0])...)
		}
	}
	t.Columns = append(t.Columns, report.Column{Name: "PBMC-33k", Note: "as printed"}, report.Column{Name: "Tabula Muris", Note: "as printed"})
	for _, p := range properties() {
		row := report.Row{Cells: []report.Cell{report.Str(p.name)}}
		for _, rows := range shown {
			row.Cells = append(row.Cells, textOrGap(p.of(rows), "of all types"))
		}
		for _, printed := range []string{p.blood, p.murine} {
			row.Cells = append(row.Cells, textOrGap(printed, "not in the paper"))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Notes = append(append(t.Notes, "*: not in the paper, in its program's recorded outputs. The paper's 12 tissues of Tabula Muris are 11, and of its 82 "+
		"cells 51 have the annotation that it names.", "Ranges are over models of different seeds; the cells are the same in all of them."), ev.notes()...)
	return &paper.Output{Table: t}
}

// forgetNote describes the forget set in a note.
func (c Case) forgetNote() string {
	if n := c.scatteredCells(); n > 0 {
		return fmt.Sprintf("forgotten: %d cells of all types", n)
	}
	return "forgotten: " + forgottenClass(c.Setting)
}

// textOrGap is a cell with a text, or a gap if it is empty.
func textOrGap(text, gap string) report.Cell {
	if text == "" {
		return report.Gap(gap)
	}
	return report.Str(text)
}

// compositions list the types of the matched cells, for the first seed.
func compositions(c Case, r Row) []string {
	return []string{
		fmt.Sprintf("%s, seed %d, all unseen cells: %s.", c.Label, r.Seed, composition(r.Sizes.Unseen)),
		fmt.Sprintf("%s, seed %d, matched by sampled z: %s; by means: %s.",
			c.Label, r.Seed, composition(r.Drawn.Draws.ByType), composition(r.Drawn.Means.ByType)),
	}
}

// composition lists types by decreasing numbers: "B 12, NK 3".
func composition(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, counts[name])
	}
	return strings.Join(names, ", ")
}
