// Package tofu audits the TOFU benchmark (Maini et al. 2024) from its published evaluation logs, and
// the table of the UDS study: what the benchmark's numbers say of models that are known to be full or
// retrained. No model is run. The logs are those of package logs (lethe data get tofu_logs).
package tofu

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/paper"
)

// Results is the version of the numbers of this package.
const Results = 1

// Paper lists the tables to the command line.
func Paper() paper.Paper {
	return paper.Paper{
		Name: "tofu", Title: "TOFU, audited from its published logs", ArXiv: "2401.06121",
		Scales: []paper.Scale{
			{Name: "quick", About: "takes seconds and needs the logs (lethe data get tofu_logs); power is over 50 draws of authors"},
			{Name: "standard", About: "200 draws"},
			{Name: "paper", About: "1,000 draws"},
		},
		Recipes: []paper.Recipe{utilityTable(), qualityTable(), clustersTable(), ranksTable()},
	}
}

// level is that of all intervals.
const level = 0.95

// newRecipe is a recipe that makes its output of the published files at a number of draws.
func newRecipe(r paper.Recipe, show func(ctx context.Context, e *paper.Env, s study) (*paper.Output, error)) paper.Recipe {
	r.Make = func(ctx context.Context, e *paper.Env, scale string) (*paper.Output, error) {
		draws, known := map[string]int{"quick": 50, "standard": 200, "paper": 1000}[scale]
		if !known {
			return nil, fmt.Errorf("scale %q is not one of quick, standard, paper", scale)
		}
		out, err := show(ctx, e, study{scale: scale, draws: draws})
		if err != nil {
			return nil, err
		}
		out.Table.ID, out.Table.Title, out.Table.Caption = r.ID, r.Title, r.Doc
		return out, nil
	}
	return r
}

// study is what one scale computes.
type study struct {
	scale string
	draws int // of authors, for the power
}
