package unlearn

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// FrozenCritics is the adversarial unlearning against fixed critics of "Fishing for
// Privacy" as coded (section 4.2). Three critics c learn to tell the original's forget
// set from its retain set (see Criticism) and stay as they are. Then the model, and
// it alone, goes down
//
//	mean over Df of max over c of log(1 + exp(z_c)) + Lambda (1/genes recon + 1/latent KL) on Dr
//
// for 30 epochs of Adam at 1e-4 in batches of 256 of the retain set, each with all of
// the forget set drawn four times, every gradient shortened to length 1: whoever is
// to be forgotten is to look like a no to the surest critic. The features' derivative
// goes through the latent variables that are drawn. What is last is returned.
//
// What it does: (1) both sets that the critics tell apart were trained on: they learn
// the type of a cell. With Strangers they learn the forget set from held-out records,
// on standardised features. (2) The means over elements make the divergence heavier
// by genes/latent, 62.5 in the paper. With Sum it is Lambda/genes times what the
// original was trained for, in which the two have the weights that they had.
//
// Differences: (1) from the paper, the weight stands on the utility, as coded.
// (2) From the program: the surest critic is that of every record, not that of the
// forget set's mean; critics learn on features of the latent means, where it draws.
//
// It needs a variational autoencoder, with outputs loss.LatentMean and
// loss.LatentLogVar.
type FrozenCritics struct {
	Lambda     float64      `json:"lambda,omitempty"`  // of the utility, 0: 10
	Epochs     int          `json:"epochs,omitempty"`  // 0: 30
	LR         float64      `json:"lr,omitempty"`      // 0: 1e-4
	Samples    int          `json:"samples,omitempty"` // of the forget set per step, 0: 4
	Clip       float64      `json:"clip,omitempty"`    // the longest gradient, 0: 1, nn.Zero: any
	Batch      int          `json:"batch,omitempty"`   // 0: 256; a request's own batch goes before
	Critics    CriticConfig `json:"critics,omitzero"`
	NonMembers bool         `json:"strangers,omitempty"`
	Sum        bool         `json:"sum,omitempty"`
}

var (
	_ Described = FrozenCritics{}
	_ General   = FrozenCritics{}
)

// Name implements Method.
func (FrozenCritics) Name() string { return "frozen-critics" }

// About implements Described.
func (FrozenCritics) About() About {
	return About{"moves what the model says of the forget set until critics that do not learn call it a stranger", "Fishing for Privacy, as coded"}
}

// General implements General.
func (FrozenCritics) General() bool { return true }

// Sees implements Method.
func (m FrozenCritics) Sees() Sees {
	return Sees{Original: true, Forget: true, Retain: true, HeldOut: m.NonMembers}
}

// WithDefaults implements Method.
func (m FrozenCritics) WithDefaults() Method { return m.withDefaults() }

func (m FrozenCritics) withDefaults() FrozenCritics {
	m.Lambda, m.Epochs, m.LR, m.Samples = cmp.Or(m.Lambda, 10), cmp.Or(m.Epochs, 30), cmp.Or(m.LR, 1e-4), cmp.Or(m.Samples, 4)
	m.Clip, m.Batch, m.Critics = cmp.Or(m.Clip, 1), cmp.Or(m.Batch, 256), m.Critics.withDefaults()
	return m
}

// Unlearn implements Method. The hooks are for the model's epochs: critics learn
// again after a stop.
func (m FrozenCritics) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	m = m.withDefaults()
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

// playCritics moves the model until these critics are astray.
func (m FrozenCritics) playCritics(ctx context.Context, w *criticGame) (*Outcome, error) {
	o, err := m.objective(w)
	if err != nil {
		return nil, err
	}
	plan := train.Plan{Game: &train.Game{Players: []train.Player{w.modelPlayer(o, m.LR)}}}
	if m.Clip != nn.Zero {
		plan.Transforms = []train.GradientTransform{train.ClipNorm{Max: m.Clip}}
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

// objective is the model's.
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
	for range m.Samples { // each with draws of its own
		o = append(o, privacy)
	}
	return o, nil
}
