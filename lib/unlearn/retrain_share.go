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
// seed. (2) Nothing is drawn in the loss on the 15 %.
type RetrainShare struct {
	Share  float64 `json:"share,omitempty"`  // 0: 0.85
	Epochs int     `json:"epochs,omitempty"` // 0: 100
	LR     float64 `json:"lr,omitempty"`     // 0: 1e-4
	Batch  int     `json:"batch,omitempty"`  // 0: 256; a request's own batch size has priority
}

var (
	_ Described = RetrainShare{}
	_ General   = RetrainShare{}
)

// Name implements Method.
func (RetrainShare) Name() string { return "retrain-share" }

// About implements Described.
func (RetrainShare) About() About {
	return About{"retrains on most of the retain set and keeps the epoch that is best on the rest", "Fishing for Privacy, as coded"}
}

// General implements General.
func (RetrainShare) General() bool { return true }

// Sees implements Method.
func (RetrainShare) Sees() Sees { return Sees{Retain: true} }

// WithDefaults implements Method.
func (m RetrainShare) WithDefaults() Method { return m.withDefaults() }

func (m RetrainShare) withDefaults() RetrainShare {
	m.Share, m.Epochs, m.LR, m.Batch = cmp.Or(m.Share, 0.85), cmp.Or(m.Epochs, 100), cmp.Or(m.LR, 1e-4), cmp.Or(m.Batch, 256)
	return m
}

// Unlearn implements Method.
func (m RetrainShare) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	m = m.withDefaults()
	n := r.Retain.X.Rows
	k := int(math.Floor(m.Share * float64(n)))
	if k < 1 || k >= n {
		return nil, fmt.Errorf("a share of %v of %d retained records leaves %d for training and %d for validation", m.Share, n, k, n-k)
	}
	on, by := r.splitRetained(k)
	c := train.Config{Epochs: m.Epochs, Batch: cmp.Or(r.Batch, m.Batch), Optimizer: nn.Adam{LR: m.LR}, Seed: r.Fit.Seed}
	return r.fitValidated(ctx, model.InitialWeights(r.Runner.Arch, r.Fit.Seed.Stream(engine.StreamInit)), on, by, c, 0)
}
