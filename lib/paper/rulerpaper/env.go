package rulerpaper

import (
	"context"
	"slices"
	"sync"

	"github.com/lethe-ml/lethe/lib/paper"
)

// Env is what a recipe runs in.
type Env struct {
	*paper.Env
}

// Collected are the rows of a study with what they were computed from.
type Collected struct {
	Study Study
	Rows  []Row
	Data  map[string]string // data set -> hash of the prepared data
	Runs  []string          // IDs of the evidence runs, sorted
	// Synthetic names the data sets that were generated.
	Synthetic []string
}

// diverged reports whether a run of an arm at a fraction has no numbers.
func (c *Collected) diverged(arm string, fraction float64) bool {
	return slices.ContainsFunc(of(c.Rows, arm, fraction), func(r Row) bool { return r.Diverged != "" })
}

// Collect computes a study, or reads it from the store. Rows come in the order
// of the grid, whatever order they were computed in.
func (e *Env) Collect(ctx context.Context, s Study) (*Collected, error) {
	if e.Progress != nil && !e.Lab().Expecting() {
		jobs, err := e.studyJobs(ctx, s)
		if err != nil {
			return nil, err
		}
		e.Lab().Expect(jobs)
		defer e.Lab().Expect(nil)
	}
	out := &Collected{Study: s, Data: map[string]string{}}
	weight := map[string]int64{}
	for _, name := range s.DataSets {
		p, err := e.Lab().Problem(ctx, s.setting(cellKey{dataSet: name}))
		if err != nil {
			return nil, err
		}
		out.Data[name], weight[name] = p.Hash, int64(p.Train.X.Rows)
		if p.About.Synthetic {
			out.Synthetic = append(out.Synthetic, name)
		}
	}
	cells := s.cells()
	rows := make([][]Row, len(cells))
	out.Runs = make([]string, len(cells))
	err := e.sweep(ctx, cells, weight, func(ctx context.Context, i int) (err error) {
		rows[i], out.Runs[i], err = e.evidence(ctx, s, cells[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		out.Rows = append(out.Rows, r...)
	}
	slices.Sort(out.Runs)
	return out, nil
}

// sweep runs work on every cell, the heaviest first, on a few goroutines. The
// first error stops it; what was finished is in the store.
func (e *Env) sweep(ctx context.Context, cells []cellKey, weight map[string]int64, work func(ctx context.Context, i int) error) error {
	order := upTo(len(cells))
	slices.SortStableFunc(order, func(a, b int) int {
		return int(weight[cells[b].dataSet] - weight[cells[a].dataSet])
	})
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan int)
	var wg sync.WaitGroup
	for range e.workers() {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				if err := work(ctx, i); err != nil {
					stop(err)
				}
			}
		}()
	}
feed:
	for _, i := range order {
		select {
		case next <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

func (e *Env) workers() int {
	if e.Workers > 0 {
		return e.Workers
	}
	return e.Engine.Cores()
}
