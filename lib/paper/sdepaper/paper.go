package sdepaper

// SDE's recipes and scales as the command line lists them.

import (
	"context"
	"reflect"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/paper/sdepaper/diffusion"
	"github.com/lethe-ml/lethe/lib/paper/sdepaper/toy"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
)

// Results is the version of the numbers.
const Results = lab.ResultsVersion

// Paper is the paper with its recipes, for the command line.
func Paper() paper.Paper {
	return paper.Paper{
		Name: "sde", Title: "SDE", ArXiv: "2603.00587",
		Scales: Scales(),
		Recipes: []paper.Recipe{
			table1, table2, table2b, table3, table3b, table4, table4b, table7, table8, table8b, table9, table10, lastBatchTable, toyTable,
			figure1, figure2, figure3, figure4, figure5, figure6, diffusionTable,
		},
	}
}

// The toy experiment has one recipe for the table and one for the figure, and so has the
// generative case.
var (
	toyTable       = ofToy("sde/toy", "SDE's toy in numbers: batches whose members stay together")
	figure5        = ofToy("sde/figure5", "SDE Fig. 5. The fixed-batch toy")
	figure6        = ofDiffusion("sde/figure6", diffusion.Title)
	diffusionTable = ofDiffusion("sde/diffusion", "SDE Fig. 6 in numbers: a denoiser's encoder")
)

func ofToy(id, title string) paper.Recipe {
	jobs := func(ctx context.Context, e *paper.Env, scale string) ([]lab.Job, error) {
		if _, err := StudyAt(scale); err != nil {
			return nil, err
		}
		return toy.Jobs(ctx, e.Lab(), scale)
	}
	evidence := []reflect.Type{reflect.TypeFor[toy.Snapshot]()}
	return paper.Recipe{ID: id, Title: title, Doc: toy.Doc, Jobs: jobs, Evidence: evidence,
		Make: func(ctx context.Context, e *paper.Env, scale string) (*paper.Output, error) {
			if _, err := StudyAt(scale); err != nil {
				return nil, err
			}
			t, f, err := toy.Output(ctx, e.Lab(), scale)
			if err != nil {
				return nil, err
			}
			return oneOf(id, t, f), nil
		}}
}

func ofDiffusion(id, title string) paper.Recipe {
	jobs := func(ctx context.Context, e *paper.Env, scale string) ([]lab.Job, error) {
		if _, err := StudyAt(scale); err != nil {
			return nil, err
		}
		return diffusion.Jobs(ctx, e.Lab(), scale)
	}
	evidence := []reflect.Type{reflect.TypeFor[diffusion.Variant](), reflect.TypeFor[diffusion.Denoised]()}
	return paper.Recipe{ID: id, Title: title, Doc: diffusion.Doc, Jobs: jobs, Evidence: evidence,
		Make: func(ctx context.Context, e *paper.Env, scale string) (*paper.Output, error) {
			if _, err := StudyAt(scale); err != nil {
				return nil, err
			}
			t, f, err := diffusion.Output(ctx, e.Lab(), scale)
			if err != nil {
				return nil, err
			}
			return oneOf(id, t, f), nil
		}}
}

// oneOf is the table or the figure, whichever the recipe's ID names.
func oneOf(id string, t *report.Table, f plot.Figure) *paper.Output {
	if (paper.Recipe{ID: id}).Kind() == paper.Figure {
		return &paper.Output{Figure: f}
	}
	return &paper.Output{Table: t}
}
