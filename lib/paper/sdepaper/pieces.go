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

// piece is a case that a recipe is made of: the arms whose models it needs, and
// what of them is judged and kept.
type piece struct {
	Setting
	fraction float64
	seed     int
	arms     []Arm
	judge    part // of the retrained model, "" for none
	rows     bool // every arm is measured as in table 4
}

// retrained are the retrained models of every setting, fraction and seed.
func retrained(s Study) []piece {
	out := grid(s, s.Fractions)
	for i := range out {
		out[i].arms = []Arm{{Method: unlearn.Retrain{}}}
	}
	return out
}

// judgedBy are the same, judged in parts of the protocol.
func judgedBy(parts ...part) func(Study) []piece {
	return func(s Study) []piece {
		var out []piece
		for _, p := range retrained(s) {
			for _, which := range parts {
				p.judge = which
				out = append(out, p)
			}
		}
		return out
	}
}

// measured is every arm of table 4 at the fractions given.
func measured(fractions func(Study) []float64) func(Study) []piece {
	return func(s Study) []piece {
		s.Settings = where(s.Settings, func(x Setting) bool { return !x.JudgedOnly })
		out := grid(s, fractions(s))
		for i := range out {
			out[i].arms, out[i].rows = s.Arms(), true
		}
		return out
	}
}

// first are the original and the retrained model of every setting's first seed.
func first(s Study) []piece {
	s.Seeds = 1
	out := grid(s, []float64{s.fraction()})
	for i := range out {
		out[i].arms = []Arm{{Method: unlearn.DoNothing{}}, {Method: unlearn.Retrain{}}}
	}
	return out
}

// grid is a piece per setting, fraction and seed, in that order.
func grid(s Study, fractions []float64) []piece {
	var out []piece
	for _, x := range s.Settings {
		for _, r := range fractions {
			for seed := range s.Seeds {
				out = append(out, piece{Setting: x, fraction: r, seed: seed})
			}
		}
	}
	return out
}

// from makes a recipe of pieces: its jobs are theirs, and make gets what was
// found in them.
func from(r *paper.Recipe, pieces func(Study) []piece, make func(context.Context, *evidence) (*paper.Output, error)) {
	r.Evidence = []reflect.Type{reflect.TypeFor[Judged](), reflect.TypeFor[Unlearned]()}
	r.Jobs = func(ctx context.Context, e *paper.Env, scale string) ([]lab.Job, error) {
		s, err := StudyAt(scale)
		if err != nil {
			return nil, err
		}
		all := pieces(s)
		if len(all) == 0 {
			return nil, nothingAt(s)
		}
		return deskOf(e).jobs(ctx, s, all)
	}
	r.Make = func(ctx context.Context, e *paper.Env, scale string) (*paper.Output, error) {
		ev, err := collect(ctx, e, scale, pieces)
		if err != nil {
			return nil, err
		}
		out, err := make(ctx, ev)
		if err == nil {
			out.Runs = append(report.RecordsOf(ev.judged), records(ev.unlearned)...)
		}
		return out, err
	}
}

// nothingAt is what a recipe says of a scale whose settings it leaves out.
func nothingAt(s Study) error {
	return fmt.Errorf("at scale %s models are judged and not unlearned: it has tables 1 to 3 and 7 and the figures", s.Scale)
}

// jobs lists the models of pieces and the evidence on them.
func (d *desk) jobs(ctx context.Context, s Study, pieces []piece) ([]lab.Job, error) {
	var out []lab.Job
	for _, p := range pieces {
		jobs, err := d.piece(ctx, s, p)
		if err != nil {
			return nil, fmt.Errorf("%s, R %g, seed %d: %w", p.Label, p.fraction, p.seed, err)
		}
		out = append(out, jobs...)
	}
	return lab.Once(out), nil
}

func (d *desk) piece(ctx context.Context, s Study, p piece) ([]lab.Job, error) {
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
	for _, a := range p.arms {
		models, err := d.lab.Jobs(ctx, at, p.models(a)...)
		if err != nil {
			return nil, err
		}
		out = append(out, models...)
		job := lab.Job{Needs: lab.IDs(models), Missing: c == nil}
		switch {
		case p.rows:
			job.ID = unlearnedJob(s, p.Setting, p.fraction, p.seed, a)
		case p.judge != "":
			job.ID = judgedJob(s, p.Setting, p.fraction, p.seed, p.judge)
		default:
			continue
		}
		job.Work = d.work(s, p, a)
		if c != nil {
			if err := d.look(ctx, &job, s, p, c, a); err != nil {
				return nil, err
			}
		}
		out = append(out, job)
	}
	return out, nil
}

// work is the job of a piece's evidence on an arm.
func (d *desk) work(s Study, p piece, a Arm) lab.Work {
	return func(ctx context.Context) (run string, err error) {
		of, err := d.open(ctx, p.Setting)
		if err != nil {
			return "", err
		}
		if p.rows {
			_, run, err = d.unlearned(ctx, s, of, p.fraction, p.seed, a)
		} else {
			j, err := d.judged(ctx, s, of, p.fraction, p.seed, p.judge)
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
func (p piece) models(a Arm) []unlearn.Method {
	if p.rows {
		return []unlearn.Method{unlearn.DoNothing{}, a.Method}
	}
	return []unlearn.Method{a.Method}
}

// look fills in what is known of a piece's evidence on an arm: its key holds the
// models' weights.
func (d *desk) look(ctx context.Context, j *lab.Job, s Study, p piece, c *lab.Case, a Arm) error {
	sets := len(s.Sizes) * s.Subsets * s.Draws
	j.Cost = int64(c.Problem.Train.X.Rows + c.Test.X.Rows + sets)
	for _, m := range p.models(a) {
		if ready, err := c.Ready(ctx, m); err != nil || !ready {
			return err
		}
	}
	if !p.rows {
		t, err := c.Trained(ctx, c.Oracle())
		if err != nil {
			return err
		}
		return d.lab.Look(j, d.judgedKey(s, c, p.Label, t.Final, p.judge))
	}
	before, after, err := weights(ctx, c, a)
	if err != nil {
		return err
	}
	return d.lab.Look(j, d.unlearnedKey(s, c, p.Label, a, before, after))
}
