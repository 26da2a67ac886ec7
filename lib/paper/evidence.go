package paper

// Measurements on the models of a study, and recipes made of them.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Measurement computes rows of R on one case and keeps them in the store.
type Measurement[R any] struct {
	ID      string // of its job
	About   string // description: "PBMC-3k, seed 2"
	Setting lab.Setting
	Models  []Models // models that it needs
	// Key is the key of the rows in the store.
	Key func(c *lab.Case) store.Key
	// Cost is roughly the number of records processed.
	Cost    func(c *lab.Case) int64
	File    string // file name in the store, "": rows.json
	Measure func(ctx context.Context, c *lab.Case) ([]R, error)
}

// ForSeeds makes a measurement for every case and each of its seeds, case by case.
func ForSeeds[C, R any](cases []C, seeds int, piece func(of C, seed int) Measurement[R]) (out []Measurement[R]) {
	for _, of := range cases {
		for seed := range seeds {
			out = append(out, piece(of, seed))
		}
	}
	return out
}

// Models are the models that methods produce in the case of a setting.
type Models struct {
	Setting lab.Setting
	Methods []unlearn.Method
}

// Evidence is the result of the measurements of a study.
type Evidence[R any] struct {
	Rows      []R
	Runs      []string          // run IDs in the store
	Data      map[string]string // data set -> hash
	Caveats   []string
	Missing   []string // data sets whose files are not on this machine
	Generated bool     // whether any data set is synthetic
}

// Collect finds the measurements in the store or computes them, models and measurements in
// parallel. Cases whose data are not on this machine are left out. If none is left, the error
// says where each data set belongs.
func Collect[R any](ctx context.Context, e *Env, pieces []Measurement[R]) (*Evidence[R], error) {
	jobs, err := MeasurementJobs(ctx, e, pieces)
	if err != nil {
		return nil, err
	}
	if err := e.Lab().Do(ctx, e.Workers, jobs); err != nil {
		return nil, err
	}
	ev, missing := &Evidence[R]{Data: map[string]string{}}, []error(nil)
	for _, p := range pieces {
		if slices.Contains(ev.Missing, p.Setting.DataSet()) {
			continue
		}
		err := ev.add(ctx, e, p)
		switch {
		case errors.Is(err, datasets.ErrMissing):
			ev.Missing, missing = append(ev.Missing, p.Setting.DataSet()), append(missing, err)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", p.About, err)
		}
	}
	if len(ev.Rows) == 0 && len(ev.Missing) > 0 {
		return nil, fmt.Errorf("no data set of this scale is on this machine: lethe data get %s: %w", strings.Join(ev.Missing, " "), errors.Join(missing...))
	}
	return ev, nil
}

func (ev *Evidence[R]) add(ctx context.Context, e *Env, p Measurement[R]) error {
	c, err := e.Lab().Case(ctx, p.Setting)
	if err != nil {
		return err
	}
	run, err := p.run(ctx, e.Lab(), c)
	if err != nil {
		return err
	}
	var rows []R
	if err := run.JSON(p.file(), &rows); err != nil {
		return err
	}
	ev.Rows, ev.Runs = append(ev.Rows, rows...), append(ev.Runs, run.ID)
	ev.addData(c)
	return nil
}

func (p Measurement[R]) file() string { return cmp.Or(p.File, "rows.json") }

// key is the key of the rows in the store. It includes the external code that the case or the
// measurement uses, whatever Key puts into the configuration.
func (p Measurement[R]) key(c *lab.Case) store.Key {
	key := p.Key(c)
	key.DependsOn = append(key.DependsOn, c.Goal, p.Measure)
	for _, m := range p.Models {
		key.DependsOn = append(key.DependsOn, m.Setting.Goal, m.Setting.Data, m.Setting.Forget, m.Setting.Model, m.Methods)
	}
	return key
}

// run finds or computes the rows.
func (p Measurement[R]) run(ctx context.Context, l *lab.Lab, c *lab.Case) (*store.Run, error) {
	run, err := l.Store.Do(ctx, p.key(c), func(ctx context.Context, w *store.Work) error {
		ctx, task := lab.StartJob(ctx, p.ID, p.About)
		defer task.Done()
		rows, err := p.Measure(ctx, c)
		if err != nil {
			return err
		}
		return w.WriteJSON(p.file(), rows)
	})
	if err == nil {
		lab.ReportDone(ctx, p.ID)
	}
	return run, err
}

// work is the work of the measurement's job.
func (p Measurement[R]) work(l *lab.Lab) lab.Work {
	return func(ctx context.Context) (string, error) {
		c, err := l.Case(ctx, p.Setting)
		if err != nil {
			return "", err
		}
		run, err := p.run(ctx, l, c)
		if err != nil {
			return "", err
		}
		return run.ID, nil
	}
}

// addData records the data set of a case.
func (ev *Evidence[R]) addData(c *lab.Case) {
	about := c.About
	ev.Data[c.DataName()] = c.Hash
	ev.Generated = ev.Generated || about.Synthetic
	if about.Caveat != "" && !slices.Contains(ev.Caveats, about.Caveat) {
		ev.Caveats = append(ev.Caveats, about.Caveat)
	}
}

// MeasurementJobs lists the models of the measurements and the measurements, dependencies first.
func MeasurementJobs[R any](ctx context.Context, e *Env, pieces []Measurement[R]) ([]lab.Job, error) {
	var out []lab.Job
	for _, p := range pieces {
		jobs, err := p.jobs(ctx, e.Lab())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.About, err)
		}
		out = append(out, jobs...)
	}
	return lab.Dedup(out), nil
}

func (p Measurement[R]) jobs(ctx context.Context, l *lab.Lab) (out []lab.Job, err error) {
	for _, m := range p.Models {
		models, err := l.Jobs(ctx, m.Setting, m.Methods...)
		if err != nil {
			return nil, err
		}
		out = append(out, models...)
	}
	job := lab.Job{ID: p.ID, Needs: lab.JobIDs(out), Work: p.work(l)}
	c, err := l.Case(ctx, p.Setting)
	switch {
	case errors.Is(err, datasets.ErrMissing):
		job.Missing = true
	case err != nil:
		return nil, err
	default:
		job.Cost = p.Cost(c)
		if err := l.Lookup(&job, p.key(c)); err != nil {
			return nil, err
		}
	}
	return append(out, job), nil
}

// StudyRecipe is a recipe that measures a study S at the requested scale and shows the result.
// Its rows are the values behind the output, unless show sets others.
func StudyRecipe[S, R any](r Recipe, study func(scale string) (S, error), pieces func(*Env, S) []Measurement[R],
	show func(*Env, S, *Evidence[R]) *Output) Recipe {
	shown := func(e *Env, s S, found *Evidence[R]) *Output {
		out := show(e, s, found)
		if out.Runs == nil {
			out.Runs = report.NewRecords(found.Rows)
		}
		return out
	}
	r.Jobs = func(ctx context.Context, e *Env, scale string) ([]lab.Job, error) {
		s, err := study(scale)
		if err != nil {
			return nil, err
		}
		return MeasurementJobs(ctx, e, pieces(e, s))
	}
	r.Make = func(ctx context.Context, e *Env, scale string) (*Output, error) {
		s, err := study(scale)
		if err != nil {
			return nil, err
		}
		found, err := Collect(ctx, e, pieces(e, s))
		if err != nil {
			return nil, err
		}
		return shown(e, s, found), nil
	}
	r.Evidence = []reflect.Type{reflect.TypeFor[R]()}
	r.FromRuns = func(e *Env, scale string, runs io.Reader) (*Output, error) {
		s, err := study(scale)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.ID, err)
		}
		rows, err := report.ReadRecords[R](runs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.ID, err)
		}
		return shown(e, s, &Evidence[R]{Rows: rows, Data: map[string]string{}}), nil
	}
	return r
}

// MissingNotes are notes on the missing data sets, one each.
func (ev *Evidence[R]) MissingNotes() []string {
	var out []string
	for _, m := range ev.Missing {
		out = append(out, fmt.Sprintf("Left out, its files are not on this machine: %s. Get it with: lethe data get %s", m, m))
	}
	return out
}

// Provenance is the provenance of a recipe's output from this evidence, on models of the
// given number of seeds.
func (ev *Evidence[R]) Provenance(e *Env, id, scale string, results, seeds int) report.Provenance {
	var info engine.Info
	if e.Engine != nil { // committed values can be shown without an engine
		info = e.Engine.Info()
	}
	p := report.Provenance{
		Scale: scale, Engine: info.Kind, Kernel: info.Kernel, Device: info.Device.String(),
		ResultsVersion: fmt.Sprint(results), Data: ev.Data, Command: Command(id, scale),
	}
	for s := range seeds {
		p.Seeds = append(p.Seeds, int64(s+e.Shift))
	}
	p.Runs, p.RunsHash = CountRuns(ev.Runs)
	return p
}
