// SCRUB for variational autoencoders.

package unlearn

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// SCRUBLatent is SCRUB for a variational autoencoder, of "Fishing for Privacy" (section
// 4.2, appendix B). The original with dropout off is the teacher q_0 of the latent
// variables q of a copy of itself. Each of 20 epochs is
//
//	5 ascent steps:   descend -Forget KL(q || q_0) on Df
//	10 descent steps: descend Keep KL(q || q_0) + L on Dr
//
// on all of Df and on newly drawn batches of 256 of Dr, with one Adam at 1e-4 for each and
// gradients clipped to norm 1. RetainTuning for at most 10 epochs follows.
//
// Consequences: Forget cancels. It multiplies the gradients of an Adam that sees no others
// and divides by their size; where all of them are longer than 1, or none is, 0.1 and 10
// give the same weights up to Adam's epsilon. With Joint there is one optimiser and one
// step,
//
//	descend Keep KL(q || q_0) + L on Dr, - Forget KL(q || q_0) on Df
//
// 10 of them per epoch, in which it does not. The decoder's outputs are never compared with
// the teacher's. The copy starts equal to its teacher, so that without dropout its first
// gradients are rounding errors, which Adam scales to full steps.
//
// It needs a variational autoencoder, with outputs loss.LatentMean and loss.LatentLogVar.
type SCRUBLatent struct {
	Forget  float64      `json:"forget,omitempty" default:"1"`
	Keep    *float64     `json:"keep,omitempty" default:"1"`  // new(0.0): none
	Up      int          `json:"up,omitempty" default:"5"`    // ascent steps; none with Joint
	Down    int          `json:"down,omitempty" default:"10"` // descent steps
	Epochs  int          `json:"epochs,omitempty" default:"20"`
	LR      float64      `json:"lr,omitempty" default:"1e-4"`
	Clip    *float64     `json:"clip,omitempty" default:"1"`    // gradient norm; new(0.0): no clipping
	Batch   int          `json:"batch,omitempty" default:"256"` // a request's own batch size has priority
	Joint   bool         `json:"joint,omitempty"`
	Tune    RetainTuning `json:"tune,omitzero"` // 0 epochs: 10
	Untuned bool         `json:"untuned,omitempty"`
}

// Info implements Method.
func (m SCRUBLatent) Info() Info {
	return Info{
		Name: "scrub-latent", Sees: Sees{Original: true, Forget: true, Retain: true}, General: true,
		Version: latentMatchVersion(nil) + tunedVersion(m.Untuned) - 1,
		Does:    "moves away from the original's latent variables on the forget set and keeps them on the retain set, then goes on training on the retain set",
		From:    "Fishing for Privacy, as coded, after Kurmanji et al. 2023",
	}
}

// SetDefaults implements defaults.Setter.
func (m *SCRUBLatent) SetDefaults() {
	m.Tune.Epochs = cmp.Or(m.Tune.Epochs, 10)
}

// Unlearn implements Method.
func (m SCRUBLatent) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	leave, err := r.latentMatch(r.Forget, -m.Forget)
	if err != nil {
		return nil, err
	}
	keep, err := r.latentMatch(r.Retain, *m.Keep)
	if err != nil {
		return nil, err
	}
	down, err := r.objective("retain", r.Retain, false, 1)
	if err != nil {
		return nil, err
	}
	if len(down) != 1 {
		return nil, fmt.Errorf("the original was trained for %d terms, need one", len(down))
	}
	down[0].Targets = append(down[0].Targets, keep)
	up := r.term("forget", r.Forget, true, leave)
	game := &train.Game{Steps: 1, Players: []train.Player{
		{Name: "up", Objective: train.Objective{up}, Updates: m.Up}, {Name: "down", Objective: down, Updates: m.Down},
	}}
	if m.Joint {
		game.Players = []train.Player{{Name: "both", Objective: append(down, up), Updates: m.Down}}
	}
	plan := train.Plan{Game: game}
	if *m.Clip != 0 {
		plan.Transforms = train.Chain{train.ClipNorm{Max: *m.Clip}}
	}
	c := train.Config{Epochs: m.Epochs, Batch: cmp.Or(r.Batch, m.Batch), Optimizer: nn.Adam{LR: m.LR}, Seed: r.Seed}
	p, _, err := train.FitPlan(ctx, r.Runner, r.Original, plan, c, train.Hooks{})
	if err != nil {
		return nil, err
	}
	return m.Tune.tuneUnless(ctx, r, m.Untuned, p, "scrubbing moved the weights by "+distanceText(p, r.Original))
}

// latentMatch returns the divergence from the original's latent variables.
func (r Request) latentMatch(d Data, weight float64) (train.Target, error) {
	q, err := r.latents(d)
	return train.Target{Loss: loss.LatentMatch{}, Inputs: q, Weight: weight}, err
}
