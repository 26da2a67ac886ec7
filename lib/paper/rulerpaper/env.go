// The environment of RULER's recipes, and how a study is computed.

package rulerpaper

import (
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
)

// Env is the environment of a recipe.
type Env struct {
	*paper.Env
}

// Collected are the rows of a study with their provenance, in the order of the grid.
type Collected struct {
	Study Study
	paper.Evidence[Row]
}

// has reports whether a row is one of the study's.
func (c *Collected) has(r Row) bool { return r.study == c.Study.Name }

// rowsOfAll are the rows of a variant at a fraction in several studies.
func rowsOfAll(parts []*Collected, variant string, fraction float64) (out []Row) {
	for _, c := range parts {
		out = append(out, rowsOf(c.Rows, variant, fraction)...)
	}
	return out
}

// diverged reports whether a run of a variant at a fraction diverged.
func (c *Collected) diverged(variant string, fraction float64) bool {
	return slices.ContainsFunc(rowsOf(c.Rows, variant, fraction), func(r Row) bool { return r.Diverged != "" })
}

// Collect computes a study, or reads it from the store.
func (e *Env) Collect(ctx context.Context, s Study) (*Collected, error) {
	all, err := e.CollectAll(ctx, []Study{s})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// CollectAll computes studies side by side, or reads them from the store.
func (e *Env) CollectAll(ctx context.Context, studies []Study) (all []*Collected, err error) {
	var measured [][]paper.Measurement[Row]
	for _, s := range studies {
		if err := lab.CheckLabels(s.Variants); err != nil {
			return nil, fmt.Errorf("study %s: %w", s.Name, err)
		}
		measured = append(measured, e.measurements(s))
	}
	found, err := paper.CollectAll(ctx, e.Env, measured)
	if err != nil {
		return nil, err
	}
	for k, s := range studies {
		rows := found[k].Rows
		for i := range rows {
			rows[i].study = s.Name
			if rows[i].Diverged != "" {
				rows[i].setNaN()
			}
		}
		all = append(all, &Collected{s, *found[k]})
	}
	return all, nil
}
