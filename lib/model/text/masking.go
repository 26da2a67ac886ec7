// The masking of masked language modelling.

package text

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// Masking hides tokens of a record, which the network is trained to predict (Devlin et al.
// 2019, section 3.1): 15 % of the tokens that are not special, rounded, at least one. A
// hidden token becomes [MASK] with probability 0.8, any token of the vocabulary with 0.1, and
// stays with 0.1. What is hidden depends on the seed, the epoch and the record's number only.
//
// As a train.NoiseAugmenter it makes from a record of a BERT (see BERT.Record) the record
// with hidden tokens and the positions to predict, and the inputs of loss.MaskedLanguage.
// The weights of a record's positions add up to 1: its loss is the mean over its hidden
// tokens. A record without a token that can be hidden has weights 0.
//
// Differences from Hugging Face's DataCollatorForLanguageModeling: (1) the number of hidden
// tokens is fixed by the length, as in the paper's program, and not binomial; (2) a record
// counts once, whatever its number of hidden tokens; (3) at most Predicted tokens are hidden.
type Masking struct {
	Tokens     int         `json:"tokens"`         // of a record
	Predicted  int         `json:"predicted"`      // positions of a record that can be predicted
	Vocabulary int         `json:"vocabulary"`     // number of tokens there are
	Mask       int         `json:"mask"`           // number of [MASK]
	Special    []int       `json:"special"`        // tokens that are never hidden: [PAD], [CLS], [SEP]
	Rate       float64     `json:"rate,omitempty"` // share of hidden tokens, 0: 0.15
	Seed       engine.Root `json:"seed"`
}

// Masking returns the masking of the network's records; mask is the number of [MASK] and
// special those of [CLS] and [SEP] ([PAD] is known).
func (m BERT) Masking(seed engine.Root, mask int, special ...int) Masking {
	m = defaults.Fill(m)
	return Masking{
		Tokens: m.Tokens, Predicted: m.Predicted, Vocabulary: m.Vocabulary, Mask: mask,
		Special: append([]int{m.Pad}, special...), Rate: hiddenShare, Seed: seed,
	}
}

// Check returns an error for settings that cannot be used.
func (m Masking) Check() error {
	rate := m.rate()
	switch {
	case m.Tokens < 1 || m.Predicted < 1 || m.Predicted > m.Tokens:
		return fmt.Errorf("masking: %d positions to predict in a record of %d tokens", m.Predicted, m.Tokens)
	case m.Vocabulary < 2 || m.Mask < 0 || m.Mask >= m.Vocabulary:
		return fmt.Errorf("masking: [MASK] is token %d of a vocabulary of %d", m.Mask, m.Vocabulary)
	case !(rate > 0 && rate <= 1):
		return fmt.Errorf("masking: the share of hidden tokens is %v, possible are numbers above 0 up to 1", rate)
	}
	return nil
}

// hiddenShare is the share of hidden tokens in BERT's training.
const hiddenShare = 0.15

func (m Masking) rate() float64 { return cmp.Or(m.Rate, hiddenShare) }

// Widths implements train.NoiseAugmenter.
func (m Masking) Widths(features int) (record int, inputs map[string]int) {
	return features, map[string]int{loss.MaskedTokens: m.Predicted, loss.MaskedWeights: m.Predicted}
}

// Augment implements train.NoiseAugmenter.
func (m Masking) Augment(dst, src []float32, epoch, id int) error {
	in := map[string][]float32{loss.MaskedTokens: make([]float32, m.Predicted), loss.MaskedWeights: make([]float32, m.Predicted)}
	return m.Corrupt(dst, in, src, epoch, id)
}

// Corrupt implements train.NoiseAugmenter.
func (m Masking) Corrupt(dst []float32, in map[string][]float32, src []float32, epoch, id int) error {
	if err := m.Check(); err != nil {
		return err
	}
	if len(src) != m.Tokens+m.Predicted || len(dst) != len(src) {
		return fmt.Errorf("masking: a record of %d numbers, want %d tokens and %d positions", len(src), m.Tokens, m.Predicted)
	}
	tokens, weights := in[loss.MaskedTokens], in[loss.MaskedWeights]
	copy(dst, src)
	clear(dst[m.Tokens:])
	clear(tokens)
	clear(weights)
	rng := m.Seed.Stream(engine.StreamHidden, uint64(epoch), uint64(id))
	hidden := m.hidden(src[:m.Tokens], rng)
	for p, k := range hidden {
		dst[m.Tokens+p] = float32(k)
		tokens[p], weights[p] = src[k], 1/float32(len(hidden))
		dst[k] = m.replacement(src[k], rng)
	}
	return nil
}

// hidden draws the positions of the hidden tokens, in their order.
func (m Masking) hidden(tokens []float32, rng *rand.Rand) []int {
	var possible []int
	for k, v := range tokens {
		if !slices.Contains(m.Special, int(v)) {
			possible = append(possible, k)
		}
	}
	n := min(max(1, int(math.Round(float64(m.rate()*float64(len(possible)))))), m.Predicted, len(possible))
	for i := range n {
		k := i + rng.IntN(len(possible)-i)
		possible[i], possible[k] = possible[k], possible[i]
	}
	slices.Sort(possible[:n])
	return possible[:n]
}

// replacement draws what stands in the place of a hidden token.
func (m Masking) replacement(token float32, rng *rand.Rand) float32 {
	switch u := rng.Float64(); {
	case u < 0.8:
		return float32(m.Mask)
	case u < 0.9:
		return float32(rng.IntN(m.Vocabulary))
	default:
		return token
	}
}
