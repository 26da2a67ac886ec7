package sdepaper

// Measurements that recipes are made of.

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

// measurement is a case of a recipe: the variants whose models it needs, and what is judged and
// kept of them.
type measurement struct {
	Setting
	fraction float64
	seed     int
	variants []Variant
	judge    part // of the retrained model, "" for none
	rows     bool // whether every variant is measured as in table 4
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

// table4Measurements is every variant of table 4 at the given fractions.
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

// measurementGrid is a measurement per setting, fraction and seed, in that order.
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

// defineRecipe sets a recipe's functions: its jobs are those of the measurements, and make gets
// their results.
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

// noSettingsError is the error of a recipe at a scale without its settings.
func noSettingsError(s Study) error {
	return fmt.Errorf("at scale %s no models are unlearned; it has tables 1 to 3 and 7 and the figures", s.Scale)
}

// jobs lists the models of measurements and the evidence on them.
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

// measure is the work of the job of a variant's evidence.
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

// models are the models that a variant needs; a row of table 4 also needs the original.
func (p measurement) models(a Variant) []unlearn.Method {
	if p.rows {
		return []unlearn.Method{unlearn.NoOp{}, a.Method}
	}
	return []unlearn.Method{a.Method}
}

// fillKey adds cost and state of a variant's evidence to its job. The key includes the models'
// weights.
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
		_, err = d.lab.Lookup(j, d.judgedKey(s, c, p.Label, t.Final, p.judge))
		return err
	}
	before, after, err := weights(ctx, c, a)
	if err != nil {
		return err
	}
	_, err = d.lab.Lookup(j, d.unlearnedKey(s, c, p.Label, a, before, after))
	return err
}
