// The two kinds of tokens that records are made of.

package texts

import (
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/text/bpe"
	"github.com/lethe-ml/lethe/lib/text/wordpiece"
)

// Tokenizer says what tokens are.
type Tokenizer string

// BPE is GPT-2's byte-level tokenizer, for networks that predict the next token; see package bpe.
// The tokenizer "" is BERT's WordPiece, for all others.
const BPE Tokenizer = "bpe"

// encoder makes the tokens of records.
type encoder interface {
	// encode returns the records of a part of a document.
	encode(d Document, part string, p Preparation) ([]window, error)
	// write writes a record, whose first numbers are so many tokens.
	write(w window, to []float32, tokens int)
	// entries returns the vocabulary as About has it.
	entries() []string
}

// pieces are the tokens of WordPiece.
type pieces struct{ v *wordpiece.Vocabulary }

func (e pieces) encode(_ Document, part string, p Preparation) ([]window, error) {
	all, err := e.v.Encode(part, p.Tokens)
	var out []window
	for _, tokens := range all {
		out = append(out, window{tokens: tokens})
	}
	return out, err
}

func (e pieces) write(w window, to []float32, tokens int) {
	for k := range tokens {
		to[k] = float32(e.v.Pad())
	}
	for k, token := range w.tokens {
		to[k] = float32(token)
	}
}

func (e pieces) entries() []string {
	out := make([]string, e.v.Size())
	for k := range out {
		out[k] = e.v.Token(k)
	}
	return out
}

// bytePairs are the tokens of BPE. Every text ends with bpe.End.
type bytePairs struct{ v *bpe.Vocabulary }

func (e bytePairs) encode(d Document, part string, p Preparation) ([]window, error) {
	if p.Unit == Documents {
		w, err := e.document(d, p)
		return []window{w}, err
	}
	tokens, err := e.v.Tokens(part)
	if err != nil {
		return nil, err
	}
	tokens = append(tokens, e.v.End())
	most := min(p.Tokens, p.Predicted+1)
	var out []window
	for len(tokens) > 1 {
		n := min(most, len(tokens))
		out = append(out, window{tokens: tokens[:n], first: 1})
		tokens = tokens[n-1:] // the last is read again, to predict the next
	}
	return out, nil
}

// document returns the record of a document: its prompt, and the text, which is predicted.
func (e bytePairs) document(d Document, p Preparation) (window, error) {
	w := window{first: 1}
	if d.Question != "" {
		given, err := e.v.Tokens(Prompt(d.Question))
		if err != nil {
			return w, fmt.Errorf("the question: %w", err)
		}
		w.tokens, w.first = given, len(given)
	}
	text, err := e.v.Tokens(d.Text)
	if err != nil {
		return w, err
	}
	w.tokens = append(append(w.tokens, text...), e.v.End())
	switch {
	case len(w.tokens) > p.Tokens:
		return w, fmt.Errorf("question, text and end have %d tokens, a record has at most %d", len(w.tokens), p.Tokens)
	case len(w.tokens)-w.first > p.Predicted:
		return w, fmt.Errorf("%d tokens are to be predicted, a record has room for %d", len(w.tokens)-w.first, p.Predicted)
	}
	return w, nil
}

// Prompt is what a language model reads before the answer to a question.
func Prompt(question string) string { return question + "\n" }

func (e bytePairs) write(w window, to []float32, tokens int) {
	for k := range to[:tokens] {
		to[k] = float32(e.v.End()) // no token reads it
	}
	for k, token := range w.tokens {
		to[k] = float32(token)
	}
	for k := range len(w.tokens) - w.first {
		to[tokens+k] = float32(w.first + k)
	}
}

func (e bytePairs) entries() []string { return e.v.Entries() }

// checkBPE returns an error for a preparation whose tokenizer is not BPE, or that BPE cannot serve.
func (p Preparation) checkBPE() error {
	switch {
	case p.Tokenizer != BPE:
		return fmt.Errorf("the tokenizer %q is not known; there are %s and, without a name, WordPiece", p.Tokenizer, BPE)
	case p.VocabularyFile != "":
		return errors.New("a vocabulary file is WordPiece's; that of bpe is learned")
	case p.Predicted >= p.Tokens:
		return fmt.Errorf("%d tokens to predict in a record of %d, the first of which follows nothing", p.Predicted, p.Tokens)
	case p.Vocabulary < bpe.MinTokens:
		return fmt.Errorf("a vocabulary of %d tokens, of bpe possible are %d to %d", p.Vocabulary, bpe.MinTokens, bpe.MaxTokens)
	}
	return nil
}
