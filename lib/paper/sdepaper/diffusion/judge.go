package diffusion

import (
	"context"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// Rescale is what the control of rescaled activations multiplies by.
const Rescale = 1.05

// contest gives, for one draw, two populations whose sets are to be told apart:
// that with the label "in", that with the label "out", and where the reference
// of the latter comes from; nil: from itself.
type contest func(rng *rand.Rand) (inside, outside array.Matrix[float64], reference *array.Matrix[float64])

// trainedOn is the paper's contest: retained records against forgotten ones, with
// a reference from held-out ones.
func trainedOn(groups [3]array.Matrix[float64]) contest {
	return func(*rand.Rand) (inside, outside array.Matrix[float64], reference *array.Matrix[float64]) {
		return groups[retainGroup], groups[forgetGroup], &groups[heldOutGroup]
	}
}

// halves deals one population out at random, anew in every draw, and multiplies
// the half that is called in.
func halves(m array.Matrix[float64], scale float64) contest {
	return func(rng *rand.Rand) (inside, outside array.Matrix[float64], reference *array.Matrix[float64]) {
		order := rng.Perm(m.Rows)
		inside, outside = m.Gather(order[:m.Rows/2]), m.Gather(order[m.Rows/2:])
		for i := range inside.Data {
			inside.Data[i] *= scale
		}
		return inside, outside, nil
	}
}

// arms judges with SDE and its controls. The first three share their sets.
func (d Setting) arms(ctx context.Context, m *network, data *pictures, sigmas []float64) ([]Arm, error) {
	trained, err := d.encode(m.trained, data)
	if err != nil {
		return nil, err
	}
	fresh, err := d.encode(m.untrained, data)
	if err != nil {
		return nil, err
	}
	real, never := trainedOn(trained), trained[forgetGroup]
	var out []Arm
	for _, c := range []struct {
		arm     Arm
		contest contest
		method  sde.Method
	}{
		{Arm{Name: "SDE", About: "the paper's method on the trained network's encoder"}, real, sde.SDE{}},
		{Arm{Name: "closed form", About: "SDE by the exact mean and standard deviation, without permutations", Control: true}, real, sde.ClosedForm{}},
		{Arm{Name: "spread only", About: "no halves and no pairs: difference of the variances in the kernel's feature space", Control: true}, real,
			sde.SpreadOnly{}},
		{Arm{Name: "untrained", About: "SDE on the network as it was before training", Control: true}, trainedOn(fresh), sde.SDE{}},
		{Arm{Name: "never seen", About: "SDE on random halves of the forgotten records, one called in: nothing to find", Control: true},
			halves(never, 1), sde.SDE{}},
		{Arm{Name: "never seen, x 1.05", About: "the same, the half called in multiplied by 1.05 after the encoder", Control: true},
			halves(never, Rescale), sde.SDE{}},
	} {
		arm := c.arm
		if err := d.judgeArm(ctx, &arm, c.contest, c.method, sigmas); err != nil {
			return nil, err
		}
		out = append(out, arm)
	}
	return out, nil
}

// judgeArm fills in the curves.
func (d Setting) judgeArm(ctx context.Context, arm *Arm, c contest, m sde.Method, sigmas []float64) error {
	f1, accuracy := make([][]float64, len(sigmas)), make([][]float64, len(sigmas))
	arm.Gate, arm.Undecided = make([]float64, len(sigmas)), make([]float64, len(sigmas))
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
				arm.First = append(arm.First, got.F1)
			}
			arm.Undecided[k] += (undecided(got.Inside) + undecided(got.Outside)) / float64(2*d.Draws)
			if gated = got.Inside.Gate != nil; gated && got.Inside.Gate.Valid {
				arm.Gate[k] += 1 / float64(d.Draws)
			}
		}
	}
	if !gated {
		arm.Gate = nil
	}
	for k := range sigmas {
		arm.F1 = append(arm.F1, overDraws(f1[k]))
		arm.Accuracy = append(arm.Accuracy, overDraws(accuracy[k]))
	}
	return nil
}

// undecided is the share of sets without a verdict.
func undecided(j *sde.Judged) float64 {
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
	return stats.MeanInterval(shares, 0.95, stats.OverDraws).Within(0, 1).Against(0.5, stats.HigherIsBetter)
}

// sets are one draw of references and targets, which share no record.
type sets struct {
	targets    sde.Known
	references sde.References
}

func (d Setting) draw(c contest, draw int) (*sets, error) {
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
	s := &sets{targets: sde.Known{Inside: inside}, references: sde.References{In: &in, Out: &out}}
	s.targets.Outside, err = d.targets("outside", outside, rng)
	return s, err
}

// divide takes a reference off a population.
func (d Setting) divide(m array.Matrix[float64], rng *rand.Rand) (reference, rest array.Matrix[float64]) {
	order := rng.Perm(m.Rows)
	return m.Gather(order[:d.Subset]), m.Gather(order[d.Subset:])
}

func (d Setting) targets(name string, m array.Matrix[float64], rng *rand.Rand) (sde.Targets, error) {
	pool, err := sde.NewPool(name, &m)
	if err != nil {
		return sde.Targets{}, err
	}
	subsets, err := sde.Draw(m.Rows, d.Subset, d.Subsets, rng)
	return sde.Targets{Pool: pool, Subsets: subsets}, err
}
