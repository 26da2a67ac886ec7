// Retraining with differential privacy.

package unlearn

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/train"
)

// DPRetrain is the private model of "Fishing for Privacy" (section 4.2, appendix B). From
// the original's initial weights it minimises the original's final objective on the retain
// set by DP-SGD ([train.Private]) and Adam at 1e-3, with batches of 256 records on average,
// gradients clipped to 1, 50 epochs, and the noise for which all steps together are (10,
// 1e-5)-differentially private by RDP.
//
// Private is the retain set. Forgotten records are protected because they are not used, as
// in every retraining, without any noise. The paper calls it privacy by exclusion.
//
// The zero value is as coded: a tenth of the records, at most 1,000, is set aside, the
// weights are those after the epoch with the lowest loss on them, and the run ends when that
// loss has not fallen for 15 epochs. That choice uses private records and is not accounted for, so that the stated
// epsilon holds only for the last epoch. The noise is computed for q = B/n and floor(n/B)
// steps per epoch; the training has q = 1/k and k steps, with k = ceil(n/B), which for the
// paper's 27,094 records spends 10.03 instead of 10.
//
// With Exact every retained record is trained on, for all epochs, without early stopping,
// and the noise is that of exactly the steps that are taken.
//
// With Noise the noise is given and Epsilon is not promised. Noise new(0.0) is the control
// that separates the effect of the noise from that of the training: the same records,
// steps, batches and clipping, not private, without an epsilon.
//
// The outcome's note says what was spent, by RDP and by the privacy-loss distribution
// ([privacy.History.PRV]), over all steps; the report's history has the accounts after
// every epoch.
//
// Differences from the published program: (1) the sum is divided by q n, here 255.6, where
// its library rounds down to 255. (2) The validation loss draws no random numbers and is a
// mean over records. (3) Weights without a gradient, such as those of the dispersion under
// the squared error, get noise like all others; the program freezes them. Nothing reads
// them. (4) Of fewer than ten retained records one is set aside; the program's sample is empty.
type DPRetrain struct {
	Epsilon  float64  `json:"epsilon,omitempty"` // 10 unless set; unused with Noise
	Noise    *float64 `json:"noise,omitempty"`   // in units of Norm; nil: what Epsilon needs, new(0.0): none
	Delta    float64  `json:"delta,omitempty" default:"1e-5"`
	Norm     float64  `json:"norm,omitempty" default:"1"` // maximum gradient norm per record
	Epochs   int      `json:"epochs,omitempty" default:"50"`
	LR       float64  `json:"lr,omitempty" default:"1e-3"`
	Batch    int      `json:"batch,omitempty" default:"256"` // records per step on average; a request's own batch size has priority
	Patience int      `json:"patience,omitempty"`            // epochs, 0: 15, with Exact none
	Sample   int      `json:"sample,omitempty"`              // greatest number set aside, at most a tenth of all; 0: 1000, with Exact none
	Exact    bool     `json:"exact,omitempty"`
}

// Info implements Method.
func (m DPRetrain) Info() Info {
	m = defaults.Fill(m)
	how := fmt.Sprintf("with differential privacy (DP-SGD, epsilon %g)", m.Epsilon)
	switch {
	case m.Noise != nil && *m.Noise == 0:
		how = "by DP-SGD without its noise: nothing is private"
	case m.Noise != nil:
		how = fmt.Sprintf("with differential privacy (DP-SGD, noise %g)", *m.Noise)
	}
	version := 2 // in version 1 half of fewer than 2,000 records, or 1,000 of more, were set aside
	if m.Exact {
		version = 1
	}
	return Info{
		Name: "dp-retrain", Sees: Sees{Retain: true}, General: true, Version: version,
		Does: "retrains on the retain set " + how,
		From: "Fishing for Privacy, as coded",
	}
}

// SetDefaults implements defaults.Setter. With Exact there is no validation set.
func (m *DPRetrain) SetDefaults() {
	if m.Noise == nil {
		m.Epsilon = cmp.Or(m.Epsilon, 10)
	}
	m.Patience, m.Sample = cmp.Or(m.Patience, 15), cmp.Or(m.Sample, 1000)
	if m.Exact {
		m.Patience, m.Sample = 0, 0
	}
}

// Unlearn implements Method.
func (m DPRetrain) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	if m.Epochs < 1 || m.Batch < 1 || m.Patience < 0 || m.Sample < 0 {
		return nil, fmt.Errorf("%d epochs in batches of %d, patience %d, %d records set aside", m.Epochs, m.Batch, m.Patience, m.Sample)
	}
	on, plan := r.Retain, train.Plan{}
	if !m.Exact {
		aside, rest := r.splitRetained(r.Retain.X.Rows - m.TrainingSize(r.Retain.X.Rows))
		v, err := r.validation(aside, m.Patience)
		if err != nil {
			return nil, err
		}
		on, plan.Validation = rest, v
	}
	o, err := r.objective("retain", on, false, 1)
	if err != nil {
		return nil, err
	}
	c := train.Config{Batch: cmp.Or(r.Batch, m.Batch), Optimizer: nn.Adam{LR: m.LR}, Seed: r.Fit.Seed}
	c.Epochs = r.stepScale.epochs(m.Epochs, c, o)
	if v := plan.Validation; v != nil {
		v.Patience = r.stepScale.patience(m.Patience, c, o)
	}
	noise, err := m.noiseMultiplier(on.X.Rows, c.Batch, c.Epochs)
	if err != nil {
		return nil, err
	}
	plan.Passes, plan.Private = singlePass(o), &train.Private{Norm: m.Norm, Noise: noise}
	p, history, err := train.FitPlan(ctx, r.Runner, model.InitialWeights(r.Runner.Arch, r.Fit.Seed.Stream(engine.StreamInit)), plan, c, r.Hooks)
	if err != nil {
		return nil, err
	}
	note, err := m.spentNote(history[len(history)-1].Privacy)
	if err != nil {
		return nil, err
	}
	if !m.Exact {
		note += "; " + bestEpochNote(history)
		if noise > 0 {
			note += ", a choice by private records that is not in it"
		}
	}
	return &Outcome{Params: p, History: history, Note: note}, nil
}

// TrainingSize returns how many of the retained records are trained on: without Exact some
// are set aside for validation.
func (m DPRetrain) TrainingSize(retained int) int {
	return retained - sampleSize(defaults.Fill(m).Sample, retained)
}

// noiseMultiplier returns the noise for a training on n records: exact, or as coded.
func (m DPRetrain) noiseMultiplier(n, batch, epochs int) (float64, error) {
	switch {
	case m.Noise != nil && m.Epsilon != 0:
		return 0, fmt.Errorf("noise %v and epsilon %v: give one of them", *m.Noise, m.Epsilon)
	case m.Noise != nil:
		return *m.Noise, nil
	}
	k := (n + batch - 1) / batch
	rate := 1 / float64(k)
	if !m.Exact {
		k = max(1, n/batch)
		rate = min(1, float64(batch)/float64(n))
	}
	return privacy.Noise(m.Epsilon, m.Delta, rate, epochs*k)
}

// spentNote describes the privacy spent by a history of equal steps. Where epsilon is very
// large it is by RDP alone.
func (m DPRetrain) spentNote(h privacy.History) (string, error) {
	if h.Steps() == 0 {
		return "no noise, nothing is private", nil
	}
	rdp, err := h.RDP(m.Delta)
	if err != nil {
		return "", err
	}
	finer := ""
	if prv, err := h.PRV(m.Delta, privacy.PRV{}); err != nil { // epsilon is too large
		finer = "by the privacy loss not known: " + err.Error()
	} else {
		finer = fmt.Sprintf("%.2f to %.2f by the privacy loss", prv.Low, prv.High)
	}
	s := h[0]
	return fmt.Sprintf("epsilon %.4f by RDP, %s, at delta %g: noise %.4f at rate 1/%.0f in %d steps",
		rdp.Epsilon, finer, m.Delta, s.Noise, 1/s.Rate, s.Times), nil
}
