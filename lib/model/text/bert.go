// Package text has networks for text: BERT's encoder with its head for masked language
// modelling, the masking that it is trained with, and the reading of published weights.
package text

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// BERT is the encoder of Devlin et al. 2019 (BERT: Pre-training of Deep Bidirectional
// Transformers) with the head for masked language modelling. For the tokens H of a record
//
//	H = drop(norm(token + position + type 0))
//	H = norm(H + drop(attend(H)))                          Layers times, then in the same layer
//	H = norm(H + drop(W2 gelu(W1 H + b1) + b2))
//
// The embedding is the first token's H after the last layer, [CLS]. The head computes the
// output loss.MaskedLogits at the positions that a record asks for, with the tokens' own
// embedding E:
//
//	z = E norm(gelu(W h + b)) + c
//
// A record has Inputs = Tokens + Predicted numbers: the numbers of its tokens, [PAD] after
// the last, and then the positions to predict, 0 for those not used (the position of [CLS],
// whose loss has weight 0). No token reads padding, which is wherever the number is Pad. See
// Record and Masking.
//
// The zero value has the sizes of MiniLM-L6 (Wang et al. 2020), with which its published
// weights load. BERT-base and Bio_ClinicalBERT have 12 layers, 12 heads, width 768 and
// feed-forward width 3072, Bio_ClinicalBERT 28,996 tokens.
//
// Differences from Hugging Face's BertForMaskedLM: (1) the head computes only the positions
// asked for; (2) keys have no bias, which the softmax over keys cancels; (3) there is no
// pooler and no prediction of the next sentence; (4) all tokens are of type 0; (5) positions
// are numbered from 0 in every record.
type BERT struct {
	Tokens     int     `json:"tokens,omitempty"`     // of a record, 0: 128
	Predicted  int     `json:"predicted,omitempty"`  // positions to predict, 0: 15 % of the tokens, rounded up
	Layers     int     `json:"layers,omitempty"`     // 0: 6
	Width      int     `json:"width,omitempty"`      // of a token and the embedding, 0: 384
	Heads      int     `json:"heads,omitempty"`      // must divide the width, 0: 12
	Hidden     int     `json:"hidden,omitempty"`     // units of a feed-forward layer, 0: 4 times the width
	Vocabulary int     `json:"vocabulary,omitempty"` // number of tokens there are, 0: 30,522
	Positions  int     `json:"positions,omitempty"`  // the longest record, 0: 512
	Dropout    float64 `json:"dropout,omitempty"`    // on embeddings, attention weights and both layers' outputs, 0: 0.1, nn.Zero: none
	Eps        float64 `json:"eps,omitempty"`        // of the normalisation, 0: 1e-12
	Pad        int     `json:"pad,omitempty"`        // number of the token [PAD], 0 in published vocabularies
}

// Small returns a BERT of 2 layers of width 128 with 2 heads, the sizes of BERT-tiny (Turc
// et al. 2019), for vocabularies that are learned from the texts.
func Small(vocabulary, tokens int) BERT {
	return BERT{Tokens: tokens, Layers: 2, Width: 128, Heads: 2, Vocabulary: vocabulary}
}

var (
	_ model.Architecture   = BERT{}
	_ model.StateDictNamer = BERT{}
	_ model.Network        = BERT{}
)

// withDefaults replaces zeros by their defaults.
func (m BERT) withDefaults() BERT {
	m.Tokens = cmp.Or(m.Tokens, 128)
	m.Predicted = cmp.Or(m.Predicted, (15*m.Tokens+99)/100)
	m.Layers = cmp.Or(m.Layers, 6)
	m.Width = cmp.Or(m.Width, 384)
	m.Heads = cmp.Or(m.Heads, 12)
	m.Hidden = cmp.Or(m.Hidden, 4*m.Width)
	m.Vocabulary = cmp.Or(m.Vocabulary, 30522)
	m.Positions = cmp.Or(m.Positions, 512)
	m.Dropout = cmp.Or(m.Dropout, 0.1)
	m.Eps = cmp.Or(m.Eps, 1e-12)
	return m
}

// WithDefaults implements model.Architecture.
func (m BERT) WithDefaults() model.Architecture { return m.withDefaults() }

// Name implements model.Architecture.
func (BERT) Name() string { return "bert" }

// Inputs implements model.Architecture.
func (m BERT) Inputs() int {
	m = m.withDefaults()
	return m.Tokens + m.Predicted
}

// Returns implements model.Architecture.
func (m BERT) Returns() []model.Output {
	m = m.withDefaults()
	return []model.Output{{Name: loss.MaskedLogits, Width: m.Vocabulary * m.Predicted}}
}

// Loss returns the loss of masked language modelling for the network's vocabulary.
func (m BERT) Loss() loss.MaskedLanguage {
	return loss.MaskedLanguage{Vocabulary: m.withDefaults().Vocabulary}
}

// MaxBatch implements model.MaxBatch: the activations of a record are large, and 16 records
// are a step of RULER's.
func (BERT) MaxBatch() int { return 16 }

// ForData implements model.Network: records of s.Features numbers, as Record makes them.
func (m BERT) ForData(s model.Sizes) (model.Architecture, error) {
	if s.Features != m.Inputs() {
		d := m.withDefaults()
		return nil, fmt.Errorf("%s takes %d tokens and %d positions to predict, the data have %d features", m.Name(), d.Tokens, d.Predicted, s.Features)
	}
	return m, nil
}

// maxVocabulary is the largest vocabulary whose numbers are exact as float32.
const maxVocabulary = 1 << 24

// Check implements model.Architecture.
func (m BERT) Check() error {
	m = m.withDefaults()
	switch {
	case m.Tokens < 2 || m.Tokens > m.Positions:
		return fmt.Errorf("%s: records of %d tokens, possible are 2 to %d, the positions that have an embedding", m.Name(), m.Tokens, m.Positions)
	case m.Predicted < 1 || m.Predicted > m.Tokens:
		return fmt.Errorf("%s: %d positions to predict, possible are 1 to %d, the tokens of a record", m.Name(), m.Predicted, m.Tokens)
	case m.Layers < 1 || m.Layers > model.MaxBlocks:
		return fmt.Errorf("%s: %d layers, possible are 1 to %d", m.Name(), m.Layers, model.MaxBlocks)
	case m.Width < 1 || m.Heads < 1 || m.Width%m.Heads != 0:
		return fmt.Errorf("%s: %d heads do not divide width %d", m.Name(), m.Heads, m.Width)
	case m.Hidden < 1:
		return fmt.Errorf("%s: %d hidden units", m.Name(), m.Hidden)
	case m.Vocabulary < 2 || m.Vocabulary > maxVocabulary:
		return fmt.Errorf("%s: a vocabulary of %d tokens, possible are 2 to %d", m.Name(), m.Vocabulary, maxVocabulary)
	case m.Pad < 0 || m.Pad >= m.Vocabulary:
		return fmt.Errorf("%s: the padding is token %d of a vocabulary of %d", m.Name(), m.Pad, m.Vocabulary)
	case !(m.Dropout >= 0 && m.Dropout < 1):
		return fmt.Errorf("%s: dropout %g is not from 0 to below 1", m.Name(), m.Dropout)
	case !(m.Eps > 0 && m.Eps < 1):
		return fmt.Errorf("%s: epsilon %g is not between 0 and 1", m.Name(), m.Eps)
	}
	t, w, h, v := float64(m.Tokens), float64(m.Width), float64(m.Hidden), float64(m.Vocabulary)
	return model.CheckSize(m.Name(), (v+float64(m.Positions))*w+float64(m.Layers)*(4*w*w+2*w*h)+w*w,
		max(t*max(w, h), t*t*float64(m.Heads), v*float64(m.Predicted)))
}

// Init implements model.Architecture: as in Hugging Face's BERT, weights are drawn from
// N(0, 0.02^2), the embedding of [PAD] and biases are 0, and gains of normalisations 1.
func (m BERT) Init(rng *rand.Rand) nn.Params {
	m = m.withDefaults()
	p := nn.Params{
		normal(rng, "token.weight", m.Vocabulary, m.Width),
		normal(rng, "position.weight", m.Positions, m.Width),
		normal(rng, "type.weight", 2, m.Width),
	}
	clear(p[0].Data[m.Pad*m.Width : (m.Pad+1)*m.Width])
	p = append(p, nn.LayerNormInit("norm", m.Width)...)
	for l := range m.Layers {
		p = append(p, m.layerInit(rng, layerName(l))...)
	}
	p = append(p, dense(rng, "head.dense", m.Width, m.Width)...)
	p = append(p, nn.LayerNormInit("head.norm", m.Width)...)
	return append(p, nn.NewParam("head.bias", m.Vocabulary))
}

func (m BERT) layerInit(rng *rand.Rand, name string) nn.Params {
	p := dense(rng, name+"attention.query", m.Width, m.Width)
	p = append(p, normal(rng, name+"attention.key.weight", m.Width, m.Width))
	p = append(p, dense(rng, name+"attention.value", m.Width, m.Width)...)
	p = append(p, dense(rng, name+"attention.out", m.Width, m.Width)...)
	p = append(p, nn.LayerNormInit(name+"attention.norm", m.Width)...)
	p = append(p, dense(rng, name+"ffn.up", m.Width, m.Hidden)...)
	p = append(p, dense(rng, name+"ffn.down", m.Hidden, m.Width)...)
	return append(p, nn.LayerNormInit(name+"ffn.norm", m.Width)...)
}

func layerName(l int) string { return fmt.Sprintf("layer%d.", l+1) }

// normal draws a weight from N(0, 0.02^2).
func normal(rng *rand.Rand, name string, shape ...int) nn.Param {
	p := nn.NewParam(name, shape...)
	for i := range p.Data {
		p.Data[i] = float32(0.02 * rng.NormFloat64())
	}
	return p
}

func dense(rng *rand.Rand, name string, in, out int) nn.Params {
	return nn.Params{normal(rng, name+".weight", out, in), nn.NewParam(name+".bias", out)}
}

// RandomInputs implements model.Architecture: dropout on the embeddings, then per layer on
// the attention weights and on the outputs of the attention and the feed-forward layer.
func (m BERT) RandomInputs() []nn.RandomInput {
	m = m.withDefaults()
	rate := m.Dropout
	if rate == nn.Zero {
		rate = 0
	}
	draws := []nn.RandomInput{{Name: "embeddings", Units: m.Width * m.Tokens, Rate: rate}}
	for l := range m.Layers {
		name := layerName(l)
		draws = append(draws,
			nn.RandomInput{Name: name + "attention", Units: m.Heads * m.Tokens * m.Tokens, Rate: rate},
			nn.RandomInput{Name: name + "attention.out", Units: m.Width * m.Tokens, Rate: rate},
			nn.RandomInput{Name: name + "ffn", Units: m.Width * m.Tokens, Rate: rate})
	}
	return draws
}

// Forward implements model.Architecture. The layers of the trace are the first token's
// values after each layer.
func (m BERT) Forward(t *nn.Tape, p []*Node, x *Node, masks []*Node) model.Trace {
	m = m.withDefaults()
	n := x.Shape().Dimensions[1]
	b := builder{m: m, t: t, p: p, n: n}
	codes := Slice(x, AxisRange(0, m.Tokens), AxisRange())
	positions := Slice(x, AxisRange(m.Tokens), AxisRange())
	b.present = ConvertDType(NotEqual(codes, ConstAs(codes, float32(m.Pad))), x.DType())

	h := nn.DropoutTokens(t, b.embed(codes), model.RandomInputAt(masks, 0))
	var layers []model.Layer
	for l := range m.Layers {
		h = b.attend(h, model.RandomInputAt(masks, 3*l+1), model.RandomInputAt(masks, 3*l+2))
		h = b.feedForward(h, model.RandomInputAt(masks, 3*l+3))
		layers = append(layers, model.Layer{Name: fmt.Sprintf("layer%d", l+1), Value: nn.Token(t, h, 0, n)})
	}
	return model.Trace{
		Outputs:   map[string]*Node{loss.MaskedLogits: b.predict(h, positions)},
		Embedding: layers[m.Layers-1].Value,
		Layers:    layers,
	}
}

// builder walks through the weights p while it builds a graph for n records.
type builder struct {
	m       BERT
	t       *nn.Tape
	p       []*Node
	n       int
	table   *Node // the embedding of the tokens
	present *Node // [Tokens, n], 0 where a record has padding
}

func (b *builder) nextParams(k int) []*Node {
	w := b.p[:k]
	b.p = b.p[k:]
	return w
}

func (b *builder) norm(h *Node) *Node {
	w := b.nextParams(2)
	return nn.LayerNorm(b.t, h, w[0], w[1], b.m.Eps, b.n)
}

func (b *builder) dense(h *Node) *Node {
	w := b.nextParams(2)
	return nn.DenseTokens(b.t, h, w[0], w[1], b.n)
}

// embed returns the normalised embeddings of the tokens, [Width, Tokens n].
func (b *builder) embed(codes *Node) *Node {
	w := b.nextParams(3)
	b.table = w[0]
	h := nn.TokenEmbedding(b.t, codes, b.table)
	h = nn.AddRow(b.t, nn.AddPositions(b.t, h, w[1], b.n), w[2], 0)
	return b.norm(h)
}

func (b *builder) attend(h, weights, out *Node) *Node {
	a := nn.PaddedMultiHead(b.t, h, h, b.nextParams(7), b.present, weights, b.m.Heads, b.n)
	return b.norm(nn.Residual(b.t, h, nn.DropoutTokens(b.t, a, out)))
}

func (b *builder) feedForward(h, out *Node) *Node {
	up := nn.GELU(b.t, b.dense(h))
	return b.norm(nn.Residual(b.t, h, nn.DropoutTokens(b.t, b.dense(up), out)))
}

// predict returns the scores of all tokens at the positions, [Vocabulary Predicted, n].
func (b *builder) predict(h, positions *Node) *Node {
	h = nn.GatherTokens(b.t, h, positions)
	h = b.norm(nn.GELU(b.t, b.dense(h)))
	return nn.ByRecord(b.t, nn.DenseTokens(b.t, h, b.table, b.nextParams(1)[0], b.n), b.n)
}

// Record writes a record of the tokens to dst, which has Inputs numbers: the tokens, padding,
// and no position to predict. Errors name the token that cannot be a record's.
func (m BERT) Record(dst []float32, tokens []int) error {
	m = m.withDefaults()
	switch {
	case len(dst) != m.Inputs():
		return fmt.Errorf("%s: a record has %d numbers, there is memory for %d", m.Name(), m.Inputs(), len(dst))
	case len(tokens) == 0:
		return fmt.Errorf("%s: a record without tokens", m.Name())
	case len(tokens) > m.Tokens:
		return fmt.Errorf("%s: %d tokens, a record has at most %d", m.Name(), len(tokens), m.Tokens)
	}
	for k, v := range tokens {
		if v < 0 || v >= m.Vocabulary {
			return fmt.Errorf("%s: token %d has the number %d, the vocabulary ends at %d: it is not the vocabulary of these weights",
				m.Name(), k, v, m.Vocabulary-1)
		}
		if v == m.Pad {
			return fmt.Errorf("%s: token %d is padding, which only follows the last token", m.Name(), k)
		}
		dst[k] = float32(v)
	}
	for k := len(tokens); k < m.Tokens; k++ {
		dst[k] = float32(m.Pad)
	}
	clear(dst[m.Tokens:])
	return nil
}

// Records returns one record for each list of tokens. Errors name the record, counted from 0.
func (m BERT) Records(windows [][]int) (array.Matrix[float32], error) {
	if err := m.Check(); err != nil {
		return array.Matrix[float32]{}, err
	}
	x := array.New[float32](len(windows), m.Inputs())
	for i, tokens := range windows {
		if err := m.Record(x.Row(i), tokens); err != nil {
			return x, fmt.Errorf("record %d: %w", i, err)
		}
	}
	return x, nil
}
