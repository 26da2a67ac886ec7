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
	case !(*m.Dropout >= 0 && *m.Dropout < 1):
		return fmt.Errorf("%s: dropout %g is not from 0 to below 1", name, *m.Dropout)
	case !(m.Eps > 0 && m.Eps < 1):
		return fmt.Errorf("%s: epsilon %g is not between 0 and 1", name, m.Eps)
	}
	t, w, h, v := float64(m.Tokens), float64(m.Width), float64(m.Hidden), float64(m.Vocabulary)
	return model.CheckSize(name, (v+float64(m.Positions))*w+float64(m.Layers)*(4*w*w+2*w*h)+headWeights,
		max(t*max(w, h), t*t*float64(m.Heads), headRecord))
}

func layerName(l int) string { return fmt.Sprintf("layer%d.", l+1) }

// dropoutRate returns the share of units that dropout sets to 0.
// initial is where weights start: as in Hugging Face's BERT they are drawn from N(0, 0.02^2), the
// embedding of [PAD] and biases are 0, and gains of normalisations 1.
const initial nn.NormalWeights = 0.02

// encode returns all tokens after the last layer, [Width, Tokens n], the embedding of the tokens,
// and the first token after each layer, for the numbers of the tokens [Tokens, n].
func (m BERT) encode(b *nn.Builder, codes *Node) (h, table *Node, layers []model.Layer) {
	table = b.Weight("token.weight", func(rng *rand.Rand, data []float32) {
		initial.Fill(rng, data)
		clear(data[m.Pad*m.Width : (m.Pad+1)*m.Width])
	}, m.Vocabulary, m.Width)
	h = nn.TokenEmbedding(b.Tape, codes, table)
	h = nn.AddPositions(b.Tape, h, b.Weight("position.weight", initial.Fill, m.Positions, m.Width), b.Records)
	h = nn.AddRow(b.Tape, h, b.Weight("type.weight", initial.Fill, 2, m.Width), 0, b.Records)
	h = b.DropoutTokens("embeddings", b.LayerNorm("norm", h, m.Eps), *m.Dropout)
	present := ConvertDType(NotEqual(codes, ConstAs(codes, float32(m.Pad))), codes.DType()) // 0: padding
	for l := range m.Layers {
		h = m.layer(b.Sub(layerName(l)), h, present)
		layers = append(layers, model.Layer{Name: fmt.Sprintf("layer%d", l+1), Value: nn.Token(b.Tape, h, 0, b.Records)})
	}
	return h, table, layers
}

// layer builds one layer on the tokens h.
func (m BERT) layer(b *nn.Builder, h, present *Node) *Node {
	rate := *m.Dropout
	heads := nn.Heads{Count: m.Heads, Present: present, Dropout: "attention", Rate: rate}
	a := b.DropoutTokens("attention.out", b.MultiHead("attention", h, h, heads), rate)
	h = b.LayerNorm("attention.norm", nn.Residual(b.Tape, h, a), m.Eps)
	up := nn.GELU(b.Tape, b.DenseTokens("ffn.up", h, m.Hidden))
	down := b.DropoutTokens("ffn", b.DenseTokens("ffn.down", up, m.Width), rate)
	return b.LayerNorm("ffn.norm", nn.Residual(b.Tape, h, down), m.Eps)
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
