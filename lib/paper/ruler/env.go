package ruler

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// Env is what a recipe runs in.
type Env struct {
	Engine *engine.Engine
	Store  *store.Store
	// Workers is the number of cells computed side by side, 0: one per core.
	Workers int
	// Progress is told after every cell how much of the work is done. It may be
	// nil and is never called by two goroutines at once.
	Progress func(Progress)

	once       sync.Once
	multiplier ruler.Multiplier
	mu         sync.Mutex
	problems   map[string]func() (*datasets.Prepared, error)
	lab        *audit.Lab
}

func (e *Env) start() (err error) {
	e.once.Do(func() {
		e.problems, e.lab = map[string]func() (*datasets.Prepared, error){}, &audit.Lab{Engine: e.Engine, Store: e.Store}
		e.multiplier, err = e.Engine.NewMultiplier()
	})
	return err
}

// problem loads, splits and standardises a data set once, and joins the study's
// network to it.
func (e *Env) problem(ctx context.Context, s Study, name string) (*audit.Problem, error) {
	key := fmt.Sprintf("%s/%d", name, s.RowCap)
	e.mu.Lock()
	load := e.problems[key]
	if load == nil {
		load = sync.OnceValues(func() (*datasets.Prepared, error) {
			return audit.Prepare(ctx, name, s.RowCap, testFraction, splitSeed)
		})
		e.problems[key] = load
	}
	e.mu.Unlock()
	p, err := load()
	if err != nil {
		return nil, fmt.Errorf("data set %s: %w", name, err)
	}
	return e.lab.Problem(p, s.Arch.build(p.Train.X.Cols, len(p.About.Classes)))
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

// Collect computes a study, or reads it from the store. Rows come in the order
// of the grid, whatever order they were computed in.
func (e *Env) Collect(ctx context.Context, s Study) (*Collected, error) {
	if err := e.start(); err != nil {
		return nil, err
	}
	out := &Collected{Study: s, Data: map[string]string{}}
	weight := map[string]int64{}
	for _, name := range s.DataSets {
		p, err := e.problem(ctx, s, name)
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
	err := e.sweep(ctx, s, cells, weight, func(ctx context.Context, i int) (err error) {
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
func (e *Env) sweep(ctx context.Context, s Study, cells []cellKey, weight map[string]int64, work func(ctx context.Context, i int) error) error {
	order := upTo(len(cells))
	slices.SortStableFunc(order, func(a, b int) int {
		return int(weight[cells[b].dataSet] - weight[cells[a].dataSet])
	})
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan int)
	p := Progress{}
	for _, c := range cells {
		p.Total += weight[c.dataSet]
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range e.workers() {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				if err := work(ctx, i); err != nil {
					stop(err)
					continue
				}
				mu.Lock()
				p.Done += weight[cells[i].dataSet]
				p.What = fmt.Sprintf("%s: %s, seed %d, fraction %g", s.Name, cells[i].dataSet, cells[i].seed, cells[i].fraction)
				if e.Progress != nil {
					e.Progress(p)
				}
				mu.Unlock()
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
