// Tests of vocabularies, words and learning.

package bpe

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func learned(t testing.TB, size int, texts ...string) *Vocabulary {
	t.Helper()
	v, err := Learn(texts, size)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// FuzzTokens: the words and the tokens of a text are the text; broken UTF-8 is refused.
func FuzzTokens(f *testing.F) {
	for _, text := range []string{"It's 2 o'clock,\n\n the  end. ", "\xff", "é\x00 ", "'", " \t"} {
		f.Add(text)
	}
	v := learned(f, 270, "the end of the day, the end of the night")
	f.Fuzz(func(t *testing.T, text string) {
		if got := strings.Join(Words(text), ""); got != text {
			t.Errorf("the words of %q are %q", text, got)
		}
		tokens, err := v.Tokens(text)
		if (err == nil) != utf8.ValidString(text) {
			t.Errorf("%q: error %v", text, err)
		}
		if back, err := v.Decode(tokens); utf8.ValidString(text) && (err != nil || back != text) {
			t.Errorf("%q became %q (%v)", text, back, err)
		}
	})
}

// Merges by hand: of "abab" and "abc", three times each, a and b stand together 9 times; then ab is
// before ab and before c 3 times each, and c, byte 0x63, has the lower number.
func TestTheMostFrequentPairComesFirst(t *testing.T) {
	v := learned(t, 300, "abab", "abab", "abab", "abc", "abc", "abc")
	if got := v.Entries()[257:]; !slices.Equal(got, []string{"a b", "ab c", "ab ab"}) {
		t.Errorf("merges %q", got)
	}
	again, err := New(v.Entries())
	if err != nil || !slices.Equal(again.Entries(), v.Entries()) || again.End() != 0 || again.Token(257) != "ab" {
		t.Errorf("the entries do not make the vocabulary again (%v)", err)
	}
	if once := learned(t, 300, "xyz"); once.Size() != 257 {
		t.Errorf("pairs that occur once became tokens: %q", once.Entries()[257:])
	}
}

func TestBadTextsAndEntriesAreNamed(t *testing.T) {
	if _, err := Learn([]string{"good", "b\xffd"}, 300); err == nil || !strings.Contains(err.Error(), "text 1: the text is broken UTF-8 at byte 1 (0xff)") {
		t.Errorf("broken UTF-8: %v", err)
	}
	for _, size := range []int{256, MaxTokens + 1} {
		if _, err := Learn([]string{"a"}, size); err == nil || !strings.Contains(err.Error(), "possible are 257 to") {
			t.Errorf("a vocabulary of %d: %v", size, err)
		}
	}
	base := learned(t, 257, "").Entries()
	for words, entries := range map[string][]string{
		`token 257, "a": the token is there twice, first as `: append(slices.Clone(base), "a"),
		`token 258, "ab c d": it is made of "ab" and "c d"`:   append(slices.Clone(base), "a b", "ab c d"),
		`it is made of "<|endoftext|>" and "a"`:               append(slices.Clone(base), "<|endoftext|> a"),
		`token 257, "中": it is no letter of a byte`:           append(slices.Clone(base), "中"),
		`token 257, "": it is no letter of a byte`:            append(slices.Clone(base), ""),
		"byte 0x21 (!) has no token":                          append(base[:1:1], base[2:]...),
		"<|endoftext|> is missing among 256 tokens":           base[1:],
	} {
		if _, err := New(entries); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want %q", err, words)
		}
	}
	v := learned(t, 257, "")
	for _, number := range []int{-1, 257} {
		if _, err := v.Decode([]int{1, number}); err == nil || !strings.Contains(err.Error(), "token 1 has the number") {
			t.Errorf("token %d: %v", number, err)
		}
	}
	if text, err := v.Decode([]int{v.End(), int(v.bytes['a']), int(v.bytes[0xff])}); err != nil || text != "a\ufffd" {
		t.Errorf("decoded %q (%v)", text, err)
	}
}
