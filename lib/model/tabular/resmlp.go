// A residual MLP.

package tabular

import (
	"cmp"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// ResMLP is the residual MLP of RULER's diagnostics (section 5.5, Table 12), in the form of
// Gorishniy et al. 2021 (Revisiting Deep Learning Models for Tabular Data, section 3.2):
//
//	h_0 = W x + b
//	h_l = h_{l-1} + V_l drop(relu(U_l norm(h_{l-1}) + u_l)) + v_l   for l = 1 ... Blocks
//	z   = W_head e + b_head,  e = relu(norm(h_Blocks))
//
// The embedding is e: the input of the last layer, of width 128 as in the paper's Table 2.
// The paper says no more about this network; depth 2, hidden layers of twice the width and
// dropout 0.2 inside a block, as in the paper's MLP, are this module's choice.
//
// Differences from Gorishniy et al.: (1) layer instead of batch normalisation, so that a
// record's output and gradient depend on that record alone; (2) no dropout on the block's
// output (their default rate there is 0).
type ResMLP struct {
	Features int      `json:"features"`
	Outputs  int      `json:"outputs"`
	Width    int      `json:"width,omitempty" default:"128"` // of the residual stream and the embedding
	Hidden   int      `json:"hidden,omitempty"`              // units inside a block, 0: twice the width
	Blocks   int      `json:"blocks,omitempty" default:"2"`
	Dropout  *float64 `json:"dropout,omitempty" default:"0.2"` // inside a block; new(0.0): none
	Eps      float64  `json:"eps,omitempty" default:"1e-5"`    // of the normalisation, as in PyTorch
	Weights  nn.Init  `json:"init,omitempty"`                  // 0: PyTorch's default
}

var _ model.Classifier = ResMLP{}

// SetDefaults implements defaults.Setter.
func (m *ResMLP) SetDefaults() {
	m.Hidden = cmp.Or(m.Hidden, 2*m.Width)
}

// Name implements model.Architecture.
func (ResMLP) Name() string { return "residual-mlp" }

// Inputs implements model.Architecture.
func (m ResMLP) Inputs() int { return m.Features }

// Classes implements model.Classifier.
func (m ResMLP) Classes() int { return m.Outputs }

// Returns implements model.Architecture.
func (m ResMLP) Returns() []model.Output { return model.ClassifierOutputs(m.Classes()) }

// Check implements model.Architecture.
func (m ResMLP) Check() error {
	m = defaults.Fill(m)
	if err := checkSizes(m.Name(), m.Features, m.Outputs, m.Hidden, *m.Dropout); err != nil {
		return err
	}
	if err := checkDepth(m.Name(), m.Width, m.Blocks, m.Eps); err != nil {
		return err
	}
	f, w, h, o := float64(m.Features), float64(m.Width), float64(m.Hidden), float64(m.Outputs)
	return model.CheckSize(m.Name(), f*w+float64(m.Blocks)*2*w*h+w*o, max(f, w, h, o))
}

func checkDepth(name string, width, blocks int, eps float64) error {
	switch {
	case width < 1:
		return fmt.Errorf("%s: width %d", name, width)
	case blocks < 1:
		return fmt.Errorf("%s: %d blocks", name, blocks)
	case blocks > model.MaxBlocks:
		return fmt.Errorf("%s: %d blocks, at most %d are possible", name, blocks, model.MaxBlocks)
	case !(eps > 0 && eps < 1):
		return fmt.Errorf("%s: epsilon %g is not between 0 and 1", name, eps)
	}
	return nil
}

// Build implements model.Architecture.
func (m ResMLP) Build(b *nn.Builder, x *Node) model.Trace {
	m, b = defaults.Fill(m), b.Initial(m.Weights)
	h := b.Dense("input", x, m.Width)
	layers := []model.Layer{{Name: "input", Value: h}}
	for l := range m.Blocks {
		name := fmt.Sprintf("block%d", l+1)
		up := b.Dense(name+".up", b.LayerNorm(name+".norm", h, m.Eps), m.Hidden)
		up = b.ReLUDropout(fmt.Sprintf("dropout%d", l+1), up, *m.Dropout)
		h = nn.Residual(b.Tape, h, b.Dense(name+".down", up, m.Width))
		layers = append(layers, model.Layer{Name: name, Value: h})
	}
	return outputHead(b, h, m.Eps, m.Outputs, layers)
}

// outputHead is the last part of both residual networks: z = W e + b, e = relu(norm(h)).
func outputHead(b *nn.Builder, h *Node, eps float64, outputs int, layers []model.Layer) model.Trace {
	e := b.ReLU(b.LayerNorm("norm", h, eps))
	z := b.Dense("head", e, outputs)
	layers = append(layers, model.Layer{Name: "embedding", Value: e}, model.Layer{Name: "logits", Value: z})
	return model.ClassifierTrace(z, e, layers...)
}
