// The attacker's decoder from a code to a record: one hidden ReLU layer and a sigmoid output.

package representation

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Decoder is the attacker's network from a code to a record,
//
//	x = sigmoid(W2 relu(W1 z + b1) + b2)
//
// with Linear without the sigmoid, for records that are not in 0..1.
type Decoder struct {
	Features int  `json:"features"`
	Hidden   int  `json:"hidden"`
	Outputs  int  `json:"outputs"`
	Linear   bool `json:"linear,omitempty"`
}

var _ model.Architecture = Decoder{}

// Name implements model.Architecture.
func (Decoder) Name() string { return "attacker-decoder" }

// Inputs implements model.Architecture.
func (m Decoder) Inputs() int { return m.Features }

// Returns implements model.Architecture.
func (m Decoder) Returns() []model.Output { return []model.Output{{Name: nn.Output, Width: m.Outputs}} }

// Check implements model.Architecture.
func (m Decoder) Check() error {
	if m.Features < 1 || m.Hidden < 1 || m.Outputs < 1 {
		return fmt.Errorf("%s: layers of %d, %d and %d units", m.Name(), m.Features, m.Hidden, m.Outputs)
	}
	return nil
}

// Build implements model.Architecture.
func (m Decoder) Build(b *nn.Builder, x *graph.Node) model.Trace {
	h := b.ReLU(b.Dense("hidden", x, m.Hidden))
	out := b.Dense("record", h, m.Outputs)
	if !m.Linear {
		out = sigmoid(b.Tape, out)
	}
	return model.Trace{
		Outputs: map[string]*graph.Node{nn.Output: out}, Embedding: h,
		Layers: []model.Layer{{Name: "hidden", Value: h}, {Name: nn.Output, Value: out}},
	}
}

// sigmoid is the logistic function on the tape, with derivative s (1 - s).
func sigmoid(t *nn.Tape, x *graph.Node) *graph.Node {
	s := graph.Sigmoid(x)
	return t.Op(s, []*graph.Node{x}, func(v *graph.Node) []*graph.Node {
		return []*graph.Node{graph.Mul(v, graph.Sub(s, graph.Square(s)))}
	})
}
