// Bayesian federated unlearning.

package unlearn

import (
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
// who erases all of their records minimises the first two terms. (4) A user makes
// ErasingEpochs passes in a round, one unless set, as the program does on MNIST. On Adult it
// makes up to 50 and ends after 8 on which it finds less than 8 % of the labels, on CIFAR-10
// up to 30 and ends after 2 below 10 %.
//
// It needs outputs nn.Logits, loss.LatentMean and loss.LatentLogVar.
type BFU struct {
	Users
	Divergence *float64 `json:"divergence,omitempty" default:"1"` // weight; new(0.0): none
	Weight     float64  `json:"weight,omitempty" default:"1.5"`
	LR         float64  `json:"lr,omitempty" default:"1e-3"`
	Clip       *float64 `json:"clip,omitempty" default:"5"` // gradient norm; new(0.0): no clipping
	// Private makes the gradients of users who erase differentially private; nil: they are
	// not.
	Private *PrivateRelease `json:"private,omitempty"`
}

// Info implements Method.
func (m BFU) Info() Info {
	return Info{
		Name: "bfu", Sees: Sees{Original: true, Forget: true, Retain: true}, General: true, Version: latentMatchVersion(m.Divergence),
		Does: "raises the loss of the forget set at the users who ask, and keeps its codes and some retained records; the others train",
		From: "BlindU's form of Wang et al. 2023",
	}
}

// Unlearn implements Method.
func (m BFU) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
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
	c := train.Config{Epochs: m.ErasingEpochs, Batch: m.Batch, Optimizer: nn.Adam{LR: m.LR}, Clip: *m.Clip}
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
	if *m.Divergence != 0 {
		each := *m.Divergence / float64(codes[loss.LatentMean].Cols)
		targets = append(targets, train.Target{Loss: loss.LatentMatch{}, Inputs: codes, Weight: each})
	}
	forget := train.Objective{r.term("forget", erased, false, targets...)}
	if own.X.Rows == 0 {
		return forget, nil
	}
	retain, err := r.objective("retain", own, false, m.Weight)
	return append(forget, retain...), err
}
