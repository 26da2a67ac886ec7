// The cross-entropy of a language model at the masked positions of a record.

package loss

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
)

// MaskedLogits is the name of a language model's output: the scores of every token of the
// vocabulary at P positions of a record. Row v P + p is token v at position p.
const MaskedLogits = "masked-logits"

// MaskedTokens and MaskedWeights are the inputs of MaskedLanguage, P numbers each: the token
// that stood at the position, a whole number below the vocabulary's size, and the weight of
// the position, 0 where a record has fewer than P.
const (
	MaskedTokens  = "masked-tokens"
	MaskedWeights = "masked-weights"
)

// MaskedLanguage is the loss of masked language modelling (Devlin et al. 2019, section 3.1).
// For the scores z_p at position p, whose token was y_p,
//
//	-sum_p w_p log softmax(z_p)_{y_p}
//
// Vocabulary is the number of tokens. It must be given: the output's width alone does not
// say how many positions there are.
type MaskedLanguage struct {
	Vocabulary int `json:"vocabulary"`
}

var _ Loss = MaskedLanguage{}

// Name implements Loss.
func (MaskedLanguage) Name() string { return "masked-language" }

// About implements Loss.
func (MaskedLanguage) About() string { return "a language model against the tokens that were masked" }

// Inputs implements Loss.
func (l MaskedLanguage) Inputs(outputs map[string]int) (map[string]int, error) {
	return maskedInputs(l, l.Vocabulary, outputs)
}

// Check implements Loss.
func (l MaskedLanguage) Check(in map[string]array.Matrix[float32]) error {
	return checkMasked(l, l.Vocabulary, in)
}

// maskedInputs are the inputs of a loss l at the masked positions of a language model.
func maskedInputs(l Loss, vocabulary int, outputs map[string]int) (map[string]int, error) {
	positions, err := positionsOf(l, vocabulary, outputs, MaskedLogits)
	return map[string]int{MaskedTokens: positions, MaskedWeights: positions}, err
}

// positionsOf returns the number of positions of an output that has the scores of every token of a
// vocabulary at each.
func positionsOf(l Loss, vocabulary int, outputs map[string]int, name string) (int, error) {
	width, err := OutputWidth(l, outputs, name)
	if err != nil {
		return 0, err
	}
	if err := checkVocabulary(l, vocabulary); err != nil {
		return 0, err
	}
	if width%vocabulary != 0 {
		return 0, fmt.Errorf("the loss %s: an output of width %d is no whole number of positions over %d tokens", l.Name(), width, vocabulary)
	}
	return width / vocabulary, nil
}

// checkMasked checks the tokens and weights of masked positions.
func checkMasked(l Loss, vocabulary int, in map[string]array.Matrix[float32]) error {
	return checkTokens(l, "masked position", vocabulary, in[MaskedTokens], in[MaskedWeights])
}

// checkTokens checks tokens and weights, whose place in a record an error calls where.
func checkTokens(l Loss, where string, vocabulary int, tokens, weights array.Matrix[float32]) error {
	for i := range tokens.Rows {
		for p, v := range tokens.Row(i) {
			if v != float32(int(v)) || v < 0 || int(v) >= vocabulary {
				return fmt.Errorf("record %d, %s %d: %v is no token, a whole number below %d", i, where, p, v, vocabulary)
			}
		}
	}
	if err := checkWeights(where, weights); err != nil {
		return err
	}
	return checkVocabulary(l, vocabulary)
}

// checkWeights checks weights of tokens, whose place in a record an error calls where.
func checkWeights(where string, weights array.Matrix[float32]) error {
	for i := range weights.Rows {
		for p, w := range weights.Row(i) {
			if w < 0 {
				return fmt.Errorf("record %d, %s %d: the weight is %v, it cannot be negative", i, where, p, w)
			}
		}
	}
	return nil
}

func checkVocabulary(l Loss, vocabulary int) error {
	if vocabulary < 2 {
		return fmt.Errorf("the loss %s needs the size of the vocabulary, at least 2; it is %d", l.Name(), vocabulary)
	}
	return nil
}

// Graph implements Loss.
func (l MaskedLanguage) Graph(g Batch) Value {
	losses, adjoint := tokenCrossEntropy(g.Outputs[MaskedLogits], g.Inputs[MaskedTokens], g.Inputs[MaskedWeights], l.Vocabulary)
	return Value{Losses: losses, Adjoints: map[string]*Node{MaskedLogits: adjoint}}
}

// tokenCrossEntropy returns the sum over positions of weight times cross-entropy, [1, n], and its
// derivative by the scores, [vocabulary P, n], for tokens and weights [P, n].
func tokenCrossEntropy(scores, tokens, weights *Node, vocabulary int) (losses, adjoint *Node) {
	t := readTokens(scores, tokens, vocabulary)
	return t.sum(Mul(t.surprise, t.row(weights))), t.scores(Mul(t.slope, t.every(t.row(weights))))
}

// tokenReading is what the scores [vocabulary P, n] say of the tokens [P, n] that stand at P
// positions of n records. Its nodes have a column for each of the P n tokens.
type tokenReading struct {
	vocabulary, positions, n int

	surprise *Node // -log p of the token that stands there, [1, P n]
	slope    *Node // and its derivative by the scores, p_v - [v stands there], [vocabulary, P n]
}

func readTokens(scores, tokens *Node, vocabulary int) tokenReading {
	d := tokens.Shape().Dimensions
	t := tokenReading{vocabulary: vocabulary, positions: d[0], n: d[1]}
	z := Reshape(scores, vocabulary, d[0]*d[1])

	top := StopGradient(ReduceAndKeep(z, ReduceMax, 0))
	e := Exp(Sub(z, t.every(top)))
	total := ReduceAndKeep(e, ReduceSum, 0)
	column := Iota(z.Graph(), shapes.Make(dtypes.Int32, 1, d[0]*d[1]), 1)
	place := Transpose(Concatenate([]*Node{t.row(ConvertDType(tokens, dtypes.Int32)), column}, 0), 0, 1)
	own := Sub(t.row(Gather(z, place)), top)
	t.surprise = Sub(Log(total), own)
	p := Div(e, t.every(total))
	t.slope = Where(t.stands(tokens), AddScalar(p, -1), p)
	return t
}

// stands says of every token of the vocabulary whether it is the one at a position.
func (t tokenReading) stands(tokens *Node) *Node {
	number := Iota(tokens.Graph(), shapes.Make(tokens.DType(), t.vocabulary, 1), 0)
	return Equal(t.every(number), t.every(t.row(tokens)))
}

// row views [P, n] as [1, P n].
func (t tokenReading) row(x *Node) *Node { return Reshape(x, 1, t.positions*t.n) }

// every repeats a row or a column over the vocabulary and all tokens.
func (t tokenReading) every(x *Node) *Node { return BroadcastToDims(x, t.vocabulary, t.positions*t.n) }

// sum adds up the tokens of each record, [1, n].
func (t tokenReading) sum(row *Node) *Node {
	return ReduceAndKeep(Reshape(row, t.positions, t.n), ReduceSum, 0)
}

// scores views [vocabulary, P n] as the output, [vocabulary P, n].
func (t tokenReading) scores(x *Node) *Node { return Reshape(x, t.vocabulary*t.positions, t.n) }

// eachToken repeats a number per record, [1, n], for its tokens, [1, P n].
func (t tokenReading) eachToken(x *Node) *Node {
	return t.row(BroadcastToDims(x, t.positions, t.n))
}

// logProb is the log-probability of each record's tokens under weights [1, P n], [1, n].
func (t tokenReading) logProb(weights *Node) *Node { return Neg(t.sum(Mul(t.surprise, weights))) }

// logProbSlope is the derivative of logProb by the scores, times a number per record, [1, n].
func (t tokenReading) logProbSlope(times, weights *Node) *Node {
	return t.scores(Mul(t.slope, t.every(Mul(t.eachToken(Neg(times)), weights))))
}
