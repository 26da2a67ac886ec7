// The attackers' network: a multilayer perceptron with one logit, dropout and
// optional spectral norm.

package learned

import (
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Network is a multilayer perceptron with one logit; ReLU and dropout follow each hidden layer.
// With Spectral every weight is divided by its spectral norm.
type Network struct {
	Features int     `json:"features"`
	Hidden   []int   `json:"hidden"`
	Dropout  float64 `json:"dropout"`
	Spectral bool    `json:"spectral"`
}

var _ model.Architecture = Network{}

// Name implements model.Architecture.
func (Network) Name() string { return "attacker-mlp" }

// Inputs implements model.Architecture.
func (m Network) Inputs() int { return m.Features }

// Returns implements model.Architecture: one logit.
func (Network) Returns() []model.Output { return model.ClassifierOutputs(1) }

func (m Network) widths() []int             { return append(append([]int{m.Features}, m.Hidden...), 1) }
func (m Network) layer(l int) (name string) { return fmt.Sprintf("layer%d", l+1) }

// Check implements model.Architecture.
func (m Network) Check() error {
	for _, w := range m.widths() {
		if w < 1 {
			return fmt.Errorf("%s: layers of %v units", m.Name(), m.widths())
		}
	}
	if !(m.Dropout >= 0 && m.Dropout < 1) {
		return fmt.Errorf("%s: dropout %v is not inside [0, 1)", m.Name(), m.Dropout)
	}
	return nil
}

// Build implements model.Architecture.
func (m Network) Build(b *nn.Builder, x *graph.Node) model.Trace {
	h := x
	for l, units := range m.Hidden {
		h = b.ReLUDropout(fmt.Sprintf("dropout%d", l+1), m.dense(b, l, h, units), m.Dropout)
	}
	z := m.dense(b, len(m.Hidden), h, 1)
	return model.ClassifierTrace(z, h, model.Layer{Name: nn.Logits, Value: z})
}

// dense builds dense layer l.
func (m Network) dense(b *nn.Builder, l int, x *graph.Node, units int) *graph.Node {
	name, in := m.layer(l), x.Shape().Dimensions[0]
	w := b.Weights(nn.PyTorch.DenseInit(b.Rand(), name, in, units)...)
	if m.Spectral {
		u := b.Weights(nn.SpectralInit(b.Rand(), name+".weight", in, units)...)
		w[0] = nn.SpectralNorm(b.Tape, w[0], u[0], u[1])
	}
	return nn.Dense(b.Tape, x, w[0], w[1])
}

// Folded returns the network without spectral norm that is equal in inference: every weight is
// divided by its norm once.
func (m Network) Folded(p nn.Params) (Network, nn.Params) {
	if !m.Spectral {
		return m, p
	}
	var out nn.Params
	for q := range slices.Chunk(p.Clone(), 4) { // weight, bias and two directions
		sigma := spectralNorm(q[0].Data, q[2].Data, q[3].Data)
		for i, v := range q[0].Data {
			q[0].Data[i] = float32(float64(v) / sigma)
		}
		out = append(out, q[0], q[1])
	}
	m.Spectral = false
	return m, out
}

// spectralNorm returns u^T W v.
func spectralNorm(w, u, v []float32) float64 {
	sum := 0.0
	for i, a := range u {
		for j, b := range v {
			sum += float64(float64(a) * float64(w[i*len(v)+j]) * float64(b))
		}
	}
	return sum
}
