// A half with one hidden layer.

package ib

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/nn"
)

// MLP is a network with one hidden layer, W2 relu(W1 x + b1) + b2.
type MLP struct {
	Hidden int `json:"hidden,omitempty"` // units, 0: 96
}

var _ SubNetwork = MLP{}

// Name implements SubNetwork.
func (MLP) Name() string { return "mlp" }

// About implements SubNetwork.
func (MLP) About() string { return "one hidden layer of 96 units, ReLU" }

// WithDefaults implements SubNetwork.
func (m MLP) WithDefaults() SubNetwork { return MLP{cmp.Or(m.Hidden, 96)} }

func (m MLP) hidden() int { return m.WithDefaults().(MLP).Hidden }

// Check implements SubNetwork.
func (m MLP) Check(_, _ int) error {
	if m.hidden() < 1 {
		return fmt.Errorf("%d hidden units", m.Hidden)
	}
	return nil
}

// Init implements SubNetwork, with PyTorch's default.
func (m MLP) Init(rng *rand.Rand, name string, in, out int) nn.Params {
	p := nn.PyTorch.DenseInit(rng, name+".hidden", in, m.hidden())
	return append(p, nn.PyTorch.DenseInit(rng, name+".head", m.hidden(), out)...)
}

// Forward implements SubNetwork.
func (m MLP) Forward(t *nn.Tape, p []*Node, x *Node, _, _ int) *Node {
	h := nn.ReLUDropout(t, nn.Dense(t, x, p[0], p[1]), nil, 0)
	return nn.Dense(t, h, p[2], p[3])
}

// UsesBatchStats implements SubNetwork.
func (MLP) UsesBatchStats() bool { return false }

// MaxBatch implements SubNetwork.
func (MLP) MaxBatch() int { return 0 }
