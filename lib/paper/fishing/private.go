package fishing

// Membership attacks on privately trained models, for notebooks.

import (
	"context"

	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// PrivateModel is the evidence on a privately trained model, for notebooks.
type PrivateModel struct {
	Row `json:"row"`
	// History is the privacy accounting of its steps for any retained cell; nil if it is not
	// private.
	History privacy.History `json:"spent,omitempty"`
	// Retained is the membership attack on its training cells, which the noise protects: against
	// unseen cells of their types, by the reconstruction loss alone.
	Retained attack.ScoreReport `json:"retained"`
}

// PrivateModels are models of several variants and seeds.
type PrivateModels []PrivateModel

// MeasurePrivate measures privacy and utility of variants of the first case with a seed. It
// finds the results in the store, or computes them.
func MeasurePrivate(ctx context.Context, seed int, variants ...lab.Variant) (PrivateModels, error) {
	e, s, err := openScale()
	if err != nil {
		return nil, err
	}
	return measurePrivate(ctx, e, s.Cases[0], seed, variants...)
}

// privateKey is the configuration of a private model's results in the store.
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
	of.Only = []string{} // the key holds no other variant
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

// scoreRetained are the retained cells as members and the unseen cells of their types as
// non-members, scored by the reconstruction loss, which is low for members.
func (q *attackCase) scoreRetained(v splitOutputs) (s attack.Samples) {
	for _, recon := range v.retain.recon {
		s.Members = append(s.Members, -recon)
	}
	for i, recon := range v.unseen.recon {
		if q.About.Classes[q.Test.Y[i]] != forgottenClass(q.Setting) {
			s.Nonmembers = append(s.Nonmembers, -recon)
		}
	}
	return s
}

// Values are the values of a variant, one per model.
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
