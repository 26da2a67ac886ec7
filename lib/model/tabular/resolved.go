package tabular

import (
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Rate is a dropout probability whose zero value stands for the network's own;
// NoDropout switches dropout off.
type Rate float64

// NoDropout keeps every unit.
const NoDropout Rate = nn.Zero

// value is the rate, exactly 0 where dropout is off.
func (r Rate) value() float64 {
	if r == NoDropout {
		return 0
	}
	return float64(r)
}

// Resolved implements model.Architecture.
func (m MLP) Resolved() model.Architecture { return m.withDefaults() }

// Resolved implements model.Architecture.
func (m ResMLP) Resolved() model.Architecture { return m.withDefaults() }

// Resolved implements model.Architecture.
func (m FTTransformer) Resolved() model.Architecture { return m.withDefaults() }

// Resolved implements model.Architecture.
func (m OneHidden) Resolved() model.Architecture { return m.withDefaults() }
