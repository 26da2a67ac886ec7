package tabular

import (
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Rate is a dropout probability. Zero means the network's default; NoDropout switches
// dropout off.
type Rate float64

// NoDropout switches dropout off.
const NoDropout Rate = nn.Zero

// probability returns the rate, exactly 0 where dropout is off.
func (r Rate) probability() float64 {
	if r == NoDropout {
		return 0
	}
	return float64(r)
}

// WithDefaults implements model.Architecture.
func (m MLP) WithDefaults() model.Architecture { return m.withDefaults() }

// WithDefaults implements model.Architecture.
func (m ResMLP) WithDefaults() model.Architecture { return m.withDefaults() }

// WithDefaults implements model.Architecture.
func (m FTTransformer) WithDefaults() model.Architecture { return m.withDefaults() }

// WithDefaults implements model.Architecture.
func (m OneHidden) WithDefaults() model.Architecture { return m.withDefaults() }
