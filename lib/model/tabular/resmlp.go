// A residual MLP.

package tabular

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	. "github.com/gomlx/gomlx/core/graph"

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
	Features int     `json:"features"`
	Outputs  int     `json:"outputs"`
	Width    int     `json:"width,omitempty"`   // of the residual stream and the embedding, 0: 128
	Hidden   int     `json:"hidden,omitempty"`  // units inside a block, 0: twice the width
	Blocks   int     `json:"blocks,omitempty"`  // 0: 2
	Dropout  Rate    `json:"dropout,omitempty"` // inside a block, 0: 0.2
	Eps      float64 `json:"eps,omitempty"`     // of the normalisation, 0: PyTorch's 1e-5
	Weights  nn.Init `json:"init,omitempty"`    // 0: PyTorch's default
}

var _ model.Classifier = ResMLP{}

// withDefaults replaces zeros by their defaults.
func (m ResMLP) withDefaults() ResMLP {
	m.Width = cmp.Or(m.Width, 128)
	m.Hidden = cmp.Or(m.Hidden, 2*m.Width)
	m.Blocks = cmp.Or(m.Blocks, 2)
	m.Dropout = cmp.Or(m.Dropout, 0.2)
	m.Eps = cmp.Or(m.Eps, nn.LayerNormEps)
	return m
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
	m = m.withDefaults()
	if err := checkSizes(m.Name(), m.Features, m.Outputs, m.Hidden, m.Dropout); err != nil {
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

// Init implements model.Architecture.
func (m ResMLP) Init(rng *rand.Rand) nn.Params {
	m = m.withDefaults()
	p := m.Weights.DenseInit(rng, "input", m.Features, m.Width)
	for l := range m.Blocks {
		name := fmt.Sprintf("block%d.", l+1)
		p = append(p, nn.LayerNormInit(name+"norm", m.Width)...)
		p = append(p, m.Weights.DenseInit(rng, name+"up", m.Width, m.Hidden)...)
		p = append(p, m.Weights.DenseInit(rng, name+"down", m.Hidden, m.Width)...)
	}
	p = append(p, nn.LayerNormInit("norm", m.Width)...)
	return append(p, m.Weights.DenseInit(rng, "head", m.Width, m.Outputs)...)
}

// RandomInputs implements model.Architecture.
func (m ResMLP) RandomInputs() []nn.RandomInput {
	rate := m.withDefaults().Dropout.probability()
	m = m.withDefaults()
	draws := make([]nn.RandomInput, m.Blocks)
	for l := range draws {
		draws[l] = nn.RandomInput{Name: fmt.Sprintf("dropout%d", l+1), Units: m.Hidden, Rate: rate}
	}
	return draws
}

// Forward implements model.Architecture.
func (m ResMLP) Forward(t *nn.Tape, p []*Node, x *Node, masks []*Node) model.Trace {
	rate := m.withDefaults().Dropout.probability()
	m = m.withDefaults()
	n := x.Shape().Dimensions[1]
	h := nn.Dense(t, x, p[0], p[1])
	layers := []model.Layer{{Name: "input", Value: h}}
	for l := range m.Blocks {
		q := p[2+6*l:]
		up := nn.Dense(t, nn.LayerNorm(t, h, q[0], q[1], m.Eps, n), q[2], q[3])
		down := nn.Dense(t, nn.ReLUDropout(t, up, model.RandomInputAt(masks, l), rate), q[4], q[5])
		h = nn.Residual(t, h, down)
		layers = append(layers, model.Layer{Name: fmt.Sprintf("block%d", l+1), Value: h})
	}
	return outputHead(t, h, p[2+6*m.Blocks:], m.Eps, layers)
}

// outputHead is the last part of both residual networks: z = W relu(norm(h)) + b for p =
// norm gain, norm offset, W, b.
func outputHead(t *nn.Tape, h *Node, p []*Node, eps float64, layers []model.Layer) model.Trace {
	e := nn.ReLUDropout(t, nn.LayerNorm(t, h, p[0], p[1], eps, h.Shape().Dimensions[1]), nil, 0)
	z := nn.Dense(t, e, p[2], p[3])
	layers = append(layers, model.Layer{Name: "embedding", Value: e}, model.Layer{Name: "logits", Value: z})
	return model.ClassifierTrace(z, e, layers...)
}
