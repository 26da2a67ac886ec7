// Package text has networks for text: BERT's encoder with its head for masked language
// modelling, the masking that it is trained with, a classifier of texts with the same encoder;
// GPT-2's decoder, what it says (Generator) and how probable a text is to it (Decoder.Measure); and
// the reading of published weights.
package text

import (
	"cmp"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
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
	Tokens     int      `json:"tokens,omitempty" default:"128"` // of a record
	Predicted  int      `json:"predicted,omitempty"`            // positions to predict, 0: 15 % of the tokens, rounded up
	Layers     int      `json:"layers,omitempty" default:"6"`
	Width      int      `json:"width,omitempty" default:"384"`        // of a token and the embedding
	Heads      int      `json:"heads,omitempty" default:"12"`         // must divide the width
	Hidden     int      `json:"hidden,omitempty"`                     // units of a feed-forward layer, 0: 4 times the width
	Vocabulary int      `json:"vocabulary,omitempty" default:"30522"` // number of tokens there are
	Positions  int      `json:"positions,omitempty" default:"512"`    // the longest record
	Dropout    *float64 `json:"dropout,omitempty" default:"0.1"`      // on embeddings, attention weights and both layers' outputs; new(0.0): none
	Eps        float64  `json:"eps,omitempty" default:"1e-12"`        // of the normalisation
	Pad        int      `json:"pad,omitempty"`                        // number of the token [PAD], 0 in published vocabularies
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
	_ model.TokenReader    = BERT{}
)

// SetDefaults implements defaults.Setter.
func (m *BERT) SetDefaults() {
	m.Predicted = cmp.Or(m.Predicted, (15*m.Tokens+99)/100)
	m.Hidden = cmp.Or(m.Hidden, 4*m.Width)
}

// Name implements model.Architecture.
func (BERT) Name() string { return "bert" }

// Inputs implements model.Architecture.
func (m BERT) Inputs() int {
	m = defaults.Fill(m)
	return m.Tokens + m.Predicted
}

// Returns implements model.Architecture.
func (m BERT) Returns() []model.Output {
	m = defaults.Fill(m)
	return []model.Output{{Name: loss.MaskedLogits, Width: m.Vocabulary * m.Predicted}}
}

// Loss returns the loss of masked language modelling for the network's vocabulary.
func (m BERT) Loss() loss.MaskedLanguage {
	return loss.MaskedLanguage{Vocabulary: defaults.Fill(m).Vocabulary}
}

// MaxBatch implements model.MaxBatch: the activations of a record are large, and 16 records
// are a step of RULER's.
func (BERT) MaxBatch() int { return 16 }

// VocabularySize implements model.TokenReader.
func (m BERT) VocabularySize() int { return defaults.Fill(m).Vocabulary }

// ForData implements model.Network: records of s.Features numbers, as Record makes them.
func (m BERT) ForData(s model.Sizes) (model.Architecture, error) {
	if s.Features != m.Inputs() {
		d := defaults.Fill(m)
		return nil, fmt.Errorf("%s takes %d tokens and %d positions to predict, the data have %d features", m.Name(), d.Tokens, d.Predicted, s.Features)
	}
	return m, nil
}

// Check implements model.Architecture.
func (m BERT) Check() error {
	m = defaults.Fill(m)
	w, v := float64(m.Width), float64(m.Vocabulary)
	if err := m.checkEncoder(m.Name(), w*w, v*float64(m.Predicted)); err != nil {
		return err
	}
	if m.Predicted < 1 || m.Predicted > m.Tokens {
		return fmt.Errorf("%s: %d positions to predict, possible are 1 to %d, the tokens of a record", m.Name(), m.Predicted, m.Tokens)
	}
	return nil
}

// Build implements model.Architecture. The layers of the trace are the first token's values after
// each layer.
func (m BERT) Build(b *nn.Builder, x *Node) model.Trace {
	m, b = defaults.Fill(m), b.Initial(initial)
	h, table, layers := m.encode(b, Slice(x, AxisRange(0, m.Tokens), AxisRange()))
	h = nn.GatherTokens(b.Tape, h, Slice(x, AxisRange(m.Tokens), AxisRange()))
	h = b.LayerNorm("head.norm", nn.GELU(b.Tape, b.DenseTokens("head.dense", h, m.Width)), m.Eps)
	scores := nn.DenseTokens(b.Tape, h, table, b.Weight("head.bias", nil, m.Vocabulary), b.Records)
	return model.Trace{
		Outputs:   map[string]*Node{loss.MaskedLogits: nn.ByRecord(b.Tape, scores, b.Records)},
		Embedding: layers[m.Layers-1].Value,
		Layers:    layers,
	}
}

// Record writes a record of the tokens to dst, which has Inputs numbers: the tokens, padding,
// and no position to predict. Errors name the token that cannot be a record's.
func (m BERT) Record(dst []float32, tokens []int) error {
	m = defaults.Fill(m)
	if len(dst) != m.Inputs() {
		return fmt.Errorf("%s: a record has %d numbers, there is memory for %d", m.Name(), m.Inputs(), len(dst))
	}
	if err := m.writeTokens(m.Name(), dst[:m.Tokens], tokens); err != nil {
		return err
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
