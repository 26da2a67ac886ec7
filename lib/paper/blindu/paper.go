// Package blindu makes the tables and figures of "BlindU: Blind Machine Unlearning
// without Revealing Erasing Data" again: an information bottleneck is to forget
// records, a backdoor's or any, that the server who holds it never sees.
package blindu

import (
	"context"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

// Results is the version of the numbers of this paper's tables.
const Results = 1

// Paper lists the tables and figures to the command line.
func Paper() paper.Paper {
	return paper.Paper{
		Name: "blindu", Title: "BlindU",
		Scales: []paper.Scale{
			{Name: "quick", About: "takes a minute or two on two cores and no file (generated drawings, a small network, three seeds)"},
			{Name: "standard", About: "takes an hour or two on two cores (MNIST and Adult, whole, three seeds)"},
			{Name: "paper", About: "takes an evening on two cores (MNIST and Adult, whole, five seeds)"},
		},
		Recipes: []paper.Recipe{ofModels(table3, (*evidence).table3), ofModels(figure6, (*evidence).figure6)},
	}
}

// ofModels is a recipe whose rows are those of models in a study.
func ofModels(r paper.Recipe, show func(*evidence) *paper.Output) paper.Recipe {
	r.Jobs = func(ctx context.Context, e *paper.Env, scale string) ([]lab.Job, error) {
		s, err := StudyAt(scale)
		if err != nil {
			return nil, err
		}
		return paper.PieceJobs(ctx, e, pieces(e, s))
	}
	r.Make = func(ctx context.Context, e *paper.Env, scale string) (*paper.Output, error) {
		s, err := StudyAt(scale)
		if err != nil {
			return nil, err
		}
		ev, err := collect(ctx, e, s)
		if err != nil {
			return nil, err
		}
		out := show(ev)
		out.Runs = report.RecordsOf(ev.Rows)
		return out, nil
	}
	return r
}
