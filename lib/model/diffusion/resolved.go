package diffusion

import "github.com/lethe-ml/lethe/lib/model"

// Resolved implements model.Architecture.
func (m UNet) Resolved() model.Architecture { return m.withDefaults() }

// Resolved is the loss with every zero replaced by its meaning: what a store's
// key holds.
func (l EDM) Resolved() EDM {
	mean := l.mean()
	l.Mean, l.Spread, l.Condition = &mean, l.spread(), l.Condition.Resolved()
	return l
}
