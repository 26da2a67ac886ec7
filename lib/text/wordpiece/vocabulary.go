// Package wordpiece has BERT's uncased WordPiece tokenizer: the reading of a vocabulary, the
// tokens of a text, and the learning of a small vocabulary from texts. It needs no engine.
package wordpiece

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// The special tokens, which every vocabulary has: padding, a word that has no pieces, the
// start and the end of a window, and a hidden token.
const (
	Pad     = "[PAD]"
	Unknown = "[UNK]"
	CLS     = "[CLS]"
	Sep     = "[SEP]"
	Mask    = "[MASK]"
)

// specials are the special tokens in the order of a learned vocabulary.
var specials = []string{Pad, Unknown, CLS, Sep, Mask}

// MaxTokens is the largest number of tokens of a vocabulary: numbers below it are exact as
// float32, which records of networks are made of.
const MaxTokens = 1 << 24

// maxTokenBytes is the longest token of a vocabulary that is read.
const maxTokenBytes = 1 << 10

// Vocabulary is a list of tokens, each with its number. A token that continues a word begins
// with ##. It is immutable and safe for concurrent use.
type Vocabulary struct {
	tokens  []string
	numbers map[string]int
	longest int // bytes of the longest token without ##
	special [5]int
}

// New returns the vocabulary of the tokens, whose numbers are their places. The special
// tokens must be among them, no token may be empty, broken UTF-8 or there twice.
func New(tokens []string) (*Vocabulary, error) {
	v := &Vocabulary{numbers: make(map[string]int, len(tokens))}
	for i, token := range tokens {
		if err := v.add(token); err != nil {
			return nil, fmt.Errorf("vocabulary: token %d: %w", i, err)
		}
	}
	if err := v.findSpecials(); err != nil {
		return nil, fmt.Errorf("vocabulary: %w", err)
	}
	return v, nil
}

// Read reads a vocabulary from BERT's vocab.txt: one token per line, UTF-8. Errors name the
// file and the line.
func Read(path string) (*Vocabulary, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("vocabulary: %w", err)
	}
	defer f.Close()
	return Parse(path, f)
}

// Parse is Read on a stream; name is the file's in errors.
func Parse(name string, r io.Reader) (*Vocabulary, error) {
	v := &Vocabulary{numbers: map[string]int{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxTokenBytes+2)
	line := 0
	for lines.Scan() {
		line++
		if err := v.add(lines.Text()); err != nil {
			return nil, fmt.Errorf("vocabulary %s, line %d: %w", name, line, err)
		}
	}
	if err := lines.Err(); err == bufio.ErrTooLong {
		return nil, fmt.Errorf("vocabulary %s, line %d: a token of more than %d bytes; the file should have one token per line", name, line+1, maxTokenBytes)
	} else if err != nil {
		return nil, fmt.Errorf("vocabulary %s, line %d: %w", name, line+1, err)
	}
	if err := v.findSpecials(); err != nil {
		return nil, fmt.Errorf("vocabulary %s: %w", name, err)
	}
	return v, nil
}

// add appends a token.
func (v *Vocabulary) add(token string) error {
	switch before, twice := v.numbers[token]; {
	case token == "":
		return fmt.Errorf("the token is empty")
	case !utf8.ValidString(token):
		return fmt.Errorf("the token %q is broken UTF-8", token)
	case twice:
		return fmt.Errorf("the token %q is there twice, first in line %d", token, before+1)
	case len(v.tokens) == MaxTokens:
		return fmt.Errorf("more than %d tokens", MaxTokens)
	}
	v.numbers[token] = len(v.tokens)
	v.tokens = append(v.tokens, token)
	v.longest = max(v.longest, len(strings.TrimPrefix(token, continued)))
	return nil
}

func (v *Vocabulary) findSpecials() error {
	var missing []string
	for i, s := range specials {
		number, ok := v.numbers[s]
		if !ok {
			missing = append(missing, s)
		}
		v.special[i] = number
	}
	if missing != nil {
		return fmt.Errorf("%s is missing among %d tokens; BERT's vocab.txt has %s", strings.Join(missing, ", "), len(v.tokens), strings.Join(specials, " "))
	}
	return nil
}

// Write writes the vocabulary as a vocab.txt.
func (v *Vocabulary) Write(w io.Writer) error {
	_, err := io.WriteString(w, strings.Join(v.tokens, "\n")+"\n")
	return err
}

// Size returns the number of tokens.
func (v *Vocabulary) Size() int { return len(v.tokens) }

// Token returns the token of a number from 0 to Size - 1.
func (v *Vocabulary) Token(number int) string { return v.tokens[number] }

// Number returns the number of a token, and whether the vocabulary has it.
func (v *Vocabulary) Number(token string) (int, bool) {
	number, ok := v.numbers[token]
	return number, ok
}

// Pad returns the number of [PAD].
func (v *Vocabulary) Pad() int { return v.special[0] }

// Unknown returns the number of [UNK].
func (v *Vocabulary) Unknown() int { return v.special[1] }

// CLS returns the number of [CLS].
func (v *Vocabulary) CLS() int { return v.special[2] }

// Sep returns the number of [SEP].
func (v *Vocabulary) Sep() int { return v.special[3] }

// Mask returns the number of [MASK].
func (v *Vocabulary) Mask() int { return v.special[4] }
