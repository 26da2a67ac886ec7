// The cross-entropy of a language model that predicts the next token.

package loss

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
)

// NextLogits is the name of the output of a model that predicts the next token: the scores of every
// token of the vocabulary at P positions of a record. Row v P + p is token v at position p.
const NextLogits = "next-logits"

// NextTokens and NextWeights are the inputs of NextToken, P numbers each: the token that follows, a
// whole number below the vocabulary's size, and its weight, 0 where a record has fewer than P.
const (
	NextTokens  = "next-tokens"
	NextWeights = "next-weights"
)

// NextToken is the loss of a language model that reads from left to right. For the scores z_p from
// the tokens before the p-th one that counts, y_p,
//
//	-sum_p w_p log softmax(z_p)_{y_p}
//
// With weights that add up to 1 it is the mean over a record's tokens, with weights of 1 their
// joint log-probability, negative. Which tokens count is up to the record: all, or an answer's.
//
// Vocabulary is the number of tokens. It must be given: the output's width alone does not say how
// many positions there are. Scores, probabilities and derivatives take 12 Vocabulary P bytes of a
// record: 1.5 MB for 1,000 tokens at 127 positions.
type NextToken struct {
	Vocabulary int `json:"vocabulary"`
}

var _ Loss = NextToken{}

// Name implements Loss.
func (NextToken) Name() string { return "next-token" }

// About implements Loss.
func (NextToken) About() string { return "a language model against the token that follows" }

// Inputs implements Loss.
func (l NextToken) Inputs(outputs map[string]int) (map[string]int, error) {
	return nextInputs(l, l.Vocabulary, outputs)
}

// Check implements Loss.
func (l NextToken) Check(in map[string]array.Matrix[float32]) error {
	return checkNext(l, l.Vocabulary, in)
}

// nextInputs are the inputs of a loss l at the tokens that follow.
func nextInputs(l Loss, vocabulary int, outputs map[string]int) (map[string]int, error) {
	positions, err := positionsOf(l, vocabulary, outputs, NextLogits)
	return map[string]int{NextTokens: positions, NextWeights: positions}, err
}

// checkNext checks the tokens that follow and their weights.
func checkNext(l Loss, vocabulary int, in map[string]array.Matrix[float32]) error {
	return checkTokens(l, "token", vocabulary, in[NextTokens], in[NextWeights])
}

// Graph implements Loss.
func (l NextToken) Graph(g Batch) Value {
	losses, adjoint := tokenCrossEntropy(g.Outputs[NextLogits], g.Inputs[NextTokens], g.Inputs[NextWeights], l.Vocabulary)
	return Value{Losses: losses, Adjoints: map[string]*Node{NextLogits: adjoint}}
}
