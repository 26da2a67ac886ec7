// The environment of RULER's recipes, and how a study is computed.

package rulerpaper

import (
	"context"
	"slices"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
)

// Env is the environment of a recipe.
type Env struct {
	*paper.Env
}

// Collected are the rows of a study with their provenance.
type Collected struct {
	Study Study
	Rows  []Row
	Data  map[string]string // data set -> hash of the prepared data
	Runs  []string          // IDs of the evidence runs, sorted
	// Synthetic names the synthetic data sets.
	Synthetic []string
}

// diverged reports whether a run of a variant at a fraction diverged.
func (c *Collected) diverged(variant string, fraction float64) bool {
	return slices.ContainsFunc(rowsOf(c.Rows, variant, fraction), func(r Row) bool { return r.Diverged != "" })
}

// Collect computes a study, or reads it from the store. Rows are in the order of the grid.
func (e *Env) Collect(ctx context.Context, s Study) (*Collected, error) {
	out := &Collected{Study: s, Data: map[string]string{}}
	for _, k := range s.dataKeys() {
		p, err := e.Lab().Problem(ctx, s.setting(k))
		if err != nil {
			return nil, err
		}
		out.Data[s.dataName(k)] = p.Hash
		if p.About.Synthetic && !slices.Contains(out.Synthetic, k.dataSet) {
			out.Synthetic = append(out.Synthetic, k.dataSet)
		}
	}
	jobs, err := e.studyJobs(ctx, s)
	if err != nil {
		return nil, err
	}
	ctx, task := lab.TrackJobs(ctx, s.Name, jobs)
	defer task.Done()
	if err := e.Lab().Do(ctx, e.Workers, jobs); err != nil {
		return nil, err
	}
	for _, k := range s.cells() {
		rows, run, err := e.evidence(ctx, s, k)
		if err != nil {
			return nil, err
		}
		out.Rows, out.Runs = append(out.Rows, rows...), append(out.Runs, run)
	}
	slices.Sort(out.Runs)
	return out, nil
}
