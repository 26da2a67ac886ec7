package language

import (
	"fmt"
	"slices"
)

// Tokens are numbers of the answer tokens of n documents under one model, end to end: those of
// document i are at Offset[i] ... Offset[i+1]-1. Slices that are optional are nil where unknown.
// Metrics expect tokens that pass Check, and refuse others with its errors.
type Tokens struct {
	Offset  []int     // n+1 positions, from 0 to the number of tokens
	LogProb []float64 // natural logarithm of the probability of the true token, at most 0

	// Mean and Deviation are mu and sigma of the logarithm of the probability of a token that the
	// model itself draws in this place: sum_v p_v ln p_v, and the root of sum_v p_v (ln p_v)^2 - mu^2.
	Mean, Deviation []float64 // optional
	Correct         []bool    // optional: whether the most probable token is the true one
}

// Documents returns n.
func (t *Tokens) Documents() int { return max(0, len(t.Offset)-1) }

// Select returns the tokens of some documents, in their order.
func (t *Tokens) Select(documents []int) (*Tokens, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	for _, d := range documents {
		if d < 0 || d >= t.Documents() {
			return nil, fmt.Errorf("there is no document %d: there are %d", d, t.Documents())
		}
	}
	return t.cut(documents, 0), nil
}

// WithoutLast returns the tokens without the last of every document, as the published programs
// have them for exact memorisation, extraction strength, Min-K % and Min-K %++: it is the end of the
// text. A document of one token becomes empty; an empty one stays so.
func (t *Tokens) WithoutLast() (*Tokens, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	all := make([]int, t.Documents())
	for i := range all {
		all[i] = i
	}
	return t.cut(all, 1), nil
}

// cut copies documents without their last few tokens.
func (t *Tokens) cut(documents []int, last int) *Tokens {
	out := &Tokens{Offset: []int{0}, LogProb: []float64{}}
	for _, d := range documents {
		from := t.Offset[d]
		to := max(from, t.Offset[d+1]-last)
		out.LogProb = append(out.LogProb, t.LogProb[from:to]...)
		if t.Mean != nil {
			out.Mean, out.Deviation = append(out.Mean, t.Mean[from:to]...), append(out.Deviation, t.Deviation[from:to]...)
		}
		if t.Correct != nil {
			out.Correct = append(out.Correct, t.Correct[from:to]...)
		}
		out.Offset = append(out.Offset, len(out.LogProb))
	}
	return out.emptyNotNil(t)
}

// emptyNotNil keeps arrays that are given but have no token left from looking unknown.
func (t *Tokens) emptyNotNil(given *Tokens) *Tokens {
	if given.Mean != nil && t.Mean == nil {
		t.Mean, t.Deviation = []float64{}, []float64{}
	}
	if given.Correct != nil && t.Correct == nil {
		t.Correct = []bool{}
	}
	return t
}

// perDocument checks tokens, refuses empty documents, and returns f of the tokens from ... to-1 of
// every document.
func (t *Tokens) perDocument(name string, f func(from, to int) float64) ([]float64, error) {
	if t == nil {
		return nil, fmt.Errorf("%s: the model's tokens are missing", name)
	}
	if err := t.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if empty := t.empty(); len(empty) > 0 {
		return nil, fmt.Errorf("%s: no value without a token: empty documents %v; leave them out", name, empty)
	}
	out := make([]float64, t.Documents())
	for d := range out {
		out[d] = f(t.Offset[d], t.Offset[d+1])
	}
	return out, nil
}

// empty returns the documents without tokens.
func (t *Tokens) empty() (documents []int) {
	for d := range t.Documents() {
		if t.Offset[d] == t.Offset[d+1] {
			documents = append(documents, d)
		}
	}
	return documents
}

// MeanLogProb returns the mean log-probability of every document's tokens: minus its loss. It
// refuses empty documents.
func (t *Tokens) MeanLogProb() ([]float64, error) {
	return t.perDocument("mean log-probability", func(from, to int) float64 { return mean(t.LogProb[from:to]) })
}

// sameDocuments refuses tokens of other documents than like's.
func (t *Tokens) sameDocuments(name, role string, like *Tokens) error {
	if t == nil {
		return fmt.Errorf("%s: the %s tokens are missing", name, role)
	}
	if err := t.Check(); err != nil {
		return fmt.Errorf("%s: the %s tokens: %w", name, role, err)
	}
	if !slices.Equal(t.Offset, like.Offset) {
		return fmt.Errorf("%s: the %s tokens are not those of the same documents: %d documents of %d tokens, and %d of %d, or other offsets",
			name, role, t.Documents(), len(t.LogProb), like.Documents(), len(like.LogProb))
	}
	return nil
}
