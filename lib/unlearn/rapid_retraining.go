package unlearn

import (
	"context"

	"github.com/lethe-ml/lethe/lib/nn"
)

// RapidRetraining is the method of Liu et al. ("The Right to be Forgotten in Federated
// Learning: An Efficient Realization with Rapid Retraining", INFOCOM 2022), which BlindU
// calls HBFU and its program does not contain. All users drop the records to forget and
// retrain from untrained weights, with a quasi-Newton step by the diagonal of the empirical
// Fisher information (nn.Fisher). It never sees a record of the forget set, and takes all
// rounds of its Users.
//
// With Plain the step is that of the original's optimiser: federated retraining, the
// control that shows how much of a federated method is averaging.
//
// Differences: rate and damping are this module's choice, as the paper's were not
// available; the initial weights are the original's.
type RapidRetraining struct {
	Users
	LR      float64 `json:"lr,omitempty" default:"1e-3"`      // nn.Fisher's
	Damping float64 `json:"damping,omitempty" default:"1e-2"` // nn.Fisher's
	Plain   bool    `json:"plain,omitempty"`
}

// Info implements Method.
func (m RapidRetraining) Info() Info {
	i := Info{
		Name: "rapid-retraining", Sees: Sees{Retain: true}, General: true,
		Does: "retrains on the retain set, by federated averaging with quasi-Newton steps",
		From: "Liu et al. 2022",
	}
	if m.Plain {
		i.Name, i.Does, i.From = "federated-retraining", "retrains on the retain set, by federated averaging", "control"
	}
	return i
}

// Unlearn implements Method.
func (m RapidRetraining) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	if !m.Plain {
		r.Fit.Optimizer = nn.Fisher{LR: m.LR, Damping: m.Damping}
	}
	return m.Train(ctx, r)
}
