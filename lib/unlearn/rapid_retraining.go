package unlearn

import (
	"cmp"
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
	LR      float64 `json:"lr,omitempty"`      // nn.Fisher's, 0: 1e-3
	Damping float64 `json:"damping,omitempty"` // nn.Fisher's, 0: 1e-2
	Plain   bool    `json:"plain,omitempty"`
}

var (
	_ Described = RapidRetraining{}
	_ General   = RapidRetraining{}
)

// Name implements Method.
func (m RapidRetraining) Name() string {
	if m.Plain {
		return "federated-retraining"
	}
	return "rapid-retraining"
}

// About implements Described.
func (m RapidRetraining) About() About {
	if m.Plain {
		return About{"retrains on the retain set, by federated averaging among ten users", "control"}
	}
	return About{"retrains on the retain set, by federated averaging among ten users with quasi-Newton steps", "Liu et al. 2022"}
}

// General implements General.
func (RapidRetraining) General() bool { return true }

// Sees implements Method.
func (RapidRetraining) Sees() Sees { return Sees{Retain: true} }

// WithDefaults implements Method.
func (m RapidRetraining) WithDefaults() Method { return m.withDefaults() }

func (m RapidRetraining) withDefaults() RapidRetraining {
	m.Users = m.Users.WithDefaults()
	m.LR, m.Damping = cmp.Or(m.LR, 1e-3), cmp.Or(m.Damping, 1e-2)
	return m
}

// Unlearn implements Method.
func (m RapidRetraining) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	m = m.withDefaults()
	if !m.Plain {
		r.Fit.Optimizer = nn.Fisher{LR: m.LR, Damping: m.Damping}
	}
	return m.Train(ctx, r)
}
