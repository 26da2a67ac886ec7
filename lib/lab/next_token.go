// The goal of a language model that predicts the next token.

package lab

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/text/bpe"
	"github.com/lethe-ml/lethe/lib/train"
)

// NextToken is the goal of a language model that reads from left to right: every record's tokens
// that count, those of an answer or all but the first, are predicted from the ones before. The
// loss of a record is the mean over its tokens. The records are those of Texts with the tokenizer
// texts.BPE, the network is a text.Decoder.
//
// Difference from Hugging Face's loss of causal models: a record counts once, whatever its number of
// tokens, where that loss is the mean over all tokens of a batch.
type NextToken struct{}

var _ WeightsLoss = NextToken{}

// Name implements Goal.
func (NextToken) Name() string { return "next-token" }

// Objective implements Goal.
func (NextToken) Objective(p *Problem, rows []int) (train.Objective, error) {
	m, is := p.Arch.(text.NextTokenModel)
	if !is {
		return nil, fmt.Errorf("the network %s does not predict the next token", p.Arch.Name())
	}
	part := p.Train.Gather(rows)
	in, err := m.NextInputs(part.X)
	if err != nil {
		return nil, err
	}
	return train.Objective{{Name: "texts", X: part.X, IDs: rows, Targets: []train.Target{{Loss: m.Loss(), Inputs: in, Weight: 1}}}}, nil
}

// LossesOf implements WeightsLoss: the mean over a record's tokens of -log p.
func (NextToken) LossesOf(p *Problem, weights nn.Params, records datasets.Part) ([]float64, error) {
	tokens, err := text.Measure(p.Runner, weights, records.X)
	if err != nil {
		return nil, err
	}
	return tokens.MeanLoss(), nil
}

// checkTokens returns an error for a network of texts whose records are of the other kind of tokens.
func checkTokens(arch model.Architecture, vocabulary []string) error {
	if _, reads := arch.(model.TokenReader); !reads {
		return nil
	}
	_, next := arch.(text.NextTokenModel)
	switch pairs := slices.Contains(vocabulary, bpe.End); {
	case next && !pairs:
		return fmt.Errorf("%s predicts the next token, and the records are of WordPiece, for networks that read whole texts; "+
			"prepare them with the tokenizer bpe", arch.Name())
	case !next && pairs:
		return fmt.Errorf("%s reads whole texts, and the records are of the tokenizer bpe, for networks that predict the next token", arch.Name())
	}
	return nil
}
