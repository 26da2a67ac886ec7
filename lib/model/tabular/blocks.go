// The deep classifier of "Fishing for Privacy".

package tabular

import (
	"fmt"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Blocks is the deep classifier of "Fishing for Privacy" (section 6 and its program). A
// block is drop(relu(norm(W x + b))) with layer normalisation,
//
//	h = blocks of 512 and 128 units on x,  z = W h + b
//
// It is the encoder of the paper's autoencoder with other widths and a classification head.
// With Linear there is no block, z = W x + b: the paper's linear classifier. The embedding
// is h.
//
// Difference from the published program: PyTorch's random numbers are not reproduced, only
// the distribution of the initial weights.
type Blocks struct {
	Features int      `json:"features"`
	Outputs  int      `json:"outputs"`
	Hidden   []int    `json:"hidden,omitempty"`                // units of the blocks, nil: 512, 128
	Dropout  *float64 `json:"dropout,omitempty" default:"0.3"` // new(0.0): none
	Linear   bool     `json:"linear,omitempty"`
	Weights  nn.Init  `json:"init,omitempty"` // 0: PyTorch's default
}

var (
	_ model.Classifier     = Blocks{}
	_ model.StateDictNamer = Blocks{}
)

// SetDefaults implements defaults.Setter.
func (m *Blocks) SetDefaults() {
	if len(m.Hidden) == 0 {
		m.Hidden = []int{512, 128}
	}
	if m.Linear {
		m.Hidden = nil
	}
}

// Name implements model.Architecture.
func (Blocks) Name() string { return "tabular-blocks" }

// Inputs implements model.Architecture.
func (m Blocks) Inputs() int { return m.Features }

// Classes implements model.Classifier.
func (m Blocks) Classes() int { return m.Outputs }

// Returns implements model.Architecture.
func (m Blocks) Returns() []model.Output { return model.ClassifierOutputs(m.Outputs) }

// Check implements model.Architecture.
func (m Blocks) Check() error {
	if m.Linear && len(m.Hidden) > 0 {
		return fmt.Errorf("%s: linear, with hidden layers of %v units", m.Name(), m.Hidden)
	}
	for i, units := range m.Hidden {
		if units < 1 {
			return fmt.Errorf("%s: %d hidden units in block %d", m.Name(), units, i)
		}
	}
	if err := checkSizes(m.Name(), m.Features, m.Outputs, 1, *defaults.Fill(m).Dropout); err != nil {
		return err
	}
	hidden := defaults.Fill(m).Hidden
	if len(hidden) > model.MaxBlocks {
		return fmt.Errorf("%s: %d blocks, at most %d are possible", m.Name(), len(hidden), model.MaxBlocks)
	}
	in, widest, weights := float64(m.Features), float64(max(m.Features, m.Outputs)), 0.0
	for _, units := range hidden {
		weights += in * float64(units)
		in, widest = float64(units), max(widest, float64(units))
	}
	return model.CheckSize(m.Name(), weights+in*float64(m.Outputs), widest)
}

// NameStateDict implements model.StateDictNamer: a block is a module with a linear layer
// and a norm.
func (m Blocks) NameStateDict(d *nn.StateDict) {
	for i := range defaults.Fill(m).Hidden {
		name := fmt.Sprintf("block%d", i+1)
		d.Module(name, name+".linear")
	}
}

// Part returns the part of the network that a weight belongs to, by the weight's name:
// "hidden" or "output".
func (Blocks) Part(weight string) string {
	if strings.HasPrefix(weight, "head.") {
		return "output"
	}
	return "hidden"
}

// Build implements model.Architecture.
func (m Blocks) Build(b *nn.Builder, x *Node) model.Trace {
	m, b = defaults.Fill(m), b.Initial(m.Weights)
	h := x
	var layers []model.Layer
	for i, units := range m.Hidden {
		name := fmt.Sprintf("block%d", i+1)
		y := b.LayerNorm(name+".norm", b.Dense(name, h, units), nn.LayerNormEps)
		h = b.ReLUDropout(fmt.Sprintf("dropout%d", i+1), y, *m.Dropout)
		layers = append(layers, model.Layer{Name: name, Value: h})
	}
	z := b.Dense("head", h, m.Outputs)
	return model.ClassifierTrace(z, h, append(layers, model.Layer{Name: "logits", Value: z})...)
}
