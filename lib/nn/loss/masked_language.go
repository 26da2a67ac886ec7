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
	width, err := outputWidth(l, outputs, name)
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
	for i := range weights.Rows {
		for p, w := range weights.Row(i) {
			if w < 0 {
				return fmt.Errorf("record %d, %s %d: the weight is %v, it cannot be negative", i, where, p, w)
			}
		}
	}
	return checkVocabulary(l, vocabulary)
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
	d := tokens.Shape().Dimensions
	positions, n := d[0], d[1]
	z := Reshape(scores, vocabulary, positions*n)
	row := func(x *Node) *Node { return Reshape(x, 1, positions*n) }
	every := func(x *Node) *Node { return BroadcastToDims(x, vocabulary, positions*n) }

	top := StopGradient(ReduceAndKeep(z, ReduceMax, 0))
	e := Exp(Sub(z, every(top)))
	total := ReduceAndKeep(e, ReduceSum, 0)
	column := Iota(z.Graph(), shapes.Make(dtypes.Int32, 1, positions*n), 1)
	place := Transpose(Concatenate([]*Node{row(ConvertDType(tokens, dtypes.Int32)), column}, 0), 0, 1)
	own := Sub(row(Gather(z, place)), top)
	each := Mul(Sub(Log(total), own), row(weights))
	number := Iota(z.Graph(), shapes.Make(tokens.DType(), vocabulary, 1), 0)
	p := Div(e, every(total))
	distance := Where(Equal(every(number), every(row(tokens))), AddScalar(p, -1), p)
	losses = ReduceAndKeep(Reshape(each, positions, n), ReduceSum, 0)
	return losses, Reshape(Mul(distance, every(row(weights))), vocabulary*positions, n)
}
