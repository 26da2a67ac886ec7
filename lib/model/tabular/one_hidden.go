// A network with one hidden layer.

package tabular

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// OneHidden is the network of SDE's toy example (appendix A.4 of arXiv 2603.00587): one
// hidden layer of 128 units with ReLU, and a linear head:
//
//	h = relu(W1 x + b1),  z = W2 h + b2
//
// The zero value of Hidden and Weights is the paper's setting; only Features and Outputs
// must be given. The embedding is h.
//
// Differences from the paper: (1) the paper does not name the activation; here it is ReLU;
// (2) nor the outputs; here they are two logits with cross-entropy, whose difference is the
// single logit of a logistic loss.
type OneHidden struct {
	Features int     `json:"features"`
	Outputs  int     `json:"outputs"`
	Hidden   int     `json:"hidden,omitempty" default:"128"` // units of the hidden layer
	Weights  nn.Init `json:"init,omitempty"`                 // 0: PyTorch's default
}

var _ model.Classifier = OneHidden{}

// Name implements model.Architecture.
func (OneHidden) Name() string { return "one-hidden" }

// Inputs implements model.Architecture.
func (m OneHidden) Inputs() int { return m.Features }

// Classes implements model.Classifier.
func (m OneHidden) Classes() int { return m.Outputs }

// Returns implements model.Architecture.
func (m OneHidden) Returns() []model.Output { return model.ClassifierOutputs(m.Classes()) }

// Check implements model.Architecture.
func (m OneHidden) Check() error {
	m = defaults.Fill(m)
	if err := checkSizes(m.Name(), m.Features, m.Outputs, m.Hidden, 0); err != nil {
		return err
	}
	f, h, o := float64(m.Features), float64(m.Hidden), float64(m.Outputs)
	return model.CheckSize(m.Name(), f*h+h*o, max(f, h, o))
}

// Build implements model.Architecture.
func (m OneHidden) Build(b *nn.Builder, x *Node) model.Trace {
	m, b = defaults.Fill(m), b.Initial(m.Weights)
	h := b.ReLU(b.Dense("hidden", x, m.Hidden))
	z := b.Dense("head", h, m.Outputs)
	return model.ClassifierTrace(z, h, model.Layer{Name: "hidden", Value: h}, model.Layer{Name: "logits", Value: z})
}
