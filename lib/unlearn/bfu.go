// Bayesian federated unlearning.

package unlearn

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// BFU is Bayesian federated unlearning (Wang et al. 2023) in the form in which BlindU's
// program compares itself with it. In every round the users who ask to erase records
// minimise
//
//	mean over erased ( KL(q(z | x) || q_original(z | x)) / latent + Weight log p(y | z) ) + Weight mean over retained L
//
// from the shared weights, for one epoch in batches with Adam at 1e-3 and gradients clipped
// to norm 5; L is the original's objective, "latent" the number of a code's variables and
// Weight 1.5. The other users train on their records.
//
// Differences: (1) the parameters that Wang et al. share between the two tasks are not in
// the program, nor here. (2) In every round a user draws as many retained records as they
// erase; the program goes through both in parallel. (3) Who holds what: see Users. A user
// who erases all of their records minimises the first two terms.
//
// It needs outputs nn.Logits, loss.LatentMean and loss.LatentLogVar.
type BFU struct {
	Users
	Divergence float64 `json:"divergence,omitempty"` // weight, 0: 1, nn.Zero: none
	Weight     float64 `json:"weight,omitempty"`     // 0: 1.5
	LR         float64 `json:"lr,omitempty"`         // 0: 1e-3
	Clip       float64 `json:"clip,omitempty"`       // gradient norm, 0: 5, nn.Zero: no clipping
	// Private makes the gradients of users who erase differentially private; nil: they are
	// not.
	Private *PrivateRelease `json:"private,omitempty"`
}

var (
	_ Described = BFU{}
	_ General   = BFU{}
	_ Versioned = BFU{}
)

// Name implements Method.
func (BFU) Name() string { return "bfu" }

// About implements Described.
func (BFU) About() About {
	return About{
		"raises the loss of the forget set at three of ten users, and keeps its codes and some retained records; the others train",
		"BlindU's form of Wang et al. 2023",
	}
}

// General implements General.
func (BFU) General() bool { return true }

// Sees implements Method.
func (BFU) Sees() Sees { return Sees{Original: true, Forget: true, Retain: true} }

// Version implements Versioned: in version 2 codes with very small variances have a finite
// divergence; version 1 diverged.
func (m BFU) Version() int { return latentMatchVersion(m.Divergence) }

// WithDefaults implements Method.
func (m BFU) WithDefaults() Method { return m.withDefaults() }

func (m BFU) withDefaults() BFU {
	m.Users, m.Private = m.Users.WithDefaults(), m.Private.withDefaults()
	m.Divergence, m.Weight, m.LR, m.Clip = cmp.Or(m.Divergence, 1), cmp.Or(m.Weight, 1.5), cmp.Or(m.LR, 1e-3), cmp.Or(m.Clip, 5)
	return m
}

// Unlearn implements Method.
func (m BFU) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	m = m.withDefaults()
	if _, err := r.Runner.Classes(); err != nil {
		return nil, err
	}
	if !(m.Weight > 0 && m.LR > 0) {
		return nil, fmt.Errorf("weight %v and rate %v; both must be positive", m.Weight, m.LR)
	}
	plan := train.Plan{}
	if m.Private != nil {
		release, err := train.ReleaseGradients(m.Private.mechanism(m.maxSteps(r)))
		if err != nil {
			return nil, err
		}
		plan.Transforms = train.Chain{release}
	}
	c := train.Config{Epochs: m.ErasingEpochs, Batch: m.Batch, Optimizer: nn.Adam{LR: m.LR}}
	if m.Clip != nn.Zero {
		c.Clip = m.Clip
	}
	erase := func(t federated.UserRound, own, erased Data) (federated.Task, error) {
		o, err := m.objective(r, own.selectRows(r.keptRows(t, own.X.Rows, erased.X.Rows)), erased)
		p := plan
		p.Passes = singlePass(o)
		return federated.Task{Plan: p, Config: c}, err
	}
	out, err := m.run(ctx, r, r.Original, erase)
	if err == nil {
		out.Note += m.Private.note(m.maxSteps(r))
	}
	return out, err
}

// keptRows returns the retained records that a user who erases trains on in a round: as
// many as they erase, drawn anew for every round and user.
func (r Request) keptRows(t federated.UserRound, own, erased int) []int {
	return r.Seed.Stream(engine.StreamShare, uint64(t.Round), uint64(t.User)).Perm(own)[:min(own, erased)]
}

// objective returns the objective of a user who erases.
func (m BFU) objective(r Request, own, erased Data) (train.Objective, error) {
	codes, err := r.latents(erased)
	if err != nil {
		return nil, err
	}
	targets := []train.Target{r.labelTarget(erased, -m.Weight)}
	if m.Divergence != nn.Zero {
		each := m.Divergence / float64(codes[loss.LatentMean].Cols)
		targets = append(targets, train.Target{Loss: loss.LatentMatch{}, Inputs: codes, Weight: each})
	}
	forget := train.Objective{r.term("forget", erased, false, targets...)}
	if own.X.Rows == 0 {
		return forget, nil
	}
	retain, err := r.objective("retain", own, false, m.Weight)
	return append(forget, retain...), err
}
