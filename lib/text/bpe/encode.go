// The tokens of a text.

package bpe

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words returns the parts of a text that GPT-2's tokenizer merges bytes in: 's, 't, 're, 've, 'm,
// 'll and 'd; letters, digits or other characters with one space before them; white space, whose
// last character is left to what follows. Together they are the text.
func Words(text string) []string {
	var out []string
	for len(text) > 0 {
		n := wordLength(text)
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// wordLength returns the number of bytes of a text's first word.
func wordLength(text string) int {
	for _, s := range []string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"} {
		if strings.HasPrefix(text, s) {
			return len(s)
		}
	}
	start := 0
	if text[0] == ' ' {
		start = 1
	}
	if r, _ := utf8.DecodeRuneInString(text[start:]); start < len(text) && !unicode.IsSpace(r) {
		return start + runLength(text[start:], classOf(r))
	}
	n := runLength(text, space)
	if n == len(text) {
		return n
	}
	if _, last := utf8.DecodeLastRuneInString(text[:n]); last < n {
		return n - last
	}
	return n
}

// class is a kind of characters that stand together in a word.
type class int

const (
	other class = iota
	letter
	digit
	space
)

func classOf(r rune) class {
	switch {
	case unicode.IsLetter(r):
		return letter
	case unicode.IsNumber(r):
		return digit
	case unicode.IsSpace(r):
		return space
	}
	return other
}

// runLength returns the number of bytes at the start of a text that are of a class.
func runLength(text string, c class) int {
	for i, r := range text {
		if classOf(r) != c {
			return i
		}
	}
	return len(text)
}

// Tokens returns the numbers of a text's tokens, without End. Special tokens in a text are not
// recognised: "<|endoftext|>" in a text is its characters. Broken UTF-8 is an error that names the
// byte.
func (v *Vocabulary) Tokens(text string) ([]int, error) {
	if err := checkUTF8(text); err != nil {
		return nil, err
	}
	var out []int
	var pieces []int32
	for _, word := range Words(text) {
		pieces = pieces[:0]
		for i := range len(word) {
			pieces = append(pieces, v.bytes[word[i]])
		}
		for _, p := range v.merge(pieces) {
			out = append(out, int(p))
		}
	}
	return out, nil
}

// merge replaces pairs of a word's pieces by their tokens, that of the lowest number first.
func (v *Vocabulary) merge(pieces []int32) []int32 {
	for {
		lowest, pair := -1, [2]int32{}
		for i := 1; i < len(pieces); i++ {
			p := [2]int32{pieces[i-1], pieces[i]}
			if number, ok := v.merges[p]; ok && (lowest < 0 || number < lowest) {
				lowest, pair = number, p
			}
		}
		if lowest < 0 {
			return pieces
		}
		pieces = replaced(pieces, pair, int32(lowest))
	}
}

// replaced replaces a pair wherever it stands, from the left, in place.
func replaced(pieces []int32, pair [2]int32, by int32) []int32 {
	out := pieces[:0]
	for i := 0; i < len(pieces); i++ {
		if i+1 < len(pieces) && pieces[i] == pair[0] && pieces[i+1] == pair[1] {
			out = append(out, by)
			i++
			continue
		}
		out = append(out, pieces[i])
	}
	return out
}

// checkUTF8 names the first byte of a text that is not UTF-8.
func checkUTF8(text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	for i, r := range text {
		if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
			return fmt.Errorf("the text is broken UTF-8 at byte %d (0x%02x)", i, text[i])
		}
	}
	return nil
}
