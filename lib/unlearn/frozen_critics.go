// Unlearning against fixed critics.

package unlearn

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// FrozenCritics is the adversarial unlearning against fixed critics of "Fishing for
// Privacy" as coded (section 4.2). Three critics c are trained to distinguish the
// original's forget set from its retain set (see CriticConfig) and then stay fixed. The
// model minimises
//
//	mean over Df of max over c of log(1 + exp(z_c)) + Lambda (1/genes recon + 1/latent KL) on Dr
//
// for 30 epochs of Adam at 1e-4 in batches of 256 of the retain set, each with all of the
// forget set drawn four times, and gradients clipped to norm 1: the forget records should
// look like non-members to the most confident critic. The derivative of the features goes
// through the latent variables that are drawn. The last weights are returned.
//
// Consequences: (1) both sets that the critics distinguish were trained on: the critics
// learn the type of a cell. With NonMembers they learn to distinguish the forget set from
// held-out records, on standardised features. (2) The means over elements weight the
// divergence up by genes/latent, 62.5 in the paper. With Sum the utility is Lambda/genes
// times the original's objective, in which both have their original weights.
//
// Differences: (1) from the paper: the weight is on the utility, as coded. (2) From the
// program: the maximum over critics is taken per record, not for the forget set's mean;
// critics are trained on features of the latent means, where the program draws, and on all
// of the forget set in every step, where it takes at most 64 records.
//
// It needs a variational autoencoder, with outputs loss.LatentMean and loss.LatentLogVar.
type FrozenCritics struct {
	Lambda     float64      `json:"lambda,omitempty" default:"10"` // of the utility
	Epochs     int          `json:"epochs,omitempty" default:"30"`
	LR         float64      `json:"lr,omitempty" default:"1e-4"`
	Samples    int          `json:"samples,omitempty" default:"4"` // of the forget set per step
	Clip       *float64     `json:"clip,omitempty" default:"1"`    // gradient norm; new(0.0): no clipping
	Batch      int          `json:"batch,omitempty" default:"256"` // a request's own batch size has priority
	Critics    CriticConfig `json:"critics,omitzero"`
	NonMembers bool         `json:"strangers,omitempty"`
	Sum        bool         `json:"sum,omitempty"`
}

// Info implements Method.
func (m FrozenCritics) Info() Info {
	return Info{
		Name: "frozen-critics", Sees: Sees{Original: true, Forget: true, Retain: true, HeldOut: m.NonMembers}, General: true,
		Does: "moves the model's outputs for the forget set until fixed critics classify it as non-members",
		From: "Fishing for Privacy, as coded",
	}
}

// Unlearn implements Method. The hooks are for the model's epochs: after a stop the critics
// are trained again.
func (m FrozenCritics) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	if m.Samples < 1 || !(m.Lambda > 0) {
		return nil, fmt.Errorf("%d samples of the forget set and the weight %v of the utility; both must be positive", m.Samples, m.Lambda)
	}
	others := r.Retain
	if m.NonMembers {
		others = r.HeldOut
	}
	w, err := r.newCriticGame(ctx, m.Critics, others, m.NonMembers, true)
	if err != nil {
		return nil, err
	}
	return m.playCritics(ctx, w)
}

// playCritics trains the model until the critics are misled.
func (m FrozenCritics) playCritics(ctx context.Context, w *criticGame) (*Outcome, error) {
	o, err := m.objective(w)
	if err != nil {
		return nil, err
	}
	plan := train.Plan{Game: &train.Game{Players: []train.Player{w.modelPlayer(o, m.LR)}}}
	if *m.Clip != 0 {
		plan.Transforms = train.Chain{train.ClipNorm{Max: *m.Clip}}
	}
	c := train.Config{Batch: cmp.Or(w.Batch, m.Batch), Seed: w.Seed}
	c.Epochs = w.stepScale.epochs(m.Epochs, c, o)
	out, err := w.play(ctx, plan, c)
	if err != nil {
		return nil, err
	}
	out.Note = fmt.Sprintf("%d steps of the model, all of its %d epochs", out.History[len(out.History)-1].Steps, c.Epochs)
	return out, nil
}

// objective returns the model's objective.
func (m FrozenCritics) objective(w *criticGame) (train.Objective, error) {
	genes, latent := w.elements()
	recon, rest := m.Lambda/genes, m.Lambda/latent
	if m.Sum {
		rest = recon
	}
	utility, err := w.utilityTerm(recon, rest)
	if err != nil {
		return nil, err
	}
	privacy, err := w.term("forget", w.Forget, true, train.Target{Loss: loss.MaxLogit{}, Weight: 1 / float64(m.Samples)})
	if err != nil {
		return nil, err
	}
	o := train.Objective{utility}
	for range m.Samples { // each with its own random numbers
		o = append(o, privacy)
	}
	return o, nil
}
