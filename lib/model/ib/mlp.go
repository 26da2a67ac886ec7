// A half with one hidden layer.

package ib

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/nn"
)

// MLP is a network with one hidden layer, W2 relu(W1 x + b1) + b2.
type MLP struct {
	Hidden int `json:"hidden,omitempty" default:"96"` // units
}

var _ SubNetwork = MLP{}

// Name implements SubNetwork.
func (MLP) Name() string { return "mlp" }

// About implements SubNetwork.
func (MLP) About() string { return "one hidden layer of 96 units, ReLU" }

func (m MLP) hidden() int { return defaults.Fill(m).Hidden }

// Check implements SubNetwork.
func (m MLP) Check(_, _ int) error {
	if m.hidden() < 1 {
		return fmt.Errorf("%d hidden units", m.Hidden)
	}
	return nil
}

// Build implements SubNetwork.
func (m MLP) Build(b *nn.Builder, x *Node, out int) *Node {
	return b.Dense("head", b.ReLU(b.Dense("hidden", x, m.hidden())), out)
}

// UsesBatchStats implements SubNetwork.
func (MLP) UsesBatchStats() bool { return false }

// MaxBatch implements SubNetwork.
func (MLP) MaxBatch() int { return 0 }
