package vision

import "github.com/lethe-ml/lethe/lib/model"

// WithDefaults implements model.Architecture.
func (m AllCNN) WithDefaults() model.Architecture { return m.withDefaults() }

// WithDefaults implements model.Architecture.
func (m ResNet18) WithDefaults() model.Architecture { return m.withDefaults() }

// WithDefaults implements model.Architecture.
func (m SmallCNN) WithDefaults() model.Architecture { return m.withDefaults() }
