// The FT-Transformer.

package tabular

import (
	"cmp"
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// FTTransformer is the feature-tokenizer transformer of RULER's diagnostics (section 5.5,
// Table 12), from Gorishniy et al. 2021 (Revisiting Deep Learning Models for Tabular Data,
// section 3.3). Every column j becomes a token x_j w_j + b_j, a learned CLS token is
// appended, and each of Blocks pre-norm blocks computes, for the tokens H of one record,
//
//	H = H + attend(norm(H))
//	H = H + D (drop(relu(G norm(H) + g) * (U norm(H) + u))) + d     (ReGLU)
//
// The first block has no norm before its attention, and the last computes the CLS token
// only. Then, with h the CLS token,
//
//	z = W_head e + b_head,  e = relu(norm(h))
//
// The embedding is e: the input of the last layer, of width 128 as in the paper's Table 2.
// The paper says no more about this network. The other settings follow Gorishniy's defaults
// at width 192: 3 blocks, feed-forward width 4/3 of the token's rounded down, dropout 0.2
// on attention weights and 0.1 in the feed-forward layer, none on residual branches. Their
// 8 heads have 24 channels each; width 128 takes 4 heads of 32 channels.
//
// Differences from Gorishniy et al.: (1) no categorical embeddings: RULER feeds category
// codes as numbers; (2) keys have no bias, which the softmax over keys cancels, so that its
// gradient would be rounding noise, which Adam scales up; (3) the biases of attention start
// as in PyTorch's linear layers, not at zero.
type FTTransformer struct {
	Features  int      `json:"features"`
	Outputs   int      `json:"outputs"`
	Width     int      `json:"width,omitempty" default:"128"` // of a token and the embedding
	Heads     int      `json:"heads,omitempty" default:"4"`   // must divide the width
	Hidden    int      `json:"hidden,omitempty"`              // units of a feed-forward layer, 0: 4/3 of the width
	Blocks    int      `json:"blocks,omitempty" default:"3"`
	Attention *float64 `json:"attention,omitempty" default:"0.2"` // dropout on attention weights; new(0.0): none
	Dropout   *float64 `json:"dropout,omitempty" default:"0.1"`   // dropout in a feed-forward layer; new(0.0): none
	Eps       float64  `json:"eps,omitempty" default:"1e-5"`      // of the normalisation, as in PyTorch
	Weights   nn.Init  `json:"init,omitempty"`                    // of the dense layers, 0: PyTorch's default
}

var (
	_ model.Classifier     = FTTransformer{}
	_ model.StateDictNamer = FTTransformer{}
)

// SetDefaults implements defaults.Setter.
func (m *FTTransformer) SetDefaults() {
	m.Hidden = cmp.Or(m.Hidden, m.Width*4/3)
}

// Name implements model.Architecture.
func (FTTransformer) Name() string { return "ft-transformer" }

// Inputs implements model.Architecture.
func (m FTTransformer) Inputs() int { return m.Features }

// Classes implements model.Classifier.
func (m FTTransformer) Classes() int { return m.Outputs }

// Returns implements model.Architecture.
func (m FTTransformer) Returns() []model.Output { return model.ClassifierOutputs(m.Classes()) }

// MaxBatch implements model.MaxBatch: a record is Features + 1 tokens here.
func (FTTransformer) MaxBatch() int { return 64 }

// Check implements model.Architecture.
func (m FTTransformer) Check() error {
	m = defaults.Fill(m)
	if err := checkSizes(m.Name(), m.Features, m.Outputs, m.Hidden, *m.Dropout); err != nil {
		return err
	}
	switch {
	case *m.Attention < 0 || *m.Attention >= 1:
		return fmt.Errorf("%s: attention dropout %g is not below 1", m.Name(), *m.Attention)
	case m.Heads < 1 || m.Width%m.Heads != 0:
		return fmt.Errorf("%s: %d heads do not divide width %d", m.Name(), m.Heads, m.Width)
	}
	if err := checkDepth(m.Name(), m.Width, m.Blocks, m.Eps); err != nil {
		return err
	}
	tokens, w, h, o := float64(m.Features)+1, float64(m.Width), float64(m.Hidden), float64(m.Outputs)
	return model.CheckSize(m.Name(), 2*tokens*w+float64(m.Blocks)*(4*w*w+3*w*h)+w*o,
		max(tokens*max(w, h), tokens*tokens*float64(m.Heads), o))
}

// NameStateDict implements model.StateDictNamer, for FTTransformer of the authors' package
// rtdl_revisiting_models (0.0.2) with continuous features, ReGLU and no dropout on residual
// branches. Its first linear layer stores the values above the gates.
func (m FTTransformer) NameStateDict(d *nn.StateDict) {
	m = defaults.Fill(m)
	d.Tensor("tokens.cls", "cls_embedding.weight", m.Width)
	d.Module("tokens", "cont_embeddings")
	for l := range m.Blocks {
		ours, torch := fmt.Sprintf("block%d.", l+1), fmt.Sprintf("backbone.blocks.%d.", l)
		d.Module(ours+"attention.norm", torch+"attention_normalization")
		d.MultiHead(ours+"attention", torch+"attention", "W_q", "W_k", "W_v", "W_out")
		d.Module(ours+"ffn.norm", torch+"ffn_normalization")
		d.Stack(torch+"ffn.linear1", ours+"ffn.up", ours+"ffn.gate")
		d.Module(ours+"ffn.down", torch+"ffn.linear2")
	}
	d.Module("norm", "backbone.output.normalization")
	d.Module("head", "backbone.output.linear")
}

// Build implements model.Architecture.
func (m FTTransformer) Build(b *nn.Builder, x *Node) model.Trace {
	m, b = defaults.Fill(m), b.Initial(m.Weights)
	h := m.tokens(b, x)
	var layers []model.Layer
	for l := range m.Blocks {
		h = m.feedForward(b, l, m.attend(b, l, h))
		cls := h
		if l < m.Blocks-1 {
			cls = m.classToken(b, h)
		}
		layers = append(layers, model.Layer{Name: fmt.Sprintf("block%d", l+1), Value: cls})
	}
	return outputHead(b, h, m.Eps, m.Outputs, layers)
}

// tokens makes tokens of features. The weights start uniform on +-1/sqrt(Width), as Gorishniy et
// al. have them.
func (m FTTransformer) tokens(b *nn.Builder, x *Node) *Node {
	fill := nn.UniformWeights(1 / math.Sqrt(float64(m.Width))).Fill
	w, bias := b.Weight("tokens.weight", fill, m.Features, m.Width), b.Weight("tokens.bias", fill, m.Features, m.Width)
	return nn.FeatureTokens(b.Tape, x, w, bias, b.Weight("tokens.cls", fill, 1, m.Width))
}

func (m FTTransformer) classToken(b *nn.Builder, h *Node) *Node {
	return nn.Token(b.Tape, h, m.Features, b.Records)
}

// attend adds block l's attention to the tokens h that the block computes: the last block
// computes the CLS token only.
func (m FTTransformer) attend(b *nn.Builder, l int, h *Node) *Node {
	name, in := fmt.Sprintf("block%d.attention", l+1), h
	if l > 0 {
		in = b.LayerNorm(name+".norm", h, m.Eps)
	}
	asking := in
	if l == m.Blocks-1 {
		asking, h = m.classToken(b, in), m.classToken(b, h)
	}
	heads := nn.Heads{Count: m.Heads, Dropout: fmt.Sprintf("attention%d", l+1), Rate: *m.Attention}
	return nn.Residual(b.Tape, h, b.MultiHead(name, asking, in, heads))
}

func (m FTTransformer) feedForward(b *nn.Builder, l int, h *Node) *Node {
	name, rate := fmt.Sprintf("block%d.ffn", l+1), *m.Dropout
	in := b.LayerNorm(name+".norm", h, m.Eps)
	up, gate := b.DenseTokens(name+".up", in, m.Hidden), b.DenseTokens(name+".gate", in, m.Hidden)
	mask := b.Dropout(fmt.Sprintf("dropout%d", l+1), up.Shape().Size()/b.Records, rate)
	open := nn.ReGLU(b.Tape, up, gate, mask, rate)
	return nn.Residual(b.Tape, h, b.DenseTokens(name+".down", open, m.Width))
}
