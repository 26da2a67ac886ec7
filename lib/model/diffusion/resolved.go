package diffusion

import "github.com/lethe-ml/lethe/lib/model"

// WithDefaults implements model.Architecture.
func (m UNet) WithDefaults() model.Architecture { return m.withDefaults() }

// WithDefaults replaces zeros by their defaults, as store keys hold them.
func (l EDM) WithDefaults() EDM {
	mean := l.mean()
	l.Mean, l.Spread, l.Condition = &mean, l.spread(), l.Condition.WithDefaults()
	return l
}
