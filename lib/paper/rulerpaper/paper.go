package rulerpaper

// RULER's recipes and scales as the command line lists them.

import (
	"context"
	"io/fs"
	"reflect"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

// Output is the result of a recipe: a table, a figure or both.
type Output = paper.Output

// Paper is the paper with its recipes, for the command line.
func Paper() paper.Paper {
	p := paper.Paper{Name: "ruler", Title: "RULER", ArXiv: "2605.27569"}
	for _, s := range Scales() {
		p.Scales = append(p.Scales, paper.Scale{Name: s.Name, About: s.About})
	}
	evidence := []reflect.Type{reflect.TypeFor[Row]()}
	for _, r := range Recipes() {
		p.Recipes = append(p.Recipes, paper.Recipe{ID: r.ID, Title: r.Title, Doc: r.Doc, Jobs: r.jobsAtScale, Make: r.atScale, Evidence: evidence})
	}
	return p
}

// atScale makes the output at that scale.
func (r Recipe) atScale(ctx context.Context, e *paper.Env, scale string) (*Output, error) {
	s, err := ScaleByName(scale)
	if err != nil {
		return nil, err
	}
	return r.output(ctx, paper.Shared(e, envOf), s)
}

// jobsAtScale lists the jobs at that scale.
func (r Recipe) jobsAtScale(ctx context.Context, e *paper.Env, scale string) ([]lab.Job, error) {
	s, err := ScaleByName(scale)
	if err != nil {
		return nil, err
	}
	return r.Jobs(ctx, paper.Shared(e, envOf), s)
}

func envOf(e *paper.Env) *Env { return &Env{Env: e} }

// Committed is paper.Committed for a recipe of this paper, "table1".
func Committed(files fs.FS, name string) (*report.Table, error) {
	return paper.Committed(files, "ruler/"+name)
}

// Excerpt is paper.Excerpt.
func Excerpt(t *report.Table, keep func(report.Row) bool, columns ...string) (*report.Table, error) {
	return paper.Excerpt(t, keep, columns...)
}

// Number is paper.Number.
func Number(t *report.Table, column, group string, begins ...string) (float64, error) {
	return paper.Number(t, column, group, begins...)
}
