package sdepaper

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// measurementJobs is a case that a recipe is made of: the arms whose models it needs, and
// what of them is judged and kept.
type measurement struct {
	Setting
	fraction float64
	seed     int
	variants []Variant
	judge    part // of the retrained model, "" for none
	rows     bool // every arm is measured as in table 4
}

// retrainedMeasurements are the retrained models of every setting, fraction and seed.
func retrainedMeasurements(s Study) []measurement {
	out := measurementGrid(s, s.Fractions)
	for i := range out {
		out[i].variants = []Variant{{Method: unlearn.Retrain{}}}
	}
	return out
}

// judgedIn are the same, judged in parts of the protocol.
func judgedIn(parts ...part) func(Study) []measurement {
	return func(s Study) []measurement {
		var out []measurement
		for _, p := range retrainedMeasurements(s) {
			for _, which := range parts {
				p.judge = which
				out = append(out, p)
			}
		}
		return out
	}
}

// table4Measurements is every arm of table 4 at the fractions given.
func table4Measurements(fractions func(Study) []float64) func(Study) []measurement {
	return func(s Study) []measurement {
		s.Settings = filter(s.Settings, func(x Setting) bool { return !x.JudgedOnly })
		out := measurementGrid(s, fractions(s))
		for i := range out {
			out[i].variants, out[i].rows = s.Variants(), true
		}
		return out
	}
}

// firstSeedMeasurements are the original and the retrained model of every setting's first seed.
func firstSeedMeasurements(s Study) []measurement {
	s.Seeds = 1
	out := measurementGrid(s, []float64{s.fraction()})
	for i := range out {
		out[i].variants = []Variant{{Method: unlearn.NoOp{}}, {Method: unlearn.Retrain{}}}
	}
	return out
}

// measurementGrid is a piece per setting, fraction and seed, in that order.
func measurementGrid(s Study, fractions []float64) []measurement {
	var out []measurement
	for _, x := range s.Settings {
		for _, r := range fractions {
			for seed := range s.Seeds {
				out = append(out, measurement{Setting: x, fraction: r, seed: seed})
			}
		}
	}
	return out
}

// defineRecipe makes a recipe of pieces: its jobs are theirs, and make gets what was
// found in them.
func defineRecipe(r *paper.Recipe, pieces func(Study) []measurement, make func(context.Context, *evidence) (*paper.Output, error)) {
	r.Evidence = []reflect.Type{reflect.TypeFor[Judged](), reflect.TypeFor[Unlearned]()}
	r.Jobs = func(ctx context.Context, e *paper.Env, scale string) ([]lab.Job, error) {
		s, err := StudyAt(scale)
		if err != nil {
			return nil, err
		}
		all := pieces(s)
		if len(all) == 0 {
			return nil, noSettingsError(s)
		}
		return newLabEnv(e).jobs(ctx, s, all)
	}
	r.Make = func(ctx context.Context, e *paper.Env, scale string) (*paper.Output, error) {
		ev, err := collect(ctx, e, scale, pieces)
		if err != nil {
			return nil, err
		}
		out, err := make(ctx, ev)
		if err == nil {
			out.Runs = append(report.NewRecords(ev.judged), records(ev.unlearned)...)
		}
		return out, err
	}
}

// noSettingsError is what a recipe says of a scale whose settings it leaves out.
func noSettingsError(s Study) error {
	return fmt.Errorf("at scale %s models are judged and not unlearned: it has tables 1 to 3 and 7 and the figures", s.Scale)
}

// jobs lists the models of pieces and the evidence on them.
func (d *labEnv) jobs(ctx context.Context, s Study, pieces []measurement) ([]lab.Job, error) {
	var out []lab.Job
	for _, p := range pieces {
		jobs, err := d.measurementJobs(ctx, s, p)
		if err != nil {
			return nil, fmt.Errorf("%s, R %g, seed %d: %w", p.Label, p.fraction, p.seed, err)
		}
		out = append(out, jobs...)
	}
	return lab.Dedup(out), nil
}

func (d *labEnv) measurementJobs(ctx context.Context, s Study, p measurement) ([]lab.Job, error) {
	at, err := s.coordinates(p.Setting, p.fraction, p.seed)
	if err != nil {
		return nil, err
	}
	c, err := d.lab.Case(ctx, at)
	if err != nil && !errors.Is(err, datasets.ErrMissing) {
		return nil, err
	}
	if err != nil {
		c = nil
	}
	var out []lab.Job
	for _, a := range p.variants {
		models, err := d.lab.Jobs(ctx, at, p.models(a)...)
		if err != nil {
			return nil, err
		}
		out = append(out, models...)
		job := lab.Job{Needs: lab.JobIDs(models), Missing: c == nil}
		switch {
		case p.rows:
			job.ID = unlearnedJob(s, p.Setting, p.fraction, p.seed, a)
		case p.judge != "":
			job.ID = judgedJob(s, p.Setting, p.fraction, p.seed, p.judge)
		default:
			continue
		}
		job.Work = d.measure(s, p, a)
		if c != nil {
			if err := d.fillKey(ctx, &job, s, p, c, a); err != nil {
				return nil, err
			}
		}
		out = append(out, job)
	}
	return out, nil
}

// measure is the job of a piece's evidence on an arm.
func (d *labEnv) measure(s Study, p measurement, a Variant) lab.Work {
	return func(ctx context.Context) (run string, err error) {
		of, err := d.openSetting(ctx, p.Setting)
		if err != nil {
			return "", err
		}
		if p.rows {
			_, run, err = d.unlearned(ctx, s, of, p.fraction, p.seed, a)
		} else {
			j, err := d.judge(ctx, s, of, p.fraction, p.seed, p.judge)
			if err != nil {
				return "", err
			}
			run = j.run
		}
		return run, err
	}
}

// models are those that an arm of a piece needs: a row of table 4 compares with
// the original.
func (p measurement) models(a Variant) []unlearn.Method {
	if p.rows {
		return []unlearn.Method{unlearn.NoOp{}, a.Method}
	}
	return []unlearn.Method{a.Method}
}

// fillKey fills in what is known of a piece's evidence on an arm: its key holds the
// models' weights.
func (d *labEnv) fillKey(ctx context.Context, j *lab.Job, s Study, p measurement, c *lab.Case, a Variant) error {
	sets := len(s.Sizes) * s.Subsets * s.Draws
	j.Cost = int64(c.Problem.Train.X.Rows + c.Test.X.Rows + sets)
	for _, m := range p.models(a) {
		if ready, err := c.Ready(ctx, m); err != nil || !ready {
			return err
		}
	}
	if !p.rows {
		t, err := c.TrainedModel(ctx, c.Oracle())
		if err != nil {
			return err
		}
		return d.lab.Lookup(j, d.judgedKey(s, c, p.Label, t.Final, p.judge))
	}
	before, after, err := weights(ctx, c, a)
	if err != nil {
		return err
	}
	return d.lab.Lookup(j, d.unlearnedKey(s, c, p.Label, a, before, after))
}
