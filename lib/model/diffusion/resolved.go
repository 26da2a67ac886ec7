package diffusion

import "github.com/lethe-ml/lethe/lib/model"

// WithDefaults implements model.Architecture.
func (m UNet) WithDefaults() model.Architecture { return m.withDefaults() }

// WithDefaults is the loss with every zero replaced by its meaning: what a store's
// key holds.
func (l EDM) WithDefaults() EDM {
	mean := l.mean()
	l.Mean, l.Spread, l.Condition = &mean, l.spread(), l.Condition.WithDefaults()
	return l
}
