package fishing

// Learned attackers of the within-cluster study.

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/features"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/engine"
)

// latents are the latent codes that learned attackers use, beyond the paper's features.
type latents struct {
	assigned  []cellOutputs           // of each model: outputs on the assigned cells
	retain    []array.Matrix[float64] // latent means of the cells that every model was trained on
	invariant []array.Matrix[float64] // rotation-invariant features of the assigned cells
}

// add adds a model's latents; the last of the paper's features is the distance to the nearest
// retained cells.
func (l *latents) add(assigned, retain cellOutputs, paper array.Matrix[float64]) error {
	f, err := features.Invariant(assigned.posterior())
	if err != nil {
		return err
	}
	distance := array.New[float64](f.Rows, 1)
	for i := range distance.Data {
		distance.Data[i] = paper.Row(i)[paper.Cols-1]
	}
	l.assigned, l.retain = append(l.assigned, assigned), append(l.retain, array.Convert[float64](retain.mean))
	l.invariant = append(l.invariant, concatColumns(f, distance))
	return nil
}

// concatColumns concatenates matrices of as many rows.
func concatColumns(parts ...array.Matrix[float64]) array.Matrix[float64] {
	out := array.Matrix[float64]{Rows: parts[0].Rows}
	for _, p := range parts {
		out.Cols += p.Cols
	}
	for i := range out.Rows {
		for _, p := range parts {
			out.Data = append(out.Data, p.Row(i)...)
		}
	}
	return out
}

// alignTo are the features of the assigned cells in every model, in the axes of model k:
// rotation-invariant ones, means and log-variances. The maps are fitted on the cells that every
// model was trained on, so that they do not depend on membership. The axes of k are its
// principal axes on those cells, so that its arbitrary latent axes do not matter either.
func (l *latents) alignTo(k int, align features.Aligner) (out []array.Matrix[float64], err error) {
	axes, err := features.Principal(l.retain[k])
	if err != nil {
		return nil, err
	}
	onto := axes.Means(l.retain[k])
	for m := range l.retain {
		to, err := align(l.retain[m], onto)
		if err != nil {
			return nil, fmt.Errorf("model %d: %w", m, err)
		}
		out = append(out, concatColumns(l.invariant[m], to.Means(l.assigned[m].mean), to.LogVars(l.assigned[m].logVar)))
	}
	return out, nil
}

// subtractOthers subtracts from the features of every model their mean, cell by cell, over other
// models. The mean leaves out the pair of the attacked model k and the model's own pair, so that
// every cell was in half of the models averaged, whoever had it.
func subtractOthers(k int, features []array.Matrix[float64]) []array.Matrix[float64] {
	rows, cols := features[0].Rows, features[0].Cols
	pairs, all := make([][]float64, len(features)/2), make([]float64, rows*cols)
	for j := range pairs {
		pairs[j] = make([]float64, rows*cols)
		for i := range all {
			pairs[j][i] = features[2*j].Data[i] + features[2*j+1].Data[i]
			all[i] += pairs[j][i]
		}
	}
	var out []array.Matrix[float64]
	for m, x := range features {
		less := array.Matrix[float64]{Rows: rows, Cols: cols}
		others := float64(len(features) - 2)
		if m/2 != k/2 {
			others -= 2
		}
		for i, v := range x.Data {
			sum := all[i] - pairs[k/2][i]
			if m/2 != k/2 {
				sum -= pairs[m/2][i]
			}
			less.Data = append(less.Data, v-sum/others)
		}
		out = append(out, less)
	}
	return out
}

// learnedAttacks are the attacks that are trained.
func (a *shadowCase) learnedAttacks(ctx context.Context) []attackRun {
	axes := a.latents.assigned[0].mean.Cols
	own := attackRun{
		AttackResult: AttackResult{Attack: Own, Features: a.features[0].Cols}, matched: a.crossFitted(ctx), why: a.tooFew(),
		within: func() (*shadow.Report, error) { return a.scoreWithin(Own, false, a.crossHalves(ctx)) },
	}
	n, cells := a.latents.invariant[0].Cols, a.latents.retain[0].Rows
	without := func(int) ([]array.Matrix[float64], error) { return a.latents.invariant, nil }
	rotated := func(k int) ([]array.Matrix[float64], error) { return a.latents.alignTo(k, features.Procrustes) }
	canonical := func(k int) ([]array.Matrix[float64], error) { return a.latents.alignTo(k, features.CCA) }
	out := []attackRun{own,
		a.acrossModels(ctx, Invariant, n, without),
		a.acrossModels(ctx, Learned, a.features[0].Cols, nil),
		a.acrossModels(ctx, Aligned, n+2*axes, rotated),
		a.acrossModels(ctx, AlignedCCA, n+2*axes, canonical),
		a.acrossModels(ctx, InvariantByCell, n, centreByCell(without)),
		a.acrossModels(ctx, AlignedByCell, n+2*axes, centreByCell(rotated)),
	}
	for k, q := range out {
		if needs := q.Attack == Aligned || q.Attack == AlignedCCA || q.Attack == AlignedByCell; needs && cells <= axes {
			out[k].why = fmt.Sprintf("%d cells do not determine a rotation of %d axes", cells, axes)
		}
	}
	return out
}

// featuresFor returns the features of the assigned cells in every model for an attack on model
// k.
type featuresFor func(k int) ([]array.Matrix[float64], error)

// centreByCell subtracts the mean over other models for the same cell.
func centreByCell(of featuresFor) featuresFor {
	return func(k int) ([]array.Matrix[float64], error) {
		x, err := of(k)
		if err != nil {
			return nil, err
		}
		return subtractOthers(k, x), nil
	}
}

// acrossModels attacks every model with an attacker trained on all others except its partner,
// like the attacks by shadow models.
func (a *shadowCase) acrossModels(ctx context.Context, name string, count int, of featuresFor) attackRun {
	f := learned.ShadowModels{Features: a.features, In: a.in, Pairs: true, FeaturesFor: of}
	return attackRun{
		AttackResult: AttackResult{Attack: name, Features: count, Others: a.spec.numOthers(), Mutual: true},
		within: func() (*shadow.Report, error) {
			scores, err := learned.AcrossModels(ctx, a.models.Lab.Engine, learned.Logistic{}, f, len(a.in)/2, a.seed())
			if err != nil {
				return nil, err
			}
			return a.scoreWithin(name, true, func(m int) ([]float64, error) { return scores[m], nil })
		},
	}
}

func (a *shadowCase) seed() engine.Root { return engine.Root(attackSeed + a.models.Lab.Shift) }

// tooFew says why half of a model's own assigned cells are too few to learn from, "" if they are
// not.
func (a *shadowCase) tooFew() string {
	for _, in := range a.in {
		members, others := splitMembers(in)
		if len(members) < 2 || len(others) < 2 {
			return fmt.Sprintf("%d and %d cells cannot be halved", len(members), len(others))
		}
	}
	return ""
}

func splitMembers(in []bool) (members, others []int) {
	for i, had := range in {
		if had {
			members = append(members, i)
		} else {
			others = append(others, i)
		}
	}
	return members, others
}

// crossHalves is the attacker with the paper's features that knows the membership of half of a
// model's own assigned cells and scores the other half, and vice versa.
func (a *shadowCase) crossHalves(ctx context.Context) func(m int) ([]float64, error) {
	return func(m int) ([]float64, error) {
		members, others := splitMembers(a.in[m])
		p := learned.CrossFitted(nil)
		p.Folds = 2
		q := learned.Target{Model: learned.Records{Members: a.features[m].Gather(members), Nonmembers: a.features[m].Gather(others)}}
		r, err := p.Run(ctx, a.models.Lab.Engine, q, a.seed())
		if err != nil {
			return nil, err
		}
		out := make([]float64, len(a.in[m]))
		for _, c := range r.Scores {
			at := others
			if c.Member {
				at = members
			}
			out[at[c.Record]] = c.Score
		}
		return out, nil
	}
}
