// A classifier of texts with BERT's encoder.

package text

import (
	"cmp"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Classifier is BERT's encoder with a linear layer on the embedding of the first token, [CLS]:
//
//	z = W drop(h) + b
//
// A record has Tokens numbers: the numbers of its tokens, [PAD] after the last. No token reads
// padding, which is wherever the number is Pad. The zero value has the sizes of MiniLM-L6, whose
// published weights load into the encoder; SmallClassifier is for random weights.
//
// Differences from Hugging Face's BertForSequenceClassification: (1) there is no pooler, a dense
// layer with tanh between h and the linear layer, which masked language modelling alone does not
// train; (2) keys have no bias, which the softmax over keys cancels; (3) all tokens are of type
// 0.
type Classifier struct {
	Tokens     int      `json:"tokens,omitempty" default:"128"` // of a record; or those of the data
	Outputs    int      `json:"outputs,omitempty"`              // classes, 0: those of the data
	Layers     int      `json:"layers,omitempty" default:"6"`
	Width      int      `json:"width,omitempty" default:"384"`        // of a token and the embedding
	Heads      int      `json:"heads,omitempty" default:"12"`         // must divide the width
	Hidden     int      `json:"hidden,omitempty"`                     // units of a feed-forward layer, 0: 4 times the width
	Vocabulary int      `json:"vocabulary,omitempty" default:"30522"` // number of tokens there are; or those of the data
	Positions  int      `json:"positions,omitempty" default:"512"`    // the longest record
	Dropout    *float64 `json:"dropout,omitempty" default:"0.1"`      // in the encoder, as BERT's, and on h; new(0.0): none
	Eps        float64  `json:"eps,omitempty" default:"1e-12"`        // of the normalisation
	Pad        int      `json:"pad,omitempty"`                        // number of the token [PAD], 0 in published vocabularies
}

// SmallClassifier returns a classifier with 2 layers of width 64 and 2 heads, for vocabularies
// that are learned from the texts. Its other sizes are those of the data.
func SmallClassifier() Classifier { return Classifier{Layers: 2, Width: 64, Heads: 2} }

var (
	_ model.Classifier     = Classifier{}
	_ model.StateDictNamer = Classifier{}
	_ model.Network        = Classifier{}
	_ model.TokenReader    = Classifier{}
)

// encoder returns the encoder's settings, with their defaults.
func (m Classifier) encoder() BERT {
	return defaults.Fill(BERT{
		Tokens: m.Tokens, Predicted: 1, Layers: m.Layers, Width: m.Width, Heads: m.Heads, Hidden: m.Hidden, Vocabulary: m.Vocabulary,
		Positions: m.Positions, Dropout: m.Dropout, Eps: m.Eps, Pad: m.Pad,
	})
}

// SetDefaults implements defaults.Setter.
func (m *Classifier) SetDefaults() { m.Hidden = cmp.Or(m.Hidden, 4*m.Width) }

// Name implements model.Architecture.
func (Classifier) Name() string { return "bert-classifier" }

// Inputs implements model.Architecture.
func (m Classifier) Inputs() int { return cmp.Or(m.Tokens, m.encoder().Tokens) }

// Returns implements model.Architecture.
func (m Classifier) Returns() []model.Output { return model.ClassifierOutputs(m.Outputs) }

// Classes implements model.Classifier.
func (m Classifier) Classes() int { return m.Outputs }

// MaxBatch implements model.MaxBatch, as BERT's; records of a small encoder are small.
func (m Classifier) MaxBatch() int {
	if e := m.encoder(); e.Tokens*e.Width <= smallRecord {
		return 64
	}
	return BERT{}.MaxBatch()
}

// smallRecord is the number of values of a record's tokens up to which 64 records fit the caches.
const smallRecord = 64 * 64

// VocabularySize implements model.TokenReader.
func (m Classifier) VocabularySize() int { return m.encoder().Vocabulary }

// ForData implements model.Network: records of s.Features tokens. A vocabulary that is larger than
// the data's is kept.
func (m Classifier) ForData(s model.Sizes) (model.Architecture, error) {
	m.Vocabulary = cmp.Or(m.Vocabulary, s.Vocabulary)
	if err := model.FillClassifier(m.Name(), &m.Tokens, &m.Outputs, s); err != nil {
		return m, err
	}
	return m, model.CheckVocabulary(m, s.Vocabulary)
}

// Check implements model.Architecture.
func (m Classifier) Check() error {
	if m.Outputs < 2 {
		return fmt.Errorf("%s: %d outputs, need at least 2", m.Name(), m.Outputs)
	}
	e := m.encoder()
	return e.checkEncoder(m.Name(), float64(m.Outputs)*float64(e.Width), float64(m.Outputs))
}

// Build implements model.Architecture. The layers of the trace are the first token's values after
// each layer, and the logits.
func (m Classifier) Build(b *nn.Builder, x *Node) model.Trace {
	e := m.encoder()
	b = b.Initial(initial)
	_, _, layers := e.encode(b, x)
	embedding := layers[e.Layers-1].Value
	logits := b.Dense("head", b.DropoutTokens("head", embedding, *e.Dropout), m.Outputs)
	return model.ClassifierTrace(logits, embedding, append(layers, model.Layer{Name: "logits", Value: logits})...)
}
