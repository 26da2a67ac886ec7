// Package bpe has GPT-2's byte-level tokenizer: byte pair encoding (Sennrich et al. 2016, Neural
// Machine Translation of Rare Words with Subword Units) of UTF-8 bytes, with a vocabulary that is
// read or learned from texts. Every text has tokens, and the tokens are the whole text. It needs no
// engine.
package bpe

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// End is the token that ends a text. It has no text of its own.
const End = "<|endoftext|>"

// MaxTokens is the largest number of tokens of a vocabulary: numbers below it are exact as
// float32, which records of networks are made of.
const MaxTokens = 1 << 24

// bytesOfLetters and lettersOfBytes are GPT-2's letters of bytes: printable characters of Latin-1
// stand for themselves, other bytes for the characters from U+0100 on, in their order.
var lettersOfBytes, bytesOfLetters = letters()

func letters() (of [256]rune, back map[rune]byte) {
	back = map[rune]byte{}
	next := rune(256)
	for b := range 256 {
		r := rune(b)
		if printable := '!' <= r && r <= '~' || '¡' <= r && r <= '¬' || '®' <= r && r <= 'ÿ'; !printable {
			r = next
			next++
		}
		of[b], back[r] = r, byte(b)
	}
	return of, back
}

// Vocabulary is a list of tokens, each with its number. It is immutable and safe for concurrent use.
type Vocabulary struct {
	entries []string
	texts   []string         // of the tokens, as bytes
	bytes   [256]int32       // the number of each byte's token
	merges  map[[2]int32]int // two tokens and the number of the one that they become
	end     int
}

// New returns the vocabulary of entries, whose numbers are their places. An entry is End, one of the
// 256 letters of bytes, or two earlier tokens with a space between them, which become the new
// token. Of two pairs in a word the one with the lower number becomes a token first. Errors name
// the entry.
func New(entries []string) (*Vocabulary, error) {
	if len(entries) > MaxTokens {
		return nil, fmt.Errorf("vocabulary: %d tokens, at most %d are possible", len(entries), MaxTokens)
	}
	v := &Vocabulary{merges: make(map[[2]int32]int, len(entries)), end: -1}
	numbers := make(map[string]int32, len(entries))
	for b := range v.bytes {
		v.bytes[b] = -1
	}
	for i, entry := range entries {
		if err := v.add(entry, numbers); err != nil {
			return nil, fmt.Errorf("vocabulary: token %d, %q: %w", i, entry, err)
		}
	}
	for b, number := range v.bytes {
		if number < 0 {
			return nil, fmt.Errorf("vocabulary: byte 0x%02x (%c) has no token; a text with it could not be written", b, lettersOfBytes[b])
		}
	}
	if v.end < 0 {
		return nil, fmt.Errorf("vocabulary: %s is missing among %d tokens", End, len(entries))
	}
	return v, nil
}

// add appends an entry; numbers has the numbers of the tokens before it.
func (v *Vocabulary) add(entry string, numbers map[string]int32) error {
	number := len(v.entries)
	left, right, merged := strings.Cut(entry, " ")
	token := left + right
	if before, twice := numbers[token]; twice {
		return fmt.Errorf("the token is there twice, first as %d", before)
	}
	text := ""
	switch first, size := utf8.DecodeRuneInString(entry); {
	case entry == End:
		v.end = number
	case merged:
		a, known := numbers[left]
		b, knownToo := numbers[right]
		if !known || !knownToo || left == End || right == End {
			return fmt.Errorf("it is made of %q and %q, and not both are tokens before it", left, right)
		}
		v.merges[[2]int32{a, b}] = number
		text = v.texts[a] + v.texts[b]
	default:
		b, is := bytesOfLetters[first]
		if !is || size != len(entry) {
			return fmt.Errorf("it is no letter of a byte, no pair of tokens, and not %s", End)
		}
		v.bytes[b] = int32(number)
		text = string([]byte{b})
	}
	numbers[token] = int32(number)
	v.entries, v.texts = append(v.entries, entry), append(v.texts, text)
	return nil
}

// Entries returns the entries that New makes the vocabulary of.
func (v *Vocabulary) Entries() []string { return append([]string(nil), v.entries...) }

// Size returns the number of tokens.
func (v *Vocabulary) Size() int { return len(v.entries) }

// End returns the number of End.
func (v *Vocabulary) End() int { return v.end }

// Token returns the token of a number from 0 to Size - 1, in letters of bytes.
func (v *Vocabulary) Token(number int) string { return strings.Replace(v.entries[number], " ", "", 1) }

// Decode returns the text of tokens. Bytes that are no UTF-8, which a model may say, become
// U+FFFD. Numbers outside the vocabulary are an error.
func (v *Vocabulary) Decode(tokens []int) (string, error) {
	var out strings.Builder
	for i, number := range tokens {
		if number < 0 || number >= v.Size() {
			return "", fmt.Errorf("token %d has the number %d, the vocabulary ends at %d", i, number, v.Size()-1)
		}
		out.WriteString(v.texts[number])
	}
	return strings.ToValidUTF8(out.String(), "\ufffd"), nil
}
