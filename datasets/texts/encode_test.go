// Tests of records of byte pairs.

package texts

import (
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/text/bpe"
)

func byteVocabulary(t *testing.T) *bpe.Vocabulary {
	t.Helper()
	v, err := bpe.Learn([]string{""}, bpe.MinTokens)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// record returns a record as text and the positions to predict; the end is a dot.
func record(t *testing.T, row []float32, tokens int) (text string, positions []float32) {
	t.Helper()
	v := byteVocabulary(t)
	for _, token := range row[:tokens] {
		part, err := v.Decode([]int{int(token)})
		if err != nil {
			t.Fatal(err)
		}
		if int(token) == v.End() {
			part = "."
		}
		text += part
	}
	return text, row[tokens:]
}

// Records by hand, a byte a token: of an answer those after the question are predicted, of a text
// all but the first, of windows every token of a document once.
func TestRecordsOfBytePairs(t *testing.T) {
	documents := []Document{{Question: "ab?", Text: "cd", Label: "x"}, {Text: "efg", Label: "x"}, {Text: "hijklm", Label: "x"}}
	s, err := New("three", Labels{}, documents)
	if err != nil {
		t.Fatal(err)
	}
	type want struct {
		text      string
		positions []float32
	}
	for unit, all := range map[Unit][]want{
		Documents: {{"ab?\ncd.", []float32{4, 5, 6, 0, 0, 0, 0}}, {"efg.....", []float32{1, 2, 3, 0, 0, 0, 0}}, {"hijklm..", []float32{1, 2, 3, 4, 5, 6, 0}}},
		Windows: {{"ab?\n", []float32{1, 2, 3, 0}}, {"\ncd.", []float32{1, 2, 3, 0}}, {"efg.", []float32{1, 2, 3, 0}},
			{"hijk", []float32{1, 2, 3, 0}}, {"klm.", []float32{1, 2, 3, 0}}},
		Sentences: {{"ab?.", []float32{1, 2, 3, 0}}, {"cd..", []float32{1, 2, 0, 0}}, {"efg.", []float32{1, 2, 3, 0}},
			{"hijk", []float32{1, 2, 3, 0}}, {"klm.", []float32{1, 2, 3, 0}}},
	} {
		p := Preparation{Tokenizer: BPE, Unit: unit, Tokens: 8}
		if unit != Documents {
			p.Tokens, p.Predicted = 4, 4 // one place is never used
		}
		p = p.WithDefaults()
		c := s.choose(0, seeded(), nil)
		records, err := cut(s, p, bytePairs{byteVocabulary(t)})
		if err != nil {
			t.Fatal(err)
		}
		got := c.assemble(p, bytePairs{byteVocabulary(t)}, records, []bool{false, false, false}).Train
		if got.X.Rows != len(all) {
			t.Errorf("%s: %d records, want %d", unit, got.X.Rows, len(all))
			continue
		}
		for i, w := range all {
			text, positions := record(t, got.X.Row(i), p.Tokens)
			if w.text += strings.Repeat(".", p.Tokens-len(w.text)); text != w.text || !slices.Equal(positions, w.positions) {
				t.Errorf("%s, record %d: %q %v, want %q %v", unit, i, text, positions, w.text, w.positions)
			}
		}
	}
}

func TestPeopleArePreparedByPerson(t *testing.T) {
	s, err := Load(t.Context(), "generated_people")
	if err != nil {
		t.Fatal(err)
	}
	how := Preparation{Tokenizer: BPE, Vocabulary: 800, GroupBy: ByGroup}
	p := prepared(t, s, how)
	if shared := onBothSides(t, p, "person"); len(shared) > 0 {
		t.Errorf("people %v are on both sides", shared)
	}
	if p.Train.X.Rows != 960 || p.Test.X.Rows != 240 || p.Train.X.Cols != 127 || how.Features() != 127 {
		t.Errorf("%d and %d records of %d numbers", p.Train.X.Rows, p.Test.X.Rows, p.Train.X.Cols)
	}
	v, err := bpe.New(p.About.Vocabulary)
	if err != nil || v.Size() != 800 {
		t.Fatalf("a vocabulary of %d (%v)", len(p.About.Vocabulary), err)
	}
	row, d := p.Test.X.Row(5), s.Documents[p.Test.IDs[5]]
	var tokens []int
	for _, token := range row[:64] {
		tokens = append(tokens, int(token))
	}
	text, err := v.Decode(tokens)
	if err != nil || text != Prompt(d.Question)+d.Text {
		t.Errorf("the record is %q, the document %+v (%v)", text, d, err)
	}
	given, err := v.Tokens(Prompt(d.Question))
	if err != nil || int(row[64]) != len(given) {
		t.Errorf("the first token to predict is %v, the question has %d (%v)", row[64], len(given), err)
	}
	again := prepared(t, s, how)
	if !slices.Equal(again.Train.X.Data, p.Train.X.Data) || again.Hash != p.Hash {
		t.Error("prepared twice, the records differ")
	}
	if other := prepared(t, s, Preparation{Vocabulary: 800, GroupBy: ByGroup}); other.Hash == p.Hash || other.Train.X.Cols != 64 {
		t.Error("WordPiece gives the same records")
	}
}

func TestWhatBytePairsCannotServeIsNamed(t *testing.T) {
	s := letters(t, 10)
	s.Documents[3].Question = strings.Repeat("why ", 30)
	for words, p := range map[string]Preparation{
		`the tokenizer "moon" is not known`:                       {Tokenizer: "moon"},
		"a vocabulary file is WordPiece's":                        {Tokenizer: BPE, VocabularyFile: "vocab.txt"},
		"64 tokens to predict in a record of 64":                  {Tokenizer: BPE, Predicted: 64},
		"a vocabulary of 200 tokens, of bpe possible are 257":     {Tokenizer: BPE, Vocabulary: 200},
		`a record is "documents"; possible are`:                   {Unit: Documents},
		"document 3 (row 4): question, text and end have":         {Tokenizer: BPE, Vocabulary: 257},
		"document 0 (row 1): 29 tokens are to be predicted, a re": {Tokenizer: BPE, Vocabulary: 257, Predicted: 28, Tokens: 500},
	} {
		if _, err := s.Prepared(p, seeded()); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	if _, err := New("letters", Labels{}, []Document{{Text: "a", Label: "x", Question: "b\xff"}}); err == nil || !strings.Contains(err.Error(), "document 0: the question is broken UTF-8 at byte 1") {
		t.Errorf("a broken question: %v", err)
	}
}
