// Tests of the tokenizer, the vocabulary and its learning.

package wordpiece

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// newVocabulary has the special tokens and the given ones.
func newVocabulary(t testing.TB, tokens ...string) *Vocabulary {
	t.Helper()
	v, err := New(append(slices.Clone(specials), tokens...))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func names(v *Vocabulary, numbers []int) (out []string) {
	for _, n := range numbers {
		out = append(out, v.Token(n))
	}
	return out
}

func TestTokensByHand(t *testing.T) {
	v := newVocabulary(t, "un", "##aff", "##able", "##a", "cafe", "the", ",", "##e", "[", "]", "sep", "中")
	for text, want := range map[string]string{
		"unaffable":         "un ##aff ##able",
		"The  CAFÉ,":        "the cafe ,",
		"cafe\u0301":        "cafe",
		"unaffablex":        "[UNK]", // no piece x, so nothing of the word
		"the,unaff":         "the , un ##aff",
		"[SEP]":             "[ sep ]", // not the special token
		"the中the":           "the 中 the",
		"th\u200be\u0000":   "the",
		"una\tun\nun\u00a0": "un ##a un un",
		"":                  "",
	} {
		got, err := v.Tokens(text)
		if err != nil {
			t.Fatal(err)
		}
		if s := strings.Join(names(v, got), " "); s != want {
			t.Errorf("%q: %q, want %q", text, s, want)
		}
	}
}

func TestALongWordIsUnknown(t *testing.T) {
	v := newVocabulary(t, "é", "e", "##e")
	for n, want := range map[int]int{100: 100, 101: 1} {
		got, err := v.Tokens(strings.Repeat("é", n))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != want || (got[0] == v.Unknown()) != (n > 100) {
			t.Errorf("%d characters: %d tokens", n, len(got))
		}
	}
}

func TestBrokenUTF8IsRefusedByItsByte(t *testing.T) {
	v := newVocabulary(t, "a")
	for _, f := range []func(string) error{
		func(s string) error { _, err := v.Tokens(s); return err },
		func(s string) error { _, err := v.Encode(s, 8); return err },
		func(s string) error { _, err := Learn([]string{s}, 50); return err },
	} {
		if err := f("a\ufffdb\xffc"); err == nil || !strings.Contains(err.Error(), "byte 5 (0xff)") {
			t.Errorf("error %v", err)
		}
	}
}

func TestALongTextIsCutIntoWindows(t *testing.T) {
	v := newVocabulary(t, "a", "b")
	got, err := v.Encode("a b a b a", 4)
	if err != nil {
		t.Fatal(err)
	}
	var windows []string
	for _, w := range got {
		windows = append(windows, strings.Join(names(v, w), " "))
	}
	if want := []string{"[CLS] a b [SEP]", "[CLS] a b [SEP]", "[CLS] a [SEP]"}; !slices.Equal(windows, want) {
		t.Errorf("%q, want %q", windows, want)
	}
	if got, err := v.Encode(" \n", 4); err != nil || len(got) != 0 {
		t.Errorf("a text without a word gives %v, %v", got, err)
	}
	if _, err := v.Encode("a", 2); err == nil || !strings.Contains(err.Error(), "need 3") {
		t.Errorf("windows of 2: %v", err)
	}
}

func TestAVocabularyThatIsNoneIsRefusedByItsLine(t *testing.T) {
	all := strings.Join(specials, "\n")
	for words, file := range map[string]string{
		"file.txt: [MASK] is missing among 4 tokens":              strings.TrimSuffix(all, "\n[MASK]"),
		"[PAD], [UNK], [CLS], [SEP], [MASK] is missing":           "",
		"line 7: the token \"a\" is there twice, first in line 6": all + "\na\na\n",
		"line 7: the token is empty":                              all + "\na\n\nb",
		"line 6: the token \"a\\xff\" is broken UTF-8":            all + "\na\xff",
		"line 6: a token of more than 1024 bytes":                 all + "\n" + strings.Repeat("x", 3000),
	} {
		if _, err := Parse("file.txt", strings.NewReader(file)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want %q", err, words)
		}
	}
	if _, err := Read("testdata/none.txt"); err == nil || !strings.Contains(err.Error(), "testdata/none.txt") {
		t.Errorf("a missing file: %v", err)
	}
}

func TestAVocabularyIsReadAsWritten(t *testing.T) {
	v := newVocabulary(t, "a", "##b", "中")
	var file bytes.Buffer
	if err := v.Write(&file); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{file.String(), strings.ReplaceAll(file.String(), "\n", "\r\n"), strings.TrimSuffix(file.String(), "\n")} {
		got, err := Parse("vocab.txt", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.tokens, v.tokens) || got.Pad() != 0 || got.Unknown() != 1 || got.CLS() != 2 || got.Sep() != 3 || got.Mask() != 4 {
			t.Errorf("read %q", got.tokens)
		}
	}
	if n, ok := v.Number("##b"); n != 6 || !ok || v.Size() != 8 {
		t.Errorf("##b is number %d of %d", n, v.Size())
	}
}

// By hand: "aab" 4 times, "ab" and "cab" once. Characters: ##b 6, a 5, ##a 5, c 1. Words: aab
// saves 4 x 2, cab 1 x 2, ab 1 x 1. Ends of the words that are not in: ##ab 1 x 1 of cab.
func TestLearnByHand(t *testing.T) {
	for size, want := range map[int]string{
		20: "##b ##a a c aab cab ab", 12: "##b ##a a c aab cab", 10: "##b ##a a aab cab", 8: "##b ##a aab", 7: "##b aab", 6: "##b",
	} {
		v, err := Learn([]string{"aab AAB cab", "ab aab", "aab"}, size)
		if err != nil {
			t.Fatal(err)
		}
		got := v.tokens[5:]
		if strings.Join(got, " ") != want {
			t.Errorf("size %d: %q, want %q", size, got, want)
		}
	}
	// An end is learned where there is no room for its words.
	v, err := Learn([]string{"xing ying zing king a the the the the"}, 16)
	if err != nil {
		t.Fatal(err)
	}
	if got := v.tokens[len(v.tokens)-3:]; !slices.Contains(got, "##ing") {
		t.Errorf("the last tokens are %q, want ##ing among them", got)
	}
}

func TestLearnDoesNotDependOnTheOrder(t *testing.T) {
	texts := []string{"the patient was seen", "the patient denies pain", "pain and painless", "naïve 3.5 mg"}
	a, err := Learn(texts, 60)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(texts)
	b, err := Learn(texts, 60)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.tokens, b.tokens) {
		t.Error("another order of the texts gives another vocabulary")
	}
	large, err := Learn(texts, 500)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		got, err := large.Tokens(text)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(got, large.Unknown()) || len(got) != len(Words(text)) {
			t.Errorf("%q is %q in its own vocabulary", text, names(large, got))
		}
		if read, err := large.Decode(got); err != nil || read != strings.Join(Words(text), " ") {
			t.Errorf("%q is read back as %q, %v", text, read, err)
		}
	}
	for words, f := range map[string]func() (*Vocabulary, error){
		"possible are 6":   func() (*Vocabulary, error) { return Learn(texts, 5) },
		"no word to learn": func() (*Vocabulary, error) { return Learn([]string{"", " "}, 50) },
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want %q", err, words)
		}
	}
	if _, err := a.Decode([]int{0, 9999}); err == nil || !strings.Contains(err.Error(), "token 1") {
		t.Errorf("an unknown number: %v", err)
	}
}

// pieces is the greedy search without its bounds: every end of every start.
func pieces(v *Vocabulary, word string) (out []string) {
	runes := []rune(word)
	if len(runes) > 100 {
		return []string{Unknown}
	}
	for start := 0; start < len(runes); {
		end := len(runes)
		for ; end > start; end-- {
			piece := string(runes[start:end])
			if start > 0 {
				piece = "##" + piece
			}
			if slices.Contains(v.tokens, piece) {
				out = append(out, piece)
				break
			}
		}
		if end == start {
			return []string{Unknown}
		}
		start = end
	}
	return out
}

var fuzzed = []string{"a", "b", "ab", "##a", "##b", "##ab", "##bba", "é", "中", "##ß", ",", "-", "1", "##1", "##12", "ba"}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{"abba ab1, éa\u0301", "\xff", "a\u0000b", "中a中", strings.Repeat("ab", 60), "ǅ ẞß\u1e9e", "#a ##b"} {
		f.Add(s, 5)
	}
	v := newVocabulary(f, fuzzed...)
	f.Fuzz(func(t *testing.T, text string, size int) {
		got, err := v.Tokens(text)
		if !utf8.ValidString(text) {
			if err == nil {
				t.Fatal("broken UTF-8 is accepted")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, w := range Words(text) {
			if w == "" || strings.ContainsAny(w, " \t\n") {
				t.Fatalf("%q has the word %q", text, w)
			}
			want = append(want, pieces(v, w)...)
		}
		if !slices.Equal(names(v, got), want) {
			t.Fatalf("%q is %q, want %q", text, names(v, got), want)
		}
		size = 3 + (size%50+50)%50
		windows, err := v.Encode(text, size)
		if err != nil {
			t.Fatal(err)
		}
		var joined []int
		for _, w := range windows {
			if len(w) > size || len(w) < 3 || w[0] != v.CLS() || w[len(w)-1] != v.Sep() {
				t.Fatalf("window %q", names(v, w))
			}
			joined = append(joined, w[1:len(w)-1]...)
		}
		if !slices.Equal(joined, got) {
			t.Fatalf("the windows of %q lack tokens", text)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(strings.Join(specials, "\n") + "\na\n##b"))
	f.Add([]byte("[PAD]\n\n"))
	f.Add([]byte("\xff\n[UNK]"))
	f.Fuzz(func(t *testing.T, file []byte) {
		v, err := Parse("fuzzed", bytes.NewReader(file))
		if err != nil {
			return
		}
		for i := range v.Size() {
			if n, ok := v.Number(v.Token(i)); n != i || !ok {
				t.Fatalf("token %d has the number %d", i, n)
			}
		}
	})
}

// Eight times the text takes about eight times as long, and not 64 times.
func TestTimeIsLinear(t *testing.T) {
	v := newVocabulary(t, fuzzed...)
	text := strings.Repeat("ab abba, 12 é ", 4000)
	fastest := func(text string) time.Duration {
		best := time.Hour
		for range 3 {
			start := time.Now()
			if _, err := v.Tokens(text); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(start))
		}
		return best
	}
	if one, eight := fastest(text), fastest(strings.Repeat(text, 8)); eight > 32*one {
		t.Errorf("%v for the text, %v for eight of it", one, eight)
	}
}

func ExampleVocabulary_Encode() {
	v, _ := Learn([]string{"the patient denies pain", "the patient has pain"}, 200)
	windows, _ := v.Encode("The patient denies pains.", 6)
	for _, w := range windows {
		text, _ := v.Decode(w)
		fmt.Println(len(w), text)
	}
	// Output:
	// 6 [CLS] the patient denies pain [SEP]
	// 4 [CLS] ##s [UNK] [SEP]
}
