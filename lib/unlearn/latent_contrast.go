// Contrastive latent unlearning.

package unlearn

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// LatentContrast is the contrastive latent unlearning of "Fishing for Privacy" (section
// 4.2, appendix B). It moves the latent variables of the forget set to the prior's and
// keeps those of the retain set. It minimises
//
//	Gamma KL(q || N(0, 1)) on Df + Keep (mean (mu - mu_0)^2 + 0.1 mean (s - s_0)^2) on Dr
//
// over records, the second mean over variables too, with mu and s the mean and log variance
// of a record's latent variables and mu_0, s_0 the original's with dropout off, for 20
// epochs of Adam at 1e-4 in batches of 256, each with the whole forget set. Only the
// encoder has a gradient. RetainTuning for at most 10 epochs follows, of all weights.
//
// It needs a variational autoencoder, with outputs loss.LatentMean and loss.LatentLogVar.
type LatentContrast struct {
	Gamma   float64      `json:"gamma,omitempty" default:"1"`
	Keep    *float64     `json:"keep,omitempty" default:"1"`     // new(0.0): none
	Spread  *float64     `json:"spread,omitempty" default:"0.1"` // of the log variances; new(0.0): none
	Epochs  int          `json:"epochs,omitempty" default:"20"`
	LR      float64      `json:"lr,omitempty" default:"1e-4"`
	Batch   int          `json:"batch,omitempty" default:"256"` // a request's own batch size has priority
	Tune    RetainTuning `json:"tune,omitzero"`                 // 0 epochs: 10
	Untuned bool         `json:"untuned,omitempty"`
}

// Info implements Method.
func (m LatentContrast) Info() Info {
	return Info{
		Name: "latent-contrast", Sees: Sees{Original: true, Forget: true, Retain: true}, General: true, Version: tunedVersion(m.Untuned),
		Does: "moves the forget set's latent variables to the prior and keeps the retain set's, then goes on training on the retain set",
		From: "Fishing for Privacy, as coded",
	}
}

// SetDefaults implements defaults.Setter.
func (m *LatentContrast) SetDefaults() {
	m.Tune.Epochs = cmp.Or(m.Tune.Epochs, 10)
}

// Unlearn implements Method.
func (m LatentContrast) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	q, err := r.latents(r.Retain)
	if err != nil {
		return nil, err
	}
	each := *m.Keep / float64(q[loss.LatentMean].Cols)
	o := train.Objective{
		r.term("retain", r.Retain, false,
			train.OutputTarget(loss.SquaredError{Output: loss.LatentMean}, q[loss.LatentMean], each),
			train.OutputTarget(loss.SquaredError{Output: loss.LatentLogVar}, q[loss.LatentLogVar], (*m.Spread)*each)),
		r.term("forget", r.Forget, true, train.Target{Loss: loss.LatentDivergence{}, Weight: m.Gamma}),
	}
	c := train.Config{Batch: cmp.Or(r.Batch, m.Batch), Optimizer: nn.Adam{LR: m.LR}, Seed: r.Seed}
	c.Epochs = r.stepScale.epochs(m.Epochs, c, o)
	p, history, err := train.Fit(ctx, r.Runner, r.Original, o, c, train.Hooks{})
	if err != nil {
		return nil, err
	}
	note := fmt.Sprintf("the objective came to %.4g in %d epochs", history[len(history)-1].Loss, len(history))
	return m.Tune.tuneUnless(ctx, r, m.Untuned, p, note)
}
