// GPT-2's decoder, which predicts the next token.

package text

import (
	"cmp"
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// Decoder is the language model of Radford et al. 2019 (Language Models are Unsupervised Multitask
// Learners), GPT-2. For the tokens H of a record
//
//	H = drop(token + position)
//	H = H + drop(attend(norm(H)))                        Layers times, then in the same layer
//	H = H + drop(W2 gelu(W1 norm(H) + b1) + b2)
//
// where no token reads a later one and gelu is the approximation by tanh. With the tokens' own
// embedding E the scores of the token after position t are
//
//	z = E norm(h_t)
//
// A record has Inputs = Tokens + Predicted numbers: the numbers of its tokens, any tokens after the
// last, which nothing reads, and then the positions of the tokens to predict, 1 or more, each from
// those before it; 0 for a place that is not used. The output loss.NextLogits has the scores for
// these; see Record, NextInputs and loss.NextToken. The embedding is norm(h_t) for the last token to
// predict, from which it is predicted.
//
// The zero value is a small network of our own (the GPT-2 published as "small" has 12 layers, 12
// heads, width 768 and 1,024 positions).
//
// Differences from Hugging Face's GPT2LMHeadModel: (1) the head computes only the positions asked
// for; (2) keys have no bias, which the softmax over keys cancels; (3) a gradient of one weight
// cannot be had per record, because the head shares the embedding.
type Decoder struct {
	Tokens     int      `json:"tokens,omitempty" default:"128"` // of a record; or those of the data
	Predicted  int      `json:"predicted,omitempty"`            // greatest number of tokens to predict, 0: all but the first
	Layers     int      `json:"layers,omitempty" default:"4"`
	Width      int      `json:"width,omitempty" default:"256"`        // of a token and the embedding
	Heads      int      `json:"heads,omitempty" default:"4"`          // must divide the width
	Hidden     int      `json:"hidden,omitempty"`                     // units of a feed-forward layer, 0: 4 times the width
	Vocabulary int      `json:"vocabulary,omitempty" default:"50257"` // number of tokens there are; or those of the data
	Positions  int      `json:"positions,omitempty"`                  // the longest record, 0: Tokens
	Dropout    *float64 `json:"dropout,omitempty" default:"0.1"`      // on embeddings, attention weights and both layers' outputs; new(0.0): none
	Eps        float64  `json:"eps,omitempty" default:"1e-5"`         // of the normalisation
}

var (
	_ model.Architecture   = Decoder{}
	_ model.StateDictNamer = Decoder{}
	_ model.Network        = Decoder{}
	_ model.TokenReader    = Decoder{}
)

// SetDefaults implements defaults.Setter.
func (m *Decoder) SetDefaults() {
	m.Predicted = cmp.Or(m.Predicted, m.Tokens-1)
	m.Hidden = cmp.Or(m.Hidden, 4*m.Width)
	m.Positions = cmp.Or(m.Positions, m.Tokens)
}

// Name implements model.Architecture.
func (Decoder) Name() string { return "gpt-2" }

// Inputs implements model.Architecture.
func (m Decoder) Inputs() int {
	m = defaults.Fill(m)
	return m.Tokens + m.Predicted
}

// Returns implements model.Architecture.
func (m Decoder) Returns() []model.Output {
	m = defaults.Fill(m)
	return []model.Output{{Name: loss.NextLogits, Width: m.Vocabulary * m.Predicted}}
}

// Loss returns the loss of the next token for the network's vocabulary.
func (m Decoder) Loss() loss.NextToken {
	return loss.NextToken{Vocabulary: defaults.Fill(m).Vocabulary}
}

// maxScores is the number of scores of a chunk of records, 32 MB, up to which MaxBatch takes more
// records.
const maxScores = 1 << 23

// MaxBatch implements model.MaxBatch: 16 records, or fewer where the scores of all tokens are many.
func (m Decoder) MaxBatch() int {
	return max(1, min(16, maxScores/max(1, model.OutputWidths(m)[loss.NextLogits])))
}

// VocabularySize implements model.TokenReader.
func (m Decoder) VocabularySize() int { return defaults.Fill(m).Vocabulary }

// ForData implements model.Network: records of s.Features numbers, as Record makes them. A
// vocabulary that is larger than the data's is kept.
func (m Decoder) ForData(s model.Sizes) (model.Architecture, error) {
	m.Vocabulary = cmp.Or(m.Vocabulary, s.Vocabulary)
	switch {
	case m.Tokens == 0 && m.Predicted == 0:
		m.Tokens = (s.Features + 1) / 2 // all but the first are predicted
	case m.Tokens == 0:
		m.Tokens = s.Features - m.Predicted
	}
	if d := defaults.Fill(m); s.Features != m.Inputs() {
		return nil, fmt.Errorf("%s takes %d tokens and %d positions to predict, the data have %d features", m.Name(), d.Tokens, d.Predicted, s.Features)
	}
	return m, model.CheckVocabulary(m, s.Vocabulary)
}

// Check implements model.Architecture.
func (m Decoder) Check() error {
	m = defaults.Fill(m)
	if m.Predicted < 1 || m.Predicted >= m.Tokens {
		return fmt.Errorf("%s: %d tokens to predict, possible are 1 to %d, all but the first of a record", m.Name(), m.Predicted, m.Tokens-1)
	}
	e := BERT{Tokens: m.Tokens, Layers: m.Layers, Width: m.Width, Heads: m.Heads, Hidden: m.Hidden, Vocabulary: m.Vocabulary,
		Positions: m.Positions, Dropout: m.Dropout, Eps: m.Eps}
	return e.checkEncoder(m.Name(), 0, float64(m.Vocabulary)*float64(m.Predicted))
}

// residual is where the weights of both projections that are added to H start: in GPT-2 their
// deviation falls with the number of such sums.
func (m Decoder) residual() nn.NormalWeights {
	return nn.NormalWeights(float64(initial) / math.Sqrt(2*float64(m.Layers)))
}

// Build implements model.Architecture. The layers of the trace are the values of the embedding's
// token after each layer.
func (m Decoder) Build(b *nn.Builder, x *Node) model.Trace { return m.build(b, x, 0) }

// build is Build with the activations of a layer, counted from 1, as an output; 0: without.
func (m Decoder) build(b *nn.Builder, x *Node, shown int) model.Trace {
	m, b = defaults.Fill(m), b.Initial(initial)
	codes, positions := Slice(x, AxisRange(0, m.Tokens), AxisRange()), Slice(x, AxisRange(m.Tokens), AxisRange())
	before := func(position *Node) *Node { return MaxScalar(AddScalar(position, -1), 0) }
	last := before(ReduceAndKeep(positions, ReduceMax, 0))

	table, places := m.tables(b)
	h := nn.AddPositions(b.Tape, nn.TokenEmbedding(b.Tape, codes, table), places, b.Records)
	h = b.DropoutTokens("embeddings", h, *m.Dropout)
	var layers []model.Layer
	outputs := map[string]*Node{}
	for l := range m.Layers {
		h = m.layer(b.Sub(layerName(l)), h, func(b *nn.Builder, in *Node) *Node { return b.MultiHead("attention", in, in, m.heads()) })
		layers = append(layers, model.Layer{Name: fmt.Sprintf("layer%d", l+1), Value: nn.GatherTokens(b.Tape, h, last)})
		if l+1 == shown {
			outputs[loss.TokenActivations] = nn.ByRecord(b.Tape, nn.GatherTokens(b.Tape, h, positions), b.Records)
		}
	}
	h = b.LayerNorm("norm", h, m.Eps)
	scores := nn.DenseTokens(b.Tape, nn.GatherTokens(b.Tape, h, before(positions)), table, nil, b.Records)
	outputs[loss.NextLogits] = nn.ByRecord(b.Tape, scores, b.Records)
	return model.Trace{
		Outputs:   outputs,
		Embedding: nn.GatherTokens(b.Tape, h, last),
		Layers:    layers,
	}
}

// tables takes the embeddings of tokens and positions.
func (m Decoder) tables(b *nn.Builder) (tokens, positions *Node) {
	tokens = b.Weight("token.weight", initial.Fill, m.Vocabulary, m.Width)
	return tokens, b.Weight("position.weight", initial.Fill, m.Positions, m.Width)
}

func (m Decoder) heads() nn.Heads {
	return nn.Heads{Count: m.Heads, Causal: true, Dropout: "attention", Rate: *m.Dropout, Out: m.residual()}
}

// layer builds one layer on the tokens h; attend is the attention to the tokens in.
func (m Decoder) layer(b *nn.Builder, h *Node, attend func(b *nn.Builder, in *Node) *Node) *Node {
	rate := *m.Dropout
	a := attend(b, b.LayerNorm("attention.norm", h, m.Eps))
	h = nn.Residual(b.Tape, h, b.DropoutTokens("attention.out", a, rate))
	up := nn.GELUTanh(b.Tape, b.DenseTokens("ffn.up", b.LayerNorm("ffn.norm", h, m.Eps), m.Hidden))
	down := b.Initial(m.residual()).DenseTokens("ffn.down", up, m.Width)
	return nn.Residual(b.Tape, h, b.DropoutTokens("ffn", down, rate))
}
