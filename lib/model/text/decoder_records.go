// The records of a decoder, and what they say about its loss.

package text

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// Passage is a text as numbers of tokens: what is given, such as a question, and what follows it.
// The tokens that follow count; where nothing is given, all but the first.
type Passage struct{ Given, Follows []int }

// Record writes a record of a passage to dst, which has Inputs numbers. Errors name the token that
// cannot be a record's.
func (m Decoder) Record(dst []float32, p Passage) error {
	m = defaults.Fill(m)
	n, first := len(p.Given)+len(p.Follows), max(1, len(p.Given))
	switch {
	case len(dst) != m.Inputs():
		return fmt.Errorf("%s: a record has %d numbers, there is memory for %d", m.Name(), m.Inputs(), len(dst))
	case n > m.Tokens:
		return fmt.Errorf("%s: %d tokens, a record has at most %d", m.Name(), n, m.Tokens)
	case n <= first:
		return fmt.Errorf("%s: a record of %d tokens has none to predict", m.Name(), n)
	case n-first > m.Predicted:
		return fmt.Errorf("%s: %d tokens to predict, a record has room for %d", m.Name(), n-first, m.Predicted)
	}
	clear(dst)
	for k := range n {
		v := p.token(k)
		if err := m.checkToken(k, v); err != nil {
			return err
		}
		dst[k] = float32(v)
	}
	for k := range n - first {
		dst[m.Tokens+k] = float32(first + k)
	}
	return nil
}

func (p Passage) token(k int) int {
	if k < len(p.Given) {
		return p.Given[k]
	}
	return p.Follows[k-len(p.Given)]
}

func (m Decoder) checkToken(k, v int) error {
	if v < 0 || v >= m.Vocabulary {
		return fmt.Errorf("%s: token %d has the number %d, the vocabulary ends at %d: it is not the vocabulary of these weights",
			m.Name(), k, v, m.Vocabulary-1)
	}
	return nil
}

// Records returns one record for each passage. Errors name the record, counted from 0.
func (m Decoder) Records(passages []Passage) (array.Matrix[float32], error) {
	if err := m.Check(); err != nil {
		return array.Matrix[float32]{}, err
	}
	x := array.New[float32](len(passages), m.Inputs())
	for i, p := range passages {
		if err := m.Record(x.Row(i), p); err != nil {
			return x, fmt.Errorf("record %d: %w", i, err)
		}
	}
	return x, nil
}

// NextInputs returns the inputs of loss.NextToken for records: the tokens to predict, and weights
// that are equal for a record's tokens and add up to 1, so that its loss is their mean. Errors name
// the record and what of it is no position of a token.
func (m Decoder) NextInputs(x array.Matrix[float32]) (map[string]array.Matrix[float32], error) {
	m = defaults.Fill(m)
	if x.Cols != m.Inputs() {
		return nil, fmt.Errorf("%s: records of %d numbers, want %d tokens and %d positions to predict", m.Name(), x.Cols, m.Tokens, m.Predicted)
	}
	tokens, weights := array.New[float32](x.Rows, m.Predicted), array.New[float32](x.Rows, m.Predicted)
	for i := range x.Rows {
		positions, err := m.positions(x.Row(i))
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", i, err)
		}
		for k, at := range positions {
			tokens.Row(i)[k], weights.Row(i)[k] = x.Row(i)[at], 1/float32(len(positions))
		}
	}
	return map[string]array.Matrix[float32]{loss.NextTokens: tokens, loss.NextWeights: weights}, nil
}

// positions returns the positions of the tokens of a record that are predicted. Those that are used
// come first.
func (m Decoder) positions(record []float32) ([]int, error) {
	var out []int
	for k, v := range record[m.Tokens:] {
		at := int(v)
		switch {
		case float32(at) != v || at < 0 || at >= m.Tokens:
			return nil, fmt.Errorf("%v is no position of a token to predict, which are 1 to %d", v, m.Tokens-1)
		case at > 0 && k > len(out):
			return nil, fmt.Errorf("a position that is not used stands before position %d", at)
		case at > 0:
			out = append(out, at)
		}
	}
	if out == nil {
		return nil, fmt.Errorf("%s: the record has no token to predict", m.Name())
	}
	return out, nil
}
