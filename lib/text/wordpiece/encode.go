// The tokens of a text.

package wordpiece

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// continued begins a token that continues a word.
const continued = "##"

// maxWord is the number of characters of a word that is cut into pieces.
const maxWord = 100

// Words returns the words of a text as BERT's uncased tokenizer cuts them before it looks for
// pieces. Control characters are removed; Chinese characters and every punctuation mark are
// words of their own; the text is decomposed (NFD), accents are removed, letters are lower
// case; white space separates words.
//
// Control characters are Unicode's categories Cc, Cf and Co; a character that Unicode
// does not assign is kept.
func Words(text string) []string {
	var words []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	// Composed characters are classified before they are decomposed: some Chinese
	// characters for compatibility become others.
	for _, r := range norm.NFD.String(spaced(text)) {
		switch {
		case r == ' ':
			end()
		case unicode.Is(unicode.Mn, r):
		case isPunctuation(r):
			end()
			words = append(words, string(r))
		default:
			word.WriteRune(unicode.ToLower(r))
		}
	}
	end()
	return words
}

// spaced returns the text without control characters, with spaces around Chinese characters
// and for white space.
func spaced(text string) string {
	var out strings.Builder
	out.Grow(len(text))
	for _, r := range text {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			out.WriteByte(' ')
		case r == 0 || r == utf8.RuneError || isControl(r):
		case unicode.IsSpace(r):
			out.WriteByte(' ')
		case isChinese(r):
			out.WriteByte(' ')
			out.WriteRune(r)
			out.WriteByte(' ')
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// isControl reports whether r has no meaning of its own: control, format or private use.
func isControl(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) }

// isPunctuation reports whether BERT cuts at r: every ASCII character that is no letter, digit
// or space, and Unicode's punctuation.
func isPunctuation(r rune) bool {
	if r < 128 {
		return r > ' ' && r < 127 && !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	}
	return unicode.IsPunct(r)
}

// isChinese reports whether r is in one of the blocks of CJK ideographs that BERT lists.
func isChinese(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4DBF, 0x4E00 <= r && r <= 0x9FFF, 0xF900 <= r && r <= 0xFAFF:
		return true
	}
	return 0x20000 <= r && r <= 0x2A6DF || 0x2A700 <= r && r <= 0x2CEAF || 0x2F800 <= r && r <= 0x2FA1F
}

// Tokens returns the numbers of a text's tokens, without [CLS] and [SEP]. Each word is cut
// from the left into the longest pieces of the vocabulary. A word of more than 100
// characters, or one that cannot be cut so, is [UNK]. It takes time in proportion to the
// length of the text.
//
// Special tokens in a text are not recognised: the text "[SEP]" is three words, so that no
// text can end its own window. (Hugging Face's tokenizers read it as the special token.)
func (v *Vocabulary) Tokens(text string) ([]int, error) {
	if err := checkUTF8(text); err != nil {
		return nil, err
	}
	var out []int
	for _, word := range Words(text) {
		out = v.appendPieces(out, word)
	}
	return out, nil
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

// appendPieces appends the pieces of a word.
func (v *Vocabulary) appendPieces(out []int, word string) []int {
	if utf8.RuneCountInString(word) > maxWord {
		return append(out, v.Unknown())
	}
	start, before := 0, len(out)
	for start < len(word) {
		number, size := v.longestPiece(word, start)
		if size == 0 {
			return append(out[:before], v.Unknown())
		}
		out = append(out, number)
		start += size
	}
	return out
}

// longestPiece returns the longest piece of a word that starts at a byte, and its size in
// bytes, 0 if there is none.
func (v *Vocabulary) longestPiece(word string, start int) (number, size int) {
	for end := min(len(word), start+v.longest); end > start; end-- {
		if end < len(word) && !utf8.RuneStart(word[end]) {
			continue
		}
		if number, ok := v.piece(word[start:end], start > 0); ok {
			return number, end - start
		}
	}
	return 0, 0
}

// piece returns the number of a word's piece.
func (v *Vocabulary) piece(text string, continues bool) (int, bool) {
	if !continues {
		number, ok := v.numbers[text]
		return number, ok
	}
	var buffer [len(continued) + 4*maxWord]byte
	key := append(append(buffer[:0], continued...), text...)
	number, ok := v.numbers[string(key)]
	return number, ok
}

// Encode returns a text as windows of at most max tokens, [CLS] and [SEP] among them. A text
// that is longer is cut after every max - 2 tokens; the windows do not overlap. A text
// without a word has no window. max must be at least 3.
func (v *Vocabulary) Encode(text string, max int) ([][]int, error) {
	if max < 3 {
		return nil, fmt.Errorf("windows of %d tokens; %s, one token and %s need 3", max, CLS, Sep)
	}
	tokens, err := v.Tokens(text)
	if err != nil {
		return nil, err
	}
	var windows [][]int
	for len(tokens) > 0 {
		n := min(max-2, len(tokens))
		window := append(append(make([]int, 0, n+2), v.CLS()), tokens[:n]...)
		windows = append(windows, append(window, v.Sep()))
		tokens = tokens[n:]
	}
	return windows, nil
}

// Decode returns tokens as a text to read: pieces are joined, words and special tokens
// separated by spaces. A piece that continues no word keeps its ##. Numbers outside the vocabulary are an error.
func (v *Vocabulary) Decode(tokens []int) (string, error) {
	var out strings.Builder
	for i, number := range tokens {
		if number < 0 || number >= v.Size() {
			return "", fmt.Errorf("token %d has the number %d, the vocabulary ends at %d", i, number, v.Size()-1)
		}
		token := v.tokens[number]
		piece, joined := strings.CutPrefix(token, continued)
		switch {
		case joined && i > 0 && !slices.Contains(v.special[:], tokens[i-1]):
			token = piece
		case i > 0:
			out.WriteByte(' ')
		}
		out.WriteString(token)
	}
	return out.String(), nil
}
