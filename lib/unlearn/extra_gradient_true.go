// Extra-gradient co-training as printed.

package unlearn

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// ExtraGradientTrue is the extra-gradient co-training of "Fishing for Privacy" as printed
// in the paper (section 4.2, equations 2 to 4), unlike its program, ExtraGradient. With L
// the original's objective and A the mean of the critics' cross-entropies of the forget
// set, with label yes, and of held-out records, with label no, the model theta and three
// critics psi play
//
//	min over theta, max over psi of  L(theta; Dr) - Lambda A(theta, psi)
//
// by Korpelevich's rule (train.ExtraGradient): both step ahead, take their gradients there,
// on the same records and with the same random numbers, and move by them from where they
// were. Steps are Adam's, at 1e-4 and, for the critics, 5 times that. An epoch is a pass
// over the retain set in batches of 256, with all of the forget set in every step; there
// are 50. Critics start as in FrozenCritics with NonMembers, on standardised features.
//
// Differences: (1) from the paper: the steps are Adam's, as in its program; the equations
// have plain gradient steps. (2) From the program: everything listed under ExtraGradient;
// the number of epochs is fixed.
//
// Where the forget set is of a rare type, critics learn the type, too: they cannot tell
// membership from rarity.
//
// It needs a variational autoencoder, with outputs loss.LatentMean and loss.LatentLogVar.
type ExtraGradientTrue struct {
	Lambda  float64      `json:"lambda,omitempty" default:"10"` // of the critics
	Epochs  int          `json:"epochs,omitempty" default:"50"`
	LR      float64      `json:"lr,omitempty" default:"1e-4"`
	Faster  float64      `json:"faster,omitempty" default:"5"`  // the critics' learning rate over the model's
	Batch   int          `json:"batch,omitempty" default:"256"` // a request's own batch size has priority
	Critics CriticConfig `json:"critics,omitzero"`
}

// Info implements Method.
func (ExtraGradientTrue) Info() Info {
	return Info{
		Name: "extra-gradient-true", Sees: Sees{Original: true, Forget: true, Retain: true, HeldOut: true}, General: true,
		Does: "plays against critics that learn to tell the forget set from non-members, looking a step ahead",
		From: "Fishing for Privacy, as printed",
	}
}

// Unlearn implements Method.
func (m ExtraGradientTrue) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	if !(m.Lambda > 0) {
		return nil, fmt.Errorf("the weight %v of the critics is not positive", m.Lambda)
	}
	w, err := r.newCriticGame(ctx, m.Critics, r.HeldOut, true, false)
	if err != nil {
		return nil, err
	}
	return m.playCritics(ctx, w)
}

// playCritics trains the model against the critics.
func (m ExtraGradientTrue) playCritics(ctx context.Context, w *criticGame) (*Outcome, error) {
	down, err := w.utilityTerm(1, 1)
	if err != nil {
		return nil, err
	}
	own, err := w.criticObjective(w.HeldOut)
	if err != nil {
		return nil, err
	}
	up, err := w.criticObjective(w.HeldOut)
	if err != nil {
		return nil, err
	}
	for k := range up {
		up[k].Targets[0].Weight *= -m.Lambda
	}
	game := &train.Game{Rule: train.ExtraGradient, Players: []train.Player{
		w.modelPlayer(append(train.Objective{down}, up...), m.LR),
		{Name: "critics", Owns: []string{criticsPrefix}, Objective: own, Optimizer: nn.Adam{LR: m.LR * m.Faster}},
	}}
	out, err := w.play(ctx, train.Plan{Game: game}, train.Config{Epochs: m.Epochs, Batch: cmp.Or(w.Batch, m.Batch), Seed: w.Seed})
	if err != nil {
		return nil, err
	}
	last := out.History[len(out.History)-1]
	out.Note = fmt.Sprintf("%d steps of the model, all of its %d epochs; its critics' cross-entropy came to %.3f", last.Steps/2, m.Epochs, last.Players[1])
	return out, nil
}
