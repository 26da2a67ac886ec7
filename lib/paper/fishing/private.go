package fishing

import (
	"context"

	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Guarded is what a private model comes to, for notebooks.
type Guarded struct {
	Row `json:"row"`
	// Spent is what its steps have said of any retained cell; nil where it is not
	// private.
	Spent privacy.History `json:"spent,omitempty"`
	// Retained is how well the cells that it was trained on, whom the noise protects,
	// are told from unseen cells of their types, by the reconstruction loss alone.
	Retained attack.ScoreReport `json:"retained"`
}

// Guards are what models of several arms and seeds come to.
type Guards []Guarded

// Guard asks about models of the first case with a seed whom their training protects,
// and what of them is left. It finds the answers in the store, or computes them.
func Guard(ctx context.Context, seed int, arms ...lab.Arm) (Guards, error) {
	e, s, err := here()
	if err != nil {
		return nil, err
	}
	return guard(ctx, e, s.Cases[0], seed, arms...)
}

// guardedKey identifies what a private model comes to in the store.
type guardedKey struct {
	evidenceKey
	Arm armKey `json:"arm"`
}

func guard(ctx context.Context, e *paper.Env, of Case, seed int, arms ...lab.Arm) (out Guards, err error) {
	l := e.Lab()
	c, err := l.Case(ctx, of.at(seed))
	if err != nil {
		return nil, err
	}
	of.Only = []string{} // no other arm is in the key
	var q *question
	for _, arm := range arms {
		k := key(l, c, of)
		k.Recipe, k.Config = "evidence/fishing/guarded", guardedKey{k.Config.(evidenceKey), armKey{arm.Label, lab.MethodKeyOf(arm.Method)}}
		run, err := l.Store.Do(ctx, k, func(ctx context.Context, w *store.Work) (err error) {
			if q == nil {
				if q, err = questioned(ctx, c, of); err != nil {
					return err
				}
			}
			g, err := q.guarded(ctx, e, arm)
			if err != nil {
				return err
			}
			return w.WriteJSON("guarded.json", g)
		})
		if err != nil {
			return nil, err
		}
		var g Guarded
		if err := run.JSON("guarded.json", &g); err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, nil
}

func (q *question) guarded(ctx context.Context, e *paper.Env, arm lab.Arm) (*Guarded, error) {
	row, err := q.row(ctx, e.Engine, arm)
	if err != nil {
		return nil, err
	}
	w, report, err := q.Weights(ctx, arm.Method)
	if err != nil {
		return nil, err
	}
	v, err := viewOf(q.Case, w)
	if err != nil {
		return nil, err
	}
	out := &Guarded{Row: *row}
	if _, private := arm.Method.(unlearn.DPRetrain); private {
		out.Spent = report.History[len(report.History)-1].Privacy
	}
	score, err := attack.Score(q.protected(v), 0.95)
	if err != nil {
		return nil, err
	}
	out.Retained = *score
	return out, nil
}

// protected are the retained cells as members and the unseen ones of their types as
// non-members, with the reconstruction loss as the score: low for a member.
func (q *question) protected(v view) (s attack.Samples) {
	for _, recon := range v.retain.recon {
		s.Members = append(s.Members, -recon)
	}
	for i, recon := range v.unseen.recon {
		if q.About.Classes[q.Test.Y[i]] != q.Class {
			s.Nonmembers = append(s.Nonmembers, -recon)
		}
	}
	return s
}

// Of are the values of an arm, one per model.
func (g Guards) Of(arm string, value func(Guarded) float64) []float64 {
	var out []float64
	for _, m := range g {
		if m.Arm == arm {
			out = append(out, value(m))
		}
	}
	return out
}

// Rows are the rows of the models.
func (g Guards) Rows() (out Rows) {
	for _, m := range g {
		out = append(out, m.Row)
	}
	return out
}
