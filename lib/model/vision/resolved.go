package vision

import "github.com/lethe-ml/lethe/lib/model"

// Resolved implements model.Architecture.
func (m AllCNN) Resolved() model.Architecture { return m.withDefaults() }

// Resolved implements model.Architecture.
func (m ResNet18) Resolved() model.Architecture { return m.withDefaults() }

// Resolved implements model.Architecture.
func (m SmallCNN) Resolved() model.Architecture { return m.withDefaults() }
