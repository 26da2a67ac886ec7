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
	Forget  float64      `json:"forget,omitempty"` // 0: 1
	Keep    float64      `json:"keep,omitempty"`   // 0: 1, nn.Zero: none
	Up      int          `json:"up,omitempty"`     // ascent steps, 0: 5; none with Joint
	Down    int          `json:"down,omitempty"`   // descent steps, 0: 10
	Epochs  int          `json:"epochs,omitempty"` // 0: 20
	LR      float64      `json:"lr,omitempty"`     // 0: 1e-4
	Clip    float64      `json:"clip,omitempty"`   // gradient norm, 0: 1, nn.Zero: no clipping
	Batch   int          `json:"batch,omitempty"`  // 0: 256; a request's own batch size has priority
	Joint   bool         `json:"joint,omitempty"`
	Tune    RetainTuning `json:"tune,omitzero"` // 0 epochs: 10
	Untuned bool         `json:"untuned,omitempty"`
}

var (
	_ Described = SCRUBLatent{}
	_ General   = SCRUBLatent{}
	_ Versioned = SCRUBLatent{}
)

// Name implements Method.
func (SCRUBLatent) Name() string { return "scrub-latent" }

// About implements Described.
func (SCRUBLatent) About() About {
	return About{
		"moves away from the original's latent variables on the forget set and keeps them on the retain set, then goes on training on the retain set",
		"Fishing for Privacy, as coded, after Kurmanji et al. 2023",
	}
}

// General implements General.
func (SCRUBLatent) General() bool { return true }

// Sees implements Method.
func (SCRUBLatent) Sees() Sees { return Sees{Original: true, Forget: true, Retain: true} }

// Version implements Versioned, as VBU's does.
func (SCRUBLatent) Version() int { return latentMatchVersion(1) }

// WithDefaults implements Method.
func (m SCRUBLatent) WithDefaults() Method { return m.withDefaults() }

func (m SCRUBLatent) withDefaults() SCRUBLatent {
	m.Forget, m.Keep, m.Up, m.Down = cmp.Or(m.Forget, 1), cmp.Or(m.Keep, 1), cmp.Or(m.Up, 5), cmp.Or(m.Down, 10)
	m.Epochs, m.LR, m.Clip, m.Batch = cmp.Or(m.Epochs, 20), cmp.Or(m.LR, 1e-4), cmp.Or(m.Clip, 1), cmp.Or(m.Batch, 256)
	m.Tune = m.Tune.withOtherDefaults(10)
	return m
}

// Unlearn implements Method.
func (m SCRUBLatent) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	m = m.withDefaults()
	leave, err := r.latentMatch(r.Forget, -m.Forget)
	if err != nil {
		return nil, err
	}
	keep, err := r.latentMatch(r.Retain, m.Keep)
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
	if m.Clip != nn.Zero {
		plan.Transforms = train.Chain{train.ClipNorm{Max: m.Clip}}
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
