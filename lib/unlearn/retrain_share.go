// Retraining on a share of the retain set.

package unlearn

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// RetrainShare is the retrained model of "Fishing for Privacy" as coded (appendix B), the
// paper's gold standard. From the original's initial weights it minimises the original's
// final objective on a random 85 % of the retain set, by Adam at 1e-4 in batches of 256 for
// 100 epochs, and returns the weights after the epoch with the lowest loss on the other 15
// %.
//
// It is not comparable with Retrain, which differs from the original by the forget set
// alone: it is trained on fewer records, without the original's schedule (neither warm-up
// nor free bits), and chosen by another rule.
//
// Differences from the published program: (1) the share is drawn from the unlearning's
// seed. (2) Nothing is drawn in the loss on the 15 %. (3) On Tabula Muris the program
// chooses the epoch by the training loss.
type RetrainShare struct {
	Share  float64 `json:"share,omitempty" default:"0.85"`
	Epochs int     `json:"epochs,omitempty" default:"100"`
	LR     float64 `json:"lr,omitempty" default:"1e-4"`
	Batch  int     `json:"batch,omitempty" default:"256"` // a request's own batch size has priority
}

// Info implements Method.
func (RetrainShare) Info() Info {
	return Info{
		Name: "retrain-share", Sees: Sees{Retain: true}, General: true,
		Does: "retrains on most of the retain set and keeps the epoch that is best on the rest",
		From: "Fishing for Privacy, as coded",
	}
}

// Unlearn implements Method.
func (m RetrainShare) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	n := r.Retain.X.Rows
	k := int(math.Floor(m.Share * float64(n)))
	if k < 1 || k >= n {
		return nil, fmt.Errorf("a share of %v of %d retained records leaves %d for training and %d for validation", m.Share, n, k, n-k)
	}
	on, by := r.splitRetained(k)
	c := train.Config{Epochs: m.Epochs, Batch: cmp.Or(r.Batch, m.Batch), Optimizer: nn.Adam{LR: m.LR}, Seed: r.Fit.Seed}
	return r.fitValidated(ctx, model.InitialWeights(r.Runner.Arch, r.Fit.Seed.Stream(engine.StreamInit)), on, by, c, 0)
}
