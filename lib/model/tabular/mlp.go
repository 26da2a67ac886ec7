// Package tabular has the networks for tables: RULER's MLP, and a residual MLP and an
// FT-Transformer for its diagnostics, the one-layer network of SDE's toy example, and the
// deep classifier of "Fishing for Privacy".
package tabular

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// MLP is RULER's TabularMLP (section 4.1 and Fig. 2 of the paper): two hidden layers of 128
// units, each followed by ReLU and dropout 0.2, and a linear head:
//
//	h1 = drop(relu(W1 x + b1)),  h2 = drop(relu(W2 h1 + b2)),  z = W3 h2 + b3
//
// The zero value of Hidden, Dropout and Weights is the paper's setting; only Features and
// Outputs must be given. The embedding is h2 without dropout. Weights are named as in the
// published checkpoints.
//
// Difference from the published program: PyTorch's random numbers are not reproduced, only
// the distribution of the initial weights.
type MLP struct {
	Features int      `json:"features"`
	Outputs  int      `json:"outputs"`
	Hidden   int      `json:"hidden,omitempty" default:"128"`  // units per hidden layer
	Dropout  *float64 `json:"dropout,omitempty" default:"0.2"` // new(0.0): none
	Weights  nn.Init  `json:"init,omitempty"`                  // 0: PyTorch's default
}

var _ model.Classifier = MLP{}

// Name implements model.Architecture.
func (MLP) Name() string { return "tabular-mlp" }

// Inputs implements model.Architecture.
func (m MLP) Inputs() int { return m.Features }

// Classes implements model.Classifier.
func (m MLP) Classes() int { return m.Outputs }

// Returns implements model.Architecture.
func (m MLP) Returns() []model.Output { return model.ClassifierOutputs(m.Classes()) }

// Check implements model.Architecture.
func (m MLP) Check() error {
	m = defaults.Fill(m)
	if err := checkSizes(m.Name(), m.Features, m.Outputs, m.Hidden, *m.Dropout); err != nil {
		return err
	}
	f, h, o := float64(m.Features), float64(m.Hidden), float64(m.Outputs)
	return model.CheckSize(m.Name(), f*h+h*h+h*o, max(f, h, o))
}

func checkSizes(name string, features, outputs, hidden int, dropout float64) error {
	switch {
	case features < 1:
		return fmt.Errorf("%s: %d features", name, features)
	case outputs < 2:
		return fmt.Errorf("%s: %d outputs, need at least 2", name, outputs)
	case hidden < 1:
		return fmt.Errorf("%s: %d hidden units", name, hidden)
	case dropout < 0:
		return fmt.Errorf("%s: dropout %g is below 0", name, dropout)
	case dropout >= 1:
		return fmt.Errorf("%s: dropout %g is not below 1", name, dropout)
	}
	return nil
}

// Build implements model.Architecture.
func (m MLP) Build(b *nn.Builder, x *Node) model.Trace {
	m, b = defaults.Fill(m), b.Initial(m.Weights)
	rate := *m.Dropout
	h1 := b.ReLUDropout("dropout1", b.Dense("hidden1", x, m.Hidden), rate)
	h2 := b.ReLUDropout("dropout2", b.Dense("hidden2", h1, m.Hidden), rate)
	z := b.Dense("head", h2, m.Outputs)
	return model.ClassifierTrace(z, h2, model.Layer{Name: "hidden1", Value: h1}, model.Layer{Name: "hidden2", Value: h2}, model.Layer{Name: "logits", Value: z})
}
