package rulerpaper

// Recipes: jobs, provenance and notes.

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Recipe makes one table or figure of the paper.
type Recipe struct {
	ID    string // "ruler/table1"
	Title string
	Doc   string // what the paper claims with it, and what to look for
	// studies are the studies that it needs, in the order of make's arguments.
	studies func(ctx context.Context, s Scale) ([]Study, error)
	make    func(e *Env, s Scale, parts []*Collected) (*Output, error)
}

// oneStudy is the studies function of a recipe with one study.
func oneStudy(study func(Scale) Study) func(context.Context, Scale) ([]Study, error) {
	return func(_ context.Context, s Scale) ([]Study, error) { return []Study{study(s)}, nil }
}

// Recipes lists all recipes of the paper.
func Recipes() []Recipe {
	return []Recipe{
		table1, table3, table4, table5, table6, table7, table9, table10, table11, table12, table13, table14,
		pairwise, gallery, copies, published, imageRecipe, textRecipe, textCopies, claims, recordClaims, figure5, figure6, figure7, figure8,
	}
}

// RecipeByID finds a recipe: "ruler/table1", "table1" or, with kind "table", "1".
func RecipeByID(kind, name string) (Recipe, error) {
	found, err := Paper().Find(kind, name)
	if err != nil {
		return Recipe{}, err
	}
	all := Recipes()
	return all[slices.IndexFunc(all, func(r Recipe) bool { return r.ID == found.ID })], nil
}

// Run makes the table or figure at a scale.
func (r Recipe) Run(ctx context.Context, e *Env, s Scale) (*Output, error) {
	out, err := r.output(ctx, e, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.ID, err)
	}
	return out, nil
}

func (r Recipe) output(ctx context.Context, e *Env, s Scale) (*Output, error) {
	s, err := s.withStandIns(ctx)
	if err != nil {
		return nil, err
	}
	studies, err := r.studies(ctx, s)
	if err != nil {
		return nil, err
	}
	parts, err := e.CollectAll(ctx, studies)
	if err != nil {
		return nil, err
	}
	out, err := r.make(e, s, parts)
	if err != nil {
		return nil, err
	}
	addCommon(out, parts)
	return out, nil
}

// addCommon adds the notes and provenance that all outputs have.
func addCommon(out *Output, parts []*Collected) {
	out.Runs = runsOf(parts)
	if out.Table != nil {
		nameGaps(out.Table, parts)
		out.Table.Notes = append(out.Table.Notes, warnings(parts)...)
	}
}

// runsOf are the rows behind an output, each with its study.
func runsOf(parts []*Collected) (out report.Records) {
	for _, c := range parts {
		for _, r := range c.Rows {
			if r.Diverged != "" {
				out = append(out, divergedRecord{c.Study.Name, r.DataSet, r.Variant, r.Control, r.Fraction, r.Seed, r.ForgetSeed, r.Diverged})
				continue
			}
			if c.Study.countsOnly() {
				out = append(out, countRecord{c.Study.Name, r.DataSet, r.Fraction, r.ForgetSeed, r.Forget, r.Retain, r.Documents, r.InRetain, r.InTest,
					r.WithCopy, r.Without})
				continue
			}
			record := rowRecord{c.Study.Name, r}
			if r.TextEvidence == nil {
				out = append(out, record)
				continue
			}
			out = append(out, textRecord{rowRecord: record, M4WithCopy: measuredOn(r.WithCopy, r.M4WithCopy), M4Without: measuredOn(r.Without, r.M4Without)})
		}
	}
	return out
}

// rowRecord is the record of a row.
type rowRecord struct {
	Study string `json:"study"`
	Row
}

// textRecord is the record of a row of texts, where what was not measured is null and not 0: a masked
// language model has no accuracy, and there may be no record with or without a copy.
type textRecord struct {
	rowRecord
	ForgetAcc  *float64 `json:"forget_accuracy"`
	RetainAcc  *float64 `json:"retain_accuracy"`
	TestAcc    *float64 `json:"test_accuracy"`
	M4WithCopy *float64 `json:"m4_with_copy"`
	M4Without  *float64 `json:"m4_without"`
}

// measuredOn returns a value that was measured on n records, nil if there were none.
func measuredOn(n int, value float64) *float64 {
	if n == 0 {
		return nil
	}
	return &value
}

// countRecord is the record of a row that counts copies only.
type countRecord struct {
	Study      string  `json:"study"`
	DataSet    string  `json:"data_set"`
	Fraction   float64 `json:"fraction"`
	ForgetSeed uint32  `json:"forget_seed"`
	Forget     int     `json:"n_forget"`
	Retain     int     `json:"n_retain"`
	Documents  int     `json:"n_documents"`
	InRetain   int     `json:"n_in_retain"`
	InTest     int     `json:"n_in_test"`
	WithCopy   int     `json:"n_with_copy"`
	Without    int     `json:"n_without"`
}

// divergedRecord is the record of a diverged run.
type divergedRecord struct {
	Study      string  `json:"study"`
	DataSet    string  `json:"data_set"`
	Variant    string  `json:"arm"`
	Control    bool    `json:"control"`
	Fraction   float64 `json:"fraction"`
	Seed       int     `json:"seed"`
	ForgetSeed uint32  `json:"forget_seed"`
	Diverged   string  `json:"diverged"`
}

// nameGaps gives the reason for the gaps in the rows of diverged variants.
func nameGaps(t *report.Table, parts []*Collected) {
	for _, row := range t.Rows {
		bad := func(r Row) bool { return r.Diverged != "" && len(row.Cells) > 0 && row.Cells[0].Text == r.Variant }
		if !slices.ContainsFunc(parts, func(c *Collected) bool { return slices.ContainsFunc(c.Rows, bad) }) {
			continue
		}
		for i := range row.Cells {
			if row.Cells[i].Missing != "" {
				row.Cells[i].Missing = "diverged"
			}
		}
	}
}

// warnings are notes on runs that diverged, which are gaps in the table, and on runs that moved
// the weights extremely far.
func warnings(parts []*Collected) (notes []string) {
	for _, c := range parts {
		for _, r := range c.Rows {
			where := fmt.Sprintf("%s on %s, seed %d, fraction %g, forget seed %d", r.Variant, r.DataSet, r.Seed, r.Fraction, r.ForgetSeed)
			switch {
			case r.Diverged != "":
				notes = append(notes, fmt.Sprintf("%s: %s. A mean that it would be part of has no number.", where, r.Diverged))
			case r.Displacement > unlearn.LargeDisplacement:
				notes = append(notes, fmt.Sprintf("%s: the weights moved by %.3g times their own length; nothing of the original is left "+
					"to have forgotten.", where, r.Displacement))
			}
		}
	}
	return notes
}

// Jobs lists the models and the evidence of the recipe's studies.
func (r Recipe) Jobs(ctx context.Context, e *Env, s Scale) ([]lab.Job, error) {
	s, err := s.withStandIns(ctx)
	if err != nil {
		return nil, err
	}
	studies, err := r.studies(ctx, s)
	if err != nil {
		return nil, err
	}
	var out []lab.Job
	for _, study := range studies {
		jobs, err := paper.MeasurementJobs(ctx, e.Env, e.measurements(study))
		if err != nil {
			return nil, err
		}
		out = append(out, jobs...)
	}
	return lab.Dedup(out), nil
}

// provenance is the provenance of an output of several studies.
func (e *Env) provenance(r Recipe, s Scale, parts ...*Collected) report.Provenance {
	data := map[string]string{}
	var seeds []int
	var runs []string
	for _, c := range parts {
		maps.Copy(data, c.Data)
		seeds, runs = append(seeds, c.Study.Seeds...), append(runs, c.Runs...)
	}
	slices.Sort(seeds)
	return e.Provenance(r.ID, s.Name, Results, slices.Compact(seeds), data, runs)
}

// table starts a recipe's table, with the common notes.
func (e *Env) table(r Recipe, s Scale, parts ...*Collected) *report.Table {
	t := &report.Table{ID: r.ID, Title: r.Title, Caption: r.Doc, Provenance: e.provenance(r, s, parts...)}
	kinds := kindsOf(parts)
	for _, c := range kinds {
		if len(c.Synthetic) > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("Generated data stand in for published %s: %s. Larger scales take the published "+
				"sets that are on this machine (lethe data list).", c.Study.records(), strings.Join(c.Synthetic, ", ")))
		}
	}
	if s.Name != "paper" && len(parts) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("Scale %s: %s. It shows the mechanism; it is less than the paper's own experiment.", s.Name, sizesOf(kinds)))
	}
	for _, c := range parts {
		if c.Study.RowCap > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("Of data sets with more than %d rows a random subset of that size is used.", c.Study.RowCap))
			break
		}
	}
	return t
}

// kindsOf returns the first study of each kind of records.
func kindsOf(parts []*Collected) (out []*Collected) {
	for _, c := range parts {
		if !slices.ContainsFunc(out, func(o *Collected) bool { return o.Study.records() == c.Study.records() }) {
			out = append(out, c)
		}
	}
	return out
}

// sizesOf says how many data sets and seeds studies have, by kind of records if there are several.
func sizesOf(kinds []*Collected) string {
	var out []string
	for _, c := range kinds {
		size := report.Plural(len(c.Study.DataSets), "data set") + " and " + report.Plural(len(c.Study.Seeds), "seed")
		if len(kinds) > 1 {
			size = c.Study.records() + " " + size
		}
		out = append(out, size)
	}
	return strings.Join(out, ", ")
}

// meta has title, caption and source of a recipe's figure.
func (e *Env) meta(r Recipe, s Scale, c *Collected) plot.Meta {
	m := plot.Meta{Title: r.Title, Caption: r.Doc, Source: e.provenance(r, s, c).Line()}
	if len(c.Study.DataSets) > 6 {
		m.Width = 1080 // wide enough for the names of ten data sets
	}
	return m
}

// variants lists a study's variants as table rows: methods first, then controls.
func (c *Collected) variants() []Variant { return c.Study.Variants }

func kindOf(a Variant) report.Kind {
	if a.Control {
		return report.Control
	}
	return report.Method
}

func percent(f float64) string { return fmt.Sprintf("%g %%", f*100) }
