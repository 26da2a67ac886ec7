package diffusion

// Judging of sets by the encoder's outputs.

import (
	"context"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// Rescale is the factor of the control with rescaled activations.
const Rescale = 1.05

// setSource returns, for one draw, two populations whose sets are to be distinguished: the one
// with the label "in" and the one with the label "out". The reference for the latter comes from
// the third value; nil: from itself.
type setSource func(rng *rand.Rand) (inside, outside array.Matrix[float64], reference *array.Matrix[float64])

// memberSource is the paper's comparison: retained records against forgotten ones, with a
// reference from held-out ones.
func memberSource(groups [3]array.Matrix[float64]) setSource {
	return func(*rand.Rand) (inside, outside array.Matrix[float64], reference *array.Matrix[float64]) {
		return groups[retainGroup], groups[forgetGroup], &groups[heldOutGroup]
	}
}

// halvesSource splits one population at random, anew in every draw, and scales the half that is
// called in.
func halvesSource(m array.Matrix[float64], scale float64) setSource {
	return func(rng *rand.Rand) (inside, outside array.Matrix[float64], reference *array.Matrix[float64]) {
		order := rng.Perm(m.Rows)
		inside, outside = m.Gather(order[:m.Rows/2]), m.Gather(order[m.Rows/2:])
		for i := range inside.Data {
			inside.Data[i] *= scale
		}
		return inside, outside, nil
	}
}

// variants judges with SDE and its controls. The first three share their sets.
func (d Setting) variants(ctx context.Context, m *network, data *imageGroups, sigmas []float64) ([]Variant, error) {
	trained, err := d.encode(m.trained, data)
	if err != nil {
		return nil, err
	}
	fresh, err := d.encode(m.untrained, data)
	if err != nil {
		return nil, err
	}
	real, never := memberSource(trained), trained[forgetGroup]
	var out []Variant
	for _, c := range []struct {
		variant Variant
		contest setSource
		method  sde.Method
	}{
		{Variant{Name: "SDE", About: "the paper's method on the trained network's encoder"}, real, sde.SDE{}},
		{Variant{Name: "closed form", About: "SDE by the exact mean and standard deviation, without permutations", Control: true}, real, sde.ClosedForm{}},
		{Variant{Name: "spread only", About: "no halves and no pairs: difference of the variances in the kernel's feature space", Control: true}, real,
			sde.SpreadOnly{}},
		{Variant{Name: "untrained", About: "SDE on the network as it was before training", Control: true}, memberSource(fresh), sde.SDE{}},
		{Variant{Name: "never seen", About: "SDE on random halves of the forgotten records, one called in: nothing to find", Control: true},
			halvesSource(never, 1), sde.SDE{}},
		{Variant{Name: "never seen, x 1.05", About: "the same, the half called in multiplied by 1.05 after the encoder", Control: true},
			halvesSource(never, Rescale), sde.SDE{}},
	} {
		variant := c.variant
		if err := d.judgeVariant(ctx, &variant, c.contest, c.method, sigmas); err != nil {
			return nil, err
		}
		out = append(out, variant)
	}
	return out, nil
}

// judgeVariant fills in the curves.
func (d Setting) judgeVariant(ctx context.Context, variant *Variant, c setSource, m sde.Method, sigmas []float64) error {
	f1, accuracy := make([][]float64, len(sigmas)), make([][]float64, len(sigmas))
	variant.Gate, variant.Undecided = make([]float64, len(sigmas)), make([]float64, len(sigmas))
	gated := true
	for draw := range d.Draws {
		s, err := d.draw(c, draw)
		if err != nil {
			return err
		}
		for k, sigma := range sigmas {
			if err := ctx.Err(); err != nil {
				return err
			}
			got, err := sde.Controlled(m, s.targets, s.references, sde.Options{Bandwidth: sde.Fixed(sigma), Seed: uint64(d.Seed)<<16 + uint64(draw)})
			if err != nil {
				return err
			}
			f1[k], accuracy[k] = append(f1[k], got.F1.Value), append(accuracy[k], got.Accuracy.Value)
			if draw == 0 {
				variant.First = append(variant.First, got.F1)
			}
			variant.Undecided[k] += (undecided(got.Inside) + undecided(got.Outside)) / float64(2*d.Draws)
			if gated = got.Inside.Gate != nil; gated && got.Inside.Gate.Valid {
				variant.Gate[k] += 1 / float64(d.Draws)
			}
		}
	}
	if !gated {
		variant.Gate = nil
	}
	for k := range sigmas {
		variant.F1 = append(variant.F1, overDraws(f1[k]))
		variant.Accuracy = append(variant.Accuracy, overDraws(accuracy[k]))
	}
	return nil
}

// undecided is the share of sets without a verdict.
func undecided(j *sde.SubsetVerdicts) float64 {
	n := 0
	for _, v := range j.Verdicts {
		if v == sde.Undecided {
			n++
		}
	}
	return float64(n) / float64(len(j.Verdicts))
}

// overDraws is the mean share over draws of references, its interval cut to
// [0, 1].
func overDraws(shares []float64) stats.Estimate {
	return stats.MeanInterval(shares, 0.95, stats.OverDraws).ClampedTo(0, 1).WithNull(0.5, stats.HigherIsBetter)
}

// sets are one draw of references and targets, which share no record.
type sets struct {
	targets    sde.KnownTargets
	references sde.References
}

func (d Setting) draw(c setSource, draw int) (*sets, error) {
	rng := engine.Root(d.Seed).Stream(engine.StreamSets, uint64(draw))
	members, outside, reference := c(rng)
	in, rest := d.divide(members, rng)
	inside, err := d.targets("inside", rest, rng)
	if err != nil {
		return nil, err
	}
	var out array.Matrix[float64]
	if reference == nil {
		out, outside = d.divide(outside, rng)
	} else {
		out = reference.Gather(rng.Perm(reference.Rows)[:d.Subset])
	}
	s := &sets{targets: sde.KnownTargets{Inside: inside}, references: sde.References{In: &in, Out: &out}}
	s.targets.Outside, err = d.targets("outside", outside, rng)
	return s, err
}

// divide splits a reference off a population.
func (d Setting) divide(m array.Matrix[float64], rng *rand.Rand) (reference, rest array.Matrix[float64]) {
	order := rng.Perm(m.Rows)
	return m.Gather(order[:d.Subset]), m.Gather(order[d.Subset:])
}

func (d Setting) targets(name string, m array.Matrix[float64], rng *rand.Rand) (sde.Targets, error) {
	pool, err := sde.NewPool(name, &m)
	if err != nil {
		return sde.Targets{}, err
	}
	subsets, err := sde.DrawSubsets(m.Rows, d.Subset, d.Subsets, rng)
	return sde.Targets{Pool: pool, Subsets: subsets}, err
}
