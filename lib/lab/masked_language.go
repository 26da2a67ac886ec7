// The goal of masked language modelling, and the loss of a record under it.

package lab

import (
	"cmp"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/text/wordpiece"
	"github.com/lethe-ml/lethe/lib/train"
)

// MaskedLanguage is the goal of masked language modelling (Devlin et al. 2019): a share of
// each record's tokens is hidden, other ones in every epoch, and the network predicts them.
// The records are those of Texts with Predicted positions, the network is a text.BERT.
//
// SCRUB and Bad Teacher compare with a teacher that sees the same hidden tokens; methods that need
// labels refuse a network of this goal.
type MaskedLanguage struct {
	Rate float64 `json:"rate,omitempty" default:"0.15"` // share of hidden tokens
}

var (
	_ AugmentingGoal = MaskedLanguage{}
	_ WeightsLoss    = MaskedLanguage{}
)

// evaluationSeed is the seed of the masking under which the loss of a record is measured: one
// for all models, so that the loss is a number of the record.
const evaluationSeed = engine.Root(4242)

// evaluationChunk is the number of records whose scores of all tokens are in memory at once.
const evaluationChunk = 64

// languageModel is a network with a head for masked language modelling.
type languageModel interface {
	model.Architecture
	Loss() loss.MaskedLanguage
	Masking(seed engine.Root, mask int, special ...int) text.Masking
}

// Name implements Goal.
func (MaskedLanguage) Name() string { return "masked-language" }

// Objective implements Goal. The tokens are hidden by the problem's augmenter; see Augmenter.
func (g MaskedLanguage) Objective(p *Problem, rows []int) (train.Objective, error) {
	m, ok := p.Arch.(languageModel)
	if !ok {
		return nil, fmt.Errorf("the network %s has no head for masked language modelling", p.Arch.Name())
	}
	part := p.Train.Gather(rows)
	return train.Objective{{Name: "texts", X: part.X, IDs: rows, Targets: []train.Target{{Loss: m.Loss(), Weight: 1}}}}, nil
}

// Augmenter implements AugmentingGoal: the masking of records. It refuses data without a
// vocabulary, and one that is not the network's.
func (g MaskedLanguage) Augmenter(p *Problem) (func(engine.Root) train.Augmenter, error) {
	if _, err := g.masking(p, 0); err != nil {
		return nil, err
	}
	return func(seed engine.Root) train.Augmenter {
		m, _ := g.masking(p, seed) // the same error for every seed
		return m
	}, nil
}

func (g MaskedLanguage) masking(p *Problem, seed engine.Root) (text.Masking, error) {
	m, ok := p.Arch.(languageModel)
	if !ok {
		return text.Masking{}, fmt.Errorf("the network %s has no head for masked language modelling", p.Arch.Name())
	}
	if p.About.Vocabulary == nil {
		return text.Masking{}, fmt.Errorf("the data have no vocabulary: masked language modelling needs texts (lab.Texts)")
	}
	v, err := wordpiece.New(p.About.Vocabulary)
	if err != nil {
		return text.Masking{}, err
	}
	out := m.Masking(seed, v.Mask(), v.CLS(), v.Sep())
	known := m.Loss().Vocabulary
	if _, trained := p.Arch.(model.Pretrained); v.Size() > known || trained && v.Size() != known {
		return text.Masking{}, fmt.Errorf("the vocabulary has %d tokens, the network %d: it is not the vocabulary of these weights", v.Size(), known)
	}
	if pad := out.Special[0]; v.Pad() != pad {
		return text.Masking{}, fmt.Errorf("%s is token %d of the vocabulary, the network takes token %d for padding", wordpiece.Pad, v.Pad(), pad)
	}
	out.Vocabulary = v.Size() // a network may have room for more tokens than the texts have
	out.Rate = cmp.Or(g.Rate, out.Rate)
	return out, nil
}

// LossesOf implements WeightsLoss: the mean over a record's hidden tokens of the cross-entropy,
// under one masking that depends on the record's number in its source alone.
func (g MaskedLanguage) LossesOf(p *Problem, weights nn.Params, records datasets.Part) ([]float64, error) {
	masking, err := g.masking(p, evaluationSeed)
	if err != nil {
		return nil, err
	}
	vocabulary := p.Arch.(languageModel).Loss().Vocabulary
	out := make([]float64, 0, records.X.Rows)
	for first := 0; first < records.X.Rows; first += evaluationChunk {
		n := min(evaluationChunk, records.X.Rows-first)
		x, tokens, shares := array.New[float32](n, records.X.Cols), make([][]float32, n), make([][]float32, n)
		for k := range n {
			tokens[k], shares[k] = make([]float32, masking.Predicted), make([]float32, masking.Predicted)
			in := map[string][]float32{loss.MaskedTokens: tokens[k], loss.MaskedWeights: shares[k]}
			if err := masking.Corrupt(x.Row(k), in, records.X.Row(first+k), 0, records.IDs[first+k]); err != nil {
				return nil, err
			}
		}
		predicted, err := p.Runner.PredictOutputs(weights, x, loss.MaskedLogits)
		if err != nil {
			return nil, err
		}
		for k := range n {
			out = append(out, maskedLoss(predicted.Outputs[loss.MaskedLogits].Row(k), vocabulary, tokens[k], shares[k]))
		}
	}
	return out, nil
}

// maskedLoss is loss.MaskedLanguage of one record in float64. Row v P + p of the scores is token v
// at position p of P.
func maskedLoss(scores []float32, vocabulary int, tokens, shares []float32) (total float64) {
	positions := len(tokens)
	for p, share := range shares {
		if share == 0 {
			continue
		}
		most := math.Inf(-1)
		for v := range vocabulary {
			most = max(most, float64(scores[v*positions+p]))
		}
		var sum float64
		for v := range vocabulary {
			sum += math.Exp(float64(scores[v*positions+p]) - most)
		}
		own := float64(scores[int(tokens[p])*positions+p])
		total += float64(float64(share) * (most + math.Log(sum) - own))
	}
	return total
}
