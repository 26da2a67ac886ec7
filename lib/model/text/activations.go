// A decoder that shows the activations of one layer, for losses on them.

package text

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// WithActivations is a decoder with one output more, loss.TokenActivations: what a layer gives, Width
// numbers for each of the tokens of a record that count, at their own positions. It has the decoder's
// weights.
type WithActivations struct {
	Decoder
	Layer int `json:"layer"` // 1 to Layers
}

var _ model.Architecture = WithActivations{}

// WithActivations returns the decoder with the activations of a layer as an output, and their number
// for a token. The layer 0 is the middle one.
func (m Decoder) WithActivations(layer int) (model.Architecture, int, error) {
	m = defaults.Fill(m)
	if layer == 0 {
		layer = (m.Layers + 1) / 2
	}
	out := WithActivations{m, layer}
	return out, m.Width, out.Check()
}

// Name implements model.Architecture.
func (m WithActivations) Name() string { return m.Decoder.Name() + "-with-activations" }

// Returns implements model.Architecture.
func (m WithActivations) Returns() []model.Output {
	d := defaults.Fill(m.Decoder)
	return append(d.Returns(), model.Output{Name: loss.TokenActivations, Width: d.Width * d.Predicted})
}

// Check implements model.Architecture.
func (m WithActivations) Check() error {
	if d := defaults.Fill(m.Decoder); m.Layer < 1 || m.Layer > d.Layers {
		return fmt.Errorf("%s: layer %d, there are layers 1 to %d", m.Name(), m.Layer, d.Layers)
	}
	return m.Decoder.Check()
}

// Build implements model.Architecture.
func (m WithActivations) Build(b *nn.Builder, x *Node) model.Trace { return m.build(b, x, m.Layer) }
