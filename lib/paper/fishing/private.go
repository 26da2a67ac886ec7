package fishing

import (
	"context"

	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/lab"
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

// guardedKey identifies what a private model comes to in the store.
type guardedKey struct {
	evidenceKey
	Arm armKey `json:"arm"`
}

// Guarded asks about a model of the case whom its training protects, and what of it
// is left. It finds the answer in the store, or computes it.
func (a *Asked) Guarded(ctx context.Context, arm lab.Arm) (*Guarded, error) {
	l, of := a.env.Lab(), a.of
	of.Only = []string{}
	k := key(l, a.Case, of)
	k.Recipe, k.Config = "evidence/fishing/guarded", guardedKey{k.Config.(evidenceKey), armKey{arm.Label, lab.MethodKeyOf(arm.Method)}}
	run, err := l.Store.Do(ctx, k, func(ctx context.Context, w *store.Work) error {
		g, err := a.guarded(ctx, arm)
		if err != nil {
			return err
		}
		return w.WriteJSON("guarded.json", g)
	})
	if err != nil {
		return nil, err
	}
	out := &Guarded{}
	return out, run.JSON("guarded.json", out)
}

func (a *Asked) guarded(ctx context.Context, arm lab.Arm) (*Guarded, error) {
	row, err := a.Row(ctx, arm)
	if err != nil {
		return nil, err
	}
	w, report, err := a.Weights(ctx, arm.Method)
	if err != nil {
		return nil, err
	}
	v, err := viewOf(a.Case, w)
	if err != nil {
		return nil, err
	}
	out := &Guarded{Row: *row}
	if _, private := arm.Method.(unlearn.DPRetrain); private {
		out.Spent = report.History[len(report.History)-1].Privacy
	}
	score, err := attack.Score(a.protected(v), 0.95)
	if err != nil {
		return nil, err
	}
	out.Retained = *score
	return out, nil
}

// protected are the retained cells as members and the unseen ones of their types as
// non-members, with the reconstruction loss as the score: low for a member.
func (a *Asked) protected(v view) (s attack.Samples) {
	for _, recon := range v.retain.recon {
		s.Members = append(s.Members, -recon)
	}
	for i, recon := range v.unseen.recon {
		if a.About.Classes[a.Test.Y[i]] != a.Class {
			s.Nonmembers = append(s.Nonmembers, -recon)
		}
	}
	return s
}
