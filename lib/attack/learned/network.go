// The attackers' network: a multilayer perceptron with one logit, dropout and
// optional spectral norm.

package learned

import (
	"fmt"
	"math/rand/v2"

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

// WithDefaults implements model.Architecture; there are no defaults.
func (m Network) WithDefaults() model.Architecture { return m }

func (m Network) widths() []int             { return append(append([]int{m.Features}, m.Hidden...), 1) }
func (m Network) layer(l int) (name string) { return fmt.Sprintf("layer%d", l+1) }

// Tensors returns the number of tensors that Init makes.
func (m Network) Tensors() int {
	per, outer := m.tensors()
	return per * (outer + 1)
}

func (m Network) tensors() (perLayer, outer int) {
	return map[bool]int{false: 2, true: 4}[m.Spectral], len(m.Hidden)
}

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

// Init implements model.Architecture.
func (m Network) Init(rng *rand.Rand) nn.Params {
	var p nn.Params
	w := m.widths()
	for l := range len(w) - 1 {
		p = append(p, nn.PyTorch.DenseInit(rng, m.layer(l), w[l], w[l+1])...)
		if m.Spectral {
			p = append(p, nn.SpectralInit(rng, m.layer(l)+".weight", w[l], w[l+1])...)
		}
	}
	return p
}

// RandomInputs implements model.Architecture.
func (m Network) RandomInputs() []nn.RandomInput {
	out := make([]nn.RandomInput, len(m.Hidden))
	for l, units := range m.Hidden {
		out[l] = nn.RandomInput{Name: fmt.Sprintf("dropout%d", l+1), Units: units, Rate: m.Dropout}
	}
	return out
}

// Forward implements model.Architecture.
func (m Network) Forward(t *nn.Tape, p []*graph.Node, x *graph.Node, draws []*graph.Node) model.Trace {
	per, outer := m.tensors()
	h := x
	for l := range outer + 1 {
		q := p[l*per : (l+1)*per]
		w := q[0]
		if m.Spectral {
			w = nn.SpectralNorm(t, q[0], q[2], q[3])
		}
		z := nn.Dense(t, h, w, q[1])
		if l == outer {
			return model.ClassifierTrace(z, h, model.Layer{Name: nn.Logits, Value: z})
		}
		h = nn.ReLUDropout(t, z, model.RandomInputAt(draws, l), m.Dropout)
	}
	panic("an attacker without an output layer")
}

// Folded returns the network without spectral norm that is equal in inference: every weight is
// divided by its norm once.
func (m Network) Folded(p nn.Params) (Network, nn.Params) {
	if !m.Spectral {
		return m, p
	}
	per, outer := m.tensors()
	var out nn.Params
	for l := range outer + 1 {
		q := p[l*per : (l+1)*per].Clone()
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
