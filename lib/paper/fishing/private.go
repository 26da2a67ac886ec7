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

// PrivateModel is what a private model comes to, for notebooks.
type PrivateModel struct {
	Row `json:"row"`
	// History is what its steps have said of any retained cell; nil where it is not
	// private.
	History privacy.History `json:"spent,omitempty"`
	// Retained is how well the cells that it was trained on, whom the noise protects,
	// are told from unseen cells of their types, by the reconstruction loss alone.
	Retained attack.ScoreReport `json:"retained"`
}

// PrivateModels are what models of several arms and seeds come to.
type PrivateModels []PrivateModel

// MeasurePrivate asks about models of the first case with a seed whom their training protects,
// and what of them is left. It finds the answers in the store, or computes them.
func MeasurePrivate(ctx context.Context, seed int, variants ...lab.Variant) (PrivateModels, error) {
	e, s, err := openScale()
	if err != nil {
		return nil, err
	}
	return measurePrivate(ctx, e, s.Cases[0], seed, variants...)
}

// privateKey identifies what a private model comes to in the store.
type privateKey struct {
	evidenceKey
	Variant variantKey `json:"arm"`
}

func measurePrivate(ctx context.Context, e *paper.Env, of Case, seed int, variants ...lab.Variant) (out PrivateModels, err error) {
	l := e.Lab()
	c, err := l.Case(ctx, of.setting(seed))
	if err != nil {
		return nil, err
	}
	of.Only = []string{} // no other arm is in the key
	var q *attackCase
	for _, variant := range variants {
		k := key(l, c, of)
		k.Recipe, k.Config = "evidence/fishing/guarded", privateKey{k.Config.(evidenceKey), variantKey{variant.Label, lab.MethodKeyOf(variant.Method)}}
		run, err := l.Store.Do(ctx, k, func(ctx context.Context, w *store.Work) (err error) {
			if q == nil {
				if q, err = newAttackCase(ctx, c, of); err != nil {
					return err
				}
			}
			g, err := q.measurePrivate(ctx, e, variant)
			if err != nil {
				return err
			}
			return w.WriteJSON("guarded.json", g)
		})
		if err != nil {
			return nil, err
		}
		var g PrivateModel
		if err := run.JSON("guarded.json", &g); err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, nil
}

func (q *attackCase) measurePrivate(ctx context.Context, e *paper.Env, variant lab.Variant) (*PrivateModel, error) {
	row, err := q.measureRow(ctx, e.Engine, variant)
	if err != nil {
		return nil, err
	}
	w, report, err := q.Weights(ctx, variant.Method)
	if err != nil {
		return nil, err
	}
	v, err := predictSplits(q.Case, w)
	if err != nil {
		return nil, err
	}
	out := &PrivateModel{Row: *row}
	if _, private := variant.Method.(unlearn.DPRetrain); private {
		out.History = report.History[len(report.History)-1].Privacy
	}
	score, err := attack.Score(q.scoreRetained(v), 0.95)
	if err != nil {
		return nil, err
	}
	out.Retained = *score
	return out, nil
}

// scoreRetained are the retained cells as members and the unseen ones of their types as
// non-members, with the reconstruction loss as the score: low for a member.
func (q *attackCase) scoreRetained(v splitOutputs) (s attack.Samples) {
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

// Values are the values of an arm, one per model.
func (g PrivateModels) Values(variant string, value func(PrivateModel) float64) []float64 {
	var out []float64
	for _, m := range g {
		if m.Variant == variant {
			out = append(out, value(m))
		}
	}
	return out
}

// Rows are the rows of the models.
func (g PrivateModels) Rows() (out Rows) {
	for _, m := range g {
		out = append(out, m.Row)
	}
	return out
}
