// Variational Bayesian unlearning.

package unlearn

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// VBU is variational Bayesian unlearning (Nguyen, Low and Jaillet 2020) in the form in
// which BlindU compares itself with it: an information bottleneck minimises
//
//	mean over Df of ( log p(y | z) + Divergence KL(q(z | x) || q_original(z | x)) )
//
// in batches of 20 with Adam at 1e-3 and gradients clipped to norm 1, until it finds the
// labels of no more of Df than chance, one in the number of classes, or for 20 epochs. It
// sees the forget set only: nothing but the divergence preserves the rest of the model.
//
// Consequences: BlindU's program multiplies the divergence by 0, which leaves plain
// gradient ascent, Divergence new(0.0). It stops in an epoch at 2 % of a batch, and after
// one that ends below 10 %: Stop{Batch: 0.02, Epoch: 0.1}, on CIFAR-10 Stop{Batch: 0.05,
// Epoch: 0.08}. An epoch's end is then evaluated with one random code per record, and an
// incomplete batch is left out, as there.
//
// Differences: (1) from Nguyen et al., whose posterior is over weights: the divergence is
// of codes, which is what BlindU calls VBU. (2) From the program, without Stop: it ends at
// the end of an epoch, at chance. (3) The program takes at most as many batches as there
// are of auxiliary records; here all are taken.
//
// It needs outputs nn.Logits, loss.LatentMean and loss.LatentLogVar.
type VBU struct {
	Divergence *float64 `json:"divergence,omitempty" default:"1"` // weight; as coded; new(0.0): none
	Epochs     int      `json:"epochs,omitempty" default:"20"`    // at most
	LR         float64  `json:"lr,omitempty" default:"1e-3"`
	Batch      int      `json:"batch,omitempty" default:"20"` // a request's own batch size has priority
	Clip       *float64 `json:"clip,omitempty" default:"1"`   // gradient norm; new(0.0): no clipping
	// Private makes every record private before it leaves its owner, as in Table IV's
	// DP-VBU; the method and its stopping rule then use the noisy records. nil: records are
	// unchanged.
	Private *PrivateRelease `json:"private,omitempty"`
	Stop    *Stop           `json:"stop,omitempty"` // nil: at the end of an epoch, at chance
}

// Info implements Method.
func (m VBU) Info() Info {
	return Info{
		Name: "vbu", Sees: Sees{Original: true, Forget: true}, General: true, Version: latentMatchVersion(m.Divergence),
		Does: "raises the loss of the forget set and keeps its codes",
		From: "BlindU's form of Nguyen et al. 2020",
	}
}

// Unlearn implements Method.
func (m VBU) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	if _, err := r.Runner.Classes(); err != nil {
		return nil, err
	}
	if m.Private != nil {
		x, err := m.Private.releaseRecords(r.Forget, r.Seed)
		if err != nil {
			return nil, err
		}
		r.Forget.X = x
	}
	targets := []train.Target{r.labelTarget(r.Forget, -1)}
	if *m.Divergence != 0 {
		codes, err := r.latents(r.Forget)
		if err != nil {
			return nil, err
		}
		targets = append(targets, train.Target{Loss: loss.LatentMatch{}, Inputs: codes, Weight: *m.Divergence})
	}
	plan := train.Plan{
		Passes:     singlePass(train.Objective{r.term("forget", r.Forget, false, targets...)}),
		Validation: r.stopAtChance(),
	}
	c := train.Config{Epochs: m.Epochs, Batch: cmp.Or(r.Batch, m.Batch), Optimizer: nn.Adam{LR: m.LR}, Clip: *m.Clip, Seed: r.Seed}
	if m.Stop != nil {
		c.DropLast = true
		if err := m.addStop(&plan, r); err != nil {
			return nil, err
		}
	}
	p, history, err := train.FitPlan(ctx, r.Runner, r.Original, plan, c, r.Hooks)
	if err != nil {
		return nil, err
	}
	return &Outcome{Params: p, History: history, Note: endNote(plan.Validation, history, "epoch")}, nil
}

// addStop adds the program's stopping rule to a plan.
func (m VBU) addStop(plan *train.Plan, r Request) error {
	if err := m.Stop.check(); err != nil {
		return err
	}
	judge, err := sampledAccuracy(r.Runner, r.Forget, r.Seed)
	if err == nil {
		m.Stop.addTo(plan, r.Forget.Y, r.classes(), judge)
	}
	return err
}

// stopAtChance stops at the end of an epoch after which a classifier finds the labels of no
// more of the forget set than chance: one in the number of classes.
func (r Request) stopAtChance() *train.Validation {
	chance := 1 / float64(r.classes())
	return &train.Validation{KeepLast: true, StopBelow: &chance, Score: func(_ context.Context, p nn.Params, _ int) (float64, error) {
		prediction, err := r.Runner.Predict(p, r.Forget.X)
		if err != nil {
			return 0, err
		}
		return train.Accuracy(prediction.Logits(), r.Forget.Y), nil
	}}
}

// endNote says how a method ended that stops when it has forgotten; unit is, for instance,
// "epoch".
func endNote(v *train.Validation, history []train.Epoch, unit string) string {
	if len(history) != 1 {
		unit += "s"
	}
	if v.IsBelow(history) {
		return fmt.Sprintf("forgotten after %d %s", len(history), unit)
	}
	return fmt.Sprintf("all %d %s, at an accuracy of %.3f", len(history), unit, *history[len(history)-1].Valid)
}

// latentMatchVersion returns the version of methods that use loss.LatentMatch with a
// weight: in version 2 codes with very small variances have a finite divergence; version 1
// diverged.
func latentMatchVersion(weight *float64) int {
	if weight != nil && *weight == 0 {
		return 1
	}
	return 2
}
