// Package fishing makes the tables and figures of "Fishing for Privacy" again: a
// variational autoencoder of single cells is to forget a rare type of cell, and
// attackers ask whether it has.
package fishing

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
		Name: "fishing", Title: "Fishing for Privacy",
		Scales: []paper.Scale{
			{Name: "quick", About: "takes a few minutes on two cores and no file (2,000 simulated cells, a small network, three seeds)"},
			{Name: "hour", About: "takes about an hour (PBMC-3k, its dendritic cells, the paper's network for 40 epochs, three seeds)"},
			{Name: "standard", About: "an evening on two cores (PBMC-3k, two rare types, the paper's network, five seeds)"},
		},
		Recipes: []paper.Recipe{table1, table2, table3, table4, table5, table6, table8, table9, within, figure1, figure2},
	}
}

func init() {
	within.Jobs = fleetJobs
	within.Make = func(ctx context.Context, e *paper.Env, scale string) (*paper.Output, error) {
		s, err := FleetStudyAt(scale)
		if err != nil {
			return nil, err
		}
		f, err := collectFleets(ctx, e, s)
		if err != nil {
			return nil, err
		}
		return f.table(), nil
	}
	for _, r := range []struct {
		*paper.Recipe
		study func(scale string) (Study, error)
		make  func(*evidence) *paper.Output
	}{
		{&table1, StudyAt, (*evidence).table1}, {&table2, StudyAt, (*evidence).table2}, {&table3, byForgetSet, (*evidence).table3},
		{&table4, StudyAt, (*evidence).table4}, {&table5, acrossAt, (*evidence).table5}, {&table6, StudyAt, (*evidence).table6},
		{&table8, StudyAt, (*evidence).table8}, {&table9, bySize, (*evidence).table9},
		{&figure1, StudyAt, (*evidence).figure1}, {&figure2, StudyAt, (*evidence).figure2},
	} {
		r.Jobs = func(ctx context.Context, e *paper.Env, scale string) ([]lab.Job, error) {
			s, err := r.study(scale)
			if err != nil {
				return nil, err
			}
			return jobs(ctx, e, s)
		}
		r.Recipe.Make = func(ctx context.Context, e *paper.Env, scale string) (*paper.Output, error) {
			s, err := r.study(scale)
			if err != nil {
				return nil, err
			}
			ev, err := collect(ctx, e, s)
			if err != nil {
				return nil, err
			}
			out := r.make(ev)
			out.Runs = report.RecordsOf(ev.rows)
			return out, nil
		}
	}
}
