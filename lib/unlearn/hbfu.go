// Federated gradient ascent, BlindU's HBFU.

package unlearn

import (
	"context"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// HBFU is what BlindU's program calls "Hessian-based federated unlearning" and compares
// itself with. It is not the method of that name by Liu et al. (INFOCOM 2022), which is
// RapidRetraining: it is a gradient ascent. In every round the users who ask to erase
// records (Users) move their copy, in one pass over these in batches, by
//
//	p += (Eta + 0.1 LR) 0.1 g / (sqrt(0.001) |h| + LR)
//
// with g the gradient of the original's objective on a batch of erased records, and h
// Hutchinson's estimate of the diagonal of its second derivative, from one draw, on a batch
// of the user's retained records (train.Curvature). The other users train on their records,
// which is what preserves the model.
//
// Consequences: (1) 0.1 and 0.001 are 1 - beta of Adam's two averages, which the program
// creates anew at every step: nothing is averaged, and nothing corrects the bias. (2) The
// term 0.1 LR comes from an assignment in place. (3) The three users who ask hold the same
// records; with Divided each holds a third.
//
// Differences from the program: (1) it computes h by differentiating twice, here it is a
// difference of gradients. (2) The batch of retained records is drawn anew for every step;
// the program goes through them in order. (3) Without Stop a user makes ErasingEpochs
// passes in a round. The program makes up to 50, on Adult up to 30. It ends a pass after a
// batch of which it finds less than 2 % of the labels, and ends the user's work after a
// number of passes below 10 % on average over their batches; on MNIST after one:
// Stop{Batch: 0.02} with one pass. (4) It has no user who erases all of their records: here
// h is then of what they erase.
type HBFU struct {
	Users
	Eta float64 `json:"eta,omitempty" default:"1e-3"` // the program's on MNIST
	LR  float64 `json:"lr,omitempty" default:"1e-3"`
	// Private makes the gradient of every batch of erased records private before it is
	// divided by h; nil: it is not. It does not protect retained records.
	Private *PrivateRelease `json:"private,omitempty"`
	// Stop ends a user's work by their own batches, at the latest after ErasingEpochs
	// passes; nil: no early stop.
	Stop *Stop `json:"stop,omitempty"`
}

// Info implements Method.
func (m HBFU) Info() Info {
	return Info{
		Name: "hbfu-ascent", Sees: Sees{Original: true, Forget: true, Retain: true}, General: m.Stop == nil,
		Does: "raises the loss of the forget set at the users who ask, least where the retain set's loss is curved; the others train",
		From: "BlindU's HBFU, as coded",
	}
}

// Unlearn implements Method.
func (m HBFU) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	if !(m.Eta > 0 && m.LR > 0) {
		return nil, fmt.Errorf("rates %v and %v; both must be positive", m.Eta, m.LR)
	}
	if m.Stop != nil {
		if _, err := r.Runner.Classes(); err != nil {
			return nil, err
		}
		if err := m.Stop.check(); err != nil {
			return nil, err
		}
	}
	var before train.Chain
	if m.Private != nil {
		release, err := train.ReleaseGradients(m.Private.mechanism(m.maxSteps(r)))
		if err != nil {
			return nil, err
		}
		before = append(before, release)
	}
	everything, err := r.objective("curvature", concatData(r.Retain, r.Forget), false, 1)
	if err != nil {
		return nil, err
	}
	curvature, err := train.NewCurvature(r.Runner, everything)
	if err != nil {
		return nil, err
	}
	defer curvature.Close()
	erase := func(t federated.UserRound, _, erased Data) (federated.Task, error) {
		rows := t.Rows
		if len(rows) == 0 {
			rows = t.Erased
			if m.Private != nil {
				return federated.Task{}, fmt.Errorf("user %d has no retained records for the curvature, and on erased records it would not be private", t.User)
			}
		}
		up, err := r.objective("forget", erased, false, -1)
		plan := train.Plan{Passes: singlePass(up), Transforms: append(before[:len(before):len(before)], curvatureTransform{m, curvature, rows})}
		if m.Stop != nil {
			m.Stop.addTo(&plan, erased.Y, r.classes(), nil)
		}
		return federated.Task{Plan: plan, Config: train.Config{Epochs: m.ErasingEpochs, Batch: m.Batch, Optimizer: nn.SGD{LR: 1}}}, err
	}
	out, err := m.run(ctx, r, r.Original, erase)
	if err == nil {
		out.Note += m.Private.note(m.maxSteps(r))
	}
	return out, err
}

// curvatureTransform turns a gradient into the step that is taken.
type curvatureTransform struct {
	HBFU
	*train.Curvature
	rows []int // the user's own rows of the retain set and, after it, the forget set
}

// Transform implements train.GradientTransform. Its random numbers come from the stream
// after those of the tensors.
func (c curvatureTransform) Transform(s *train.GradientStep) error {
	rng := s.Rand(len(s.Params))
	some := rng.Perm(len(c.rows))[:min(len(c.rows), c.Batch)]
	for i, k := range some {
		some[i] = c.rows[k]
	}
	h, err := c.Estimate(s.Params, some, rng)
	if err != nil {
		return err
	}
	rate := 0.1 * (c.Eta + float64(0.1*c.LR))
	for i, g := range s.Grads {
		for j := range g {
			g[j] *= rate / (float64(math.Sqrt(0.001)*math.Abs(h[i][j])) + c.LR)
		}
	}
	return nil
}
