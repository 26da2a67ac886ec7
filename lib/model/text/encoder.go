// BERT's encoder, which the networks of this package share: its weights, its random inputs and
// its graph. The encoder's settings are those of a BERT.

package text

import (
	"fmt"
	"math/rand/v2"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// maxVocabulary is the largest vocabulary whose numbers are exact as float32.
const maxVocabulary = 1 << 24

// checkEncoder returns an error for an encoder that cannot be built, in a network called name
// whose head has so many weights, and so many numbers in its largest activation.
func (m BERT) checkEncoder(name string, headWeights, headRecord float64) error {
	switch {
	case m.Tokens < 2 || m.Tokens > m.Positions:
		return fmt.Errorf("%s: records of %d tokens, possible are 2 to %d, the positions that have an embedding", name, m.Tokens, m.Positions)
	case m.Layers < 1 || m.Layers > model.MaxBlocks:
		return fmt.Errorf("%s: %d layers, possible are 1 to %d", name, m.Layers, model.MaxBlocks)
	case m.Width < 1 || m.Heads < 1 || m.Width%m.Heads != 0:
		return fmt.Errorf("%s: %d heads do not divide width %d", name, m.Heads, m.Width)
	case m.Hidden < 1:
		return fmt.Errorf("%s: %d hidden units", name, m.Hidden)
	case m.Vocabulary < 2 || m.Vocabulary > maxVocabulary:
		return fmt.Errorf("%s: a vocabulary of %d tokens, possible are 2 to %d", name, m.Vocabulary, maxVocabulary)
	case m.Pad < 0 || m.Pad >= m.Vocabulary:
		return fmt.Errorf("%s: the padding is token %d of a vocabulary of %d", name, m.Pad, m.Vocabulary)
	case !(m.Dropout >= 0 && m.Dropout < 1):
		return fmt.Errorf("%s: dropout %g is not from 0 to below 1", name, m.Dropout)
	case !(m.Eps > 0 && m.Eps < 1):
		return fmt.Errorf("%s: epsilon %g is not between 0 and 1", name, m.Eps)
	}
	t, w, h, v := float64(m.Tokens), float64(m.Width), float64(m.Hidden), float64(m.Vocabulary)
	return model.CheckSize(name, (v+float64(m.Positions))*w+float64(m.Layers)*(4*w*w+2*w*h)+headWeights,
		max(t*max(w, h), t*t*float64(m.Heads), headRecord))
}

// encoderInit draws the encoder's weights.
func (m BERT) encoderInit(rng *rand.Rand) nn.Params {
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
	return p
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

// dropoutRate returns the share of units that dropout sets to 0.
func (m BERT) dropoutRate() float64 {
	if m.Dropout == nn.Zero {
		return 0
	}
	return m.Dropout
}

// encoderRandomInputs lists the dropout masks of the encoder.
func (m BERT) encoderRandomInputs() []nn.RandomInput {
	rate := m.dropoutRate()
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

// builder walks through the weights p while it builds a graph for n records.
type builder struct {
	m       BERT // of the encoder, with its defaults
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

// encode returns all tokens after the last layer, [Width, Tokens n], and the first token after
// each layer, for the numbers of the tokens [Tokens, n]. masks begins with the dropout masks of
// the encoder; nil is inference.
func (b *builder) encode(codes *Node, masks []*Node) (h *Node, layers []model.Layer) {
	b.present = ConvertDType(NotEqual(codes, ConstAs(codes, float32(b.m.Pad))), codes.DType())
	h = nn.DropoutTokens(b.t, b.embed(codes), model.RandomInputAt(masks, 0))
	for l := range b.m.Layers {
		h = b.attend(h, model.RandomInputAt(masks, 3*l+1), model.RandomInputAt(masks, 3*l+2))
		h = b.feedForward(h, model.RandomInputAt(masks, 3*l+3))
		layers = append(layers, model.Layer{Name: fmt.Sprintf("layer%d", l+1), Value: nn.Token(b.t, h, 0, b.n)})
	}
	return h, layers
}

// embed returns the normalised embeddings of the tokens, [Width, Tokens n].
func (b *builder) embed(codes *Node) *Node {
	w := b.nextParams(3)
	b.table = w[0]
	h := nn.TokenEmbedding(b.t, codes, b.table)
	h = nn.AddRow(b.t, nn.AddPositions(b.t, h, w[1], b.n), w[2], 0, b.n)
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

// writeTokens writes the tokens of a record and padding to dst, which has Tokens numbers. Errors
// begin with the network's name and name the token that cannot be a record's.
func (m BERT) writeTokens(name string, dst []float32, tokens []int) error {
	switch {
	case len(tokens) == 0:
		return fmt.Errorf("%s: a record without tokens", name)
	case len(tokens) > m.Tokens:
		return fmt.Errorf("%s: %d tokens, a record has at most %d", name, len(tokens), m.Tokens)
	}
	for k, v := range tokens {
		if v < 0 || v >= m.Vocabulary {
			return fmt.Errorf("%s: token %d has the number %d, the vocabulary ends at %d: it is not the vocabulary of these weights",
				name, k, v, m.Vocabulary-1)
		}
		if v == m.Pad {
			return fmt.Errorf("%s: token %d is padding, which only follows the last token", name, k)
		}
		dst[k] = float32(v)
	}
	for k := len(tokens); k < m.Tokens; k++ {
		dst[k] = float32(m.Pad)
	}
	return nil
}
