// Comparison with Hugging Face's tokenizers.

package bpe

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// golden is testdata/golden.json, which testdata/golden.py makes.
type golden struct {
	Training, Vocabulary, Merges []string
	Cases                        []struct {
		Text   string
		Tokens []string
	}
}

func readGolden(t *testing.T) (g golden) {
	t.Helper()
	file, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(file, &g); err != nil {
		t.Fatal(err)
	}
	if len(g.Cases) < 25 || len(g.Merges) < 50 {
		t.Fatalf("%d cases, %d merges", len(g.Cases), len(g.Merges))
	}
	return g
}

// files writes a vocabulary as Hugging Face does.
func hfFiles(t *testing.T, vocabulary map[string]int, merges string) (vocab, lines string) {
	t.Helper()
	dir := t.TempDir()
	vocab, lines = filepath.Join(dir, "vocab.json"), filepath.Join(dir, "merges.txt")
	b, err := json.Marshal(vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string][]byte{vocab: b, lines: []byte(merges)} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return vocab, lines
}

func (g golden) numbers() map[string]int {
	out := map[string]int{}
	for i, token := range g.Vocabulary {
		out[token] = i
	}
	return out
}

// Given a vocabulary and merges, tokens are those of tokenizers 0.23.3, and their text is the text.
func TestTokensAreHuggingFaces(t *testing.T) {
	g := readGolden(t)
	v, err := Read(hfFiles(t, g.numbers(), "#version: 0.2\n"+strings.Join(g.Merges, "\n")+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range g.Cases {
		numbers, err := v.Tokens(c.Text)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, n := range numbers {
			got = append(got, v.Token(n))
		}
		if !slices.Equal(got, c.Tokens) {
			t.Errorf("%+q:\n got %+q\nwant %+q", c.Text, got, c.Tokens)
		}
		if text, err := v.Decode(numbers); err != nil || text != c.Text {
			t.Errorf("%+q became %+q (%v)", c.Text, text, err)
		}
	}
}

// From the same texts the same vocabulary is learned as by the BpeTrainer of tokenizers 0.23.3,
// whatever their order.
func TestTheLearnedVocabularyIsHuggingFaces(t *testing.T) {
	g := readGolden(t)
	back := slices.Clone(g.Training)
	slices.Reverse(back)
	for _, texts := range [][]string{g.Training, back} {
		v, err := Learn(texts, 330)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range v.Size() {
			got = append(got, v.Token(i))
		}
		if !slices.Equal(got, g.Vocabulary) {
			t.Errorf("learned %q,\nwant %q", got, g.Vocabulary)
		}
		if merges := v.Entries()[257:]; !slices.Equal(merges, g.Merges) {
			t.Errorf("merges %q,\nwant %q", merges, g.Merges)
		}
	}
	small, err := Learn(g.Training, 300)
	if err != nil || !slices.Equal(small.Entries()[257:], g.Merges[:43]) {
		t.Errorf("a smaller vocabulary is no beginning of the larger one: %v", err)
	}
}

func TestFilesThatAreNotUnderstoodAreNamed(t *testing.T) {
	g := readGolden(t)
	merges := strings.Join(g.Merges, "\n") + "\n"
	without := g.numbers()
	delete(without, g.Vocabulary[320])
	twice := g.numbers()
	twice["!"] = 5
	for words, c := range map[string]struct {
		vocabulary map[string]int
		merges     string
	}{
		"line 64: what ":                   {without, merges},
		"numbers go from 0 to 320":         {twice, merges},
		`line 1: "the" is no pair`:         {g.numbers(), "the\n" + merges},
		"line 2: \"t he\" becomes token 2": {g.numbers(), "o r\nt he\n"},
		"it is no letter of a byte, no":    {g.numbers(), strings.Join(g.Merges[1:], "\n")},
	} {
		if _, err := Read(hfFiles(t, c.vocabulary, c.merges)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want %q", err, words)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "vocab.json"), ""); err == nil {
		t.Error("a file that is not there is read")
	}
	v, lines := hfFiles(t, g.numbers(), merges)
	if err := os.WriteFile(v, []byte("[1]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(v, lines); err == nil || !strings.Contains(err.Error(), fmt.Sprint(v)) {
		t.Errorf("no vocabulary: %v", err)
	}
}
