// Package lenses makes the table of lenses: every unlearning method and control of several cases
// through every lens of package audit, and where the lenses disagree. The table belongs to no
// paper.
package lenses

import (
	"context"
	"reflect"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

const (
	id    = "lenses"
	title = "Do the lenses agree?"
	doc   = "Each cell: what a lens shows, its 95 % interval, and where that places the model between the original, of which nothing was unlearned, " +
		"and two networks that were retrained without the records, the oracle and one of another seed, which shows what a seed does. A lens that cannot " +
		"tell the original from these is blind on that case: nothing that it says of a method is evidence there. The network of the other seed is compared " +
		"with the oracle alone."
	picture = "How much of what the original remembers a lens finds in a model: 1 as in the original, dark, 0 as in the oracle, light; a dash where " +
		"the lens cannot tell these two apart. Where the numbers of a line differ, the lenses disagree. Numbers far below 0 or above 1 " +
		"lie beyond the oracle or the original. The table has the intervals."
)

// Paper is the table and its picture, for the command line.
func Paper() paper.Paper {
	return paper.Paper{
		Name: id, Title: title,
		Scales: []paper.Scale{
			{Name: "quick", About: "needs no data files and takes some minutes"},
			{Name: "standard", About: "adds RULER's ten tables, of 6,000 rows at most, photographs and PBMC-3k"},
			{Name: "paper", About: "takes all their rows"},
		},
		Recipes: []paper.Recipe{Recipe(), Picture()},
	}
}

// Recipe makes the table with its picture.
func Recipe() paper.Recipe { return recipe(id, title, doc) }

// Picture makes the picture alone.
func Picture() paper.Recipe { return recipe(id+"/"+paper.Figure, title+" The picture.", picture) }

func recipe(id, title, doc string) paper.Recipe { return newRecipe(id, title, doc, Make) }

// newRecipe is a recipe that calls a function on the cases of a scale.
func newRecipe(id, title, doc string, look func(context.Context, *paper.Env, []NamedCase, string) (*paper.Output, error)) paper.Recipe {
	evidence := []reflect.Type{reflect.TypeFor[audit.Reading]()}
	return paper.Recipe{ID: id, Title: title, Doc: doc, Jobs: jobs, Evidence: evidence,
		Make: func(ctx context.Context, e *paper.Env, scale string) (*paper.Output, error) {
			cases, err := Cases(scale)
			if err != nil {
				return nil, err
			}
			return look(ctx, e, cases, scale)
		}}
}

// jobs are the trainings and unlearnings of every row of every case.
func jobs(ctx context.Context, e *paper.Env, scale string) ([]lab.Job, error) {
	cases, err := Cases(scale)
	if err != nil {
		return nil, err
	}
	var out []lab.Job
	for _, n := range cases {
		var methods []unlearn.Method
		for _, a := range n.variants() {
			methods = append(methods, a.Method)
		}
		more, err := e.Lab().Jobs(ctx, n.Setting, methods...)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}
