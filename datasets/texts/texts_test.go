// Tests of the sets, of sentences and of records.

package texts

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/text/wordpiece"
)

func seeded() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func prepared(t *testing.T, s *Texts, p Preparation, kept ...int) *datasets.Prepared {
	t.Helper()
	out, err := s.Prepared(p, seeded(), kept...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func generated(t *testing.T) *Texts {
	t.Helper()
	s, err := Load(t.Context(), "generated_reports")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// letters returns documents of a few words, each text twice, of two people.
func letters(t *testing.T, n int) *Texts {
	t.Helper()
	var documents []Document
	for i := range n {
		documents = append(documents, Document{
			Name: fmt.Sprintf("row %d", i+1), Text: fmt.Sprintf("Letter number %d. It is short!", i/2), Label: []string{"ward a", "ward b"}[i%2],
			Group: fmt.Sprintf("person %d", i%5),
		})
	}
	s, err := New("letters", Labels{Target: "ward", Group: "person"}, documents)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSentencesEndAtMarksAndEmptyLines(t *testing.T) {
	for text, want := range map[string][]string{
		"One. Two! Three? Four":             {"One.", "Two!", "Three?", "Four"},
		"  A 2.5 mg dose.\nThen rest.  ":    {"A 2.5 mg dose.", "Then rest."},
		"A heading\n\nA text\nof two lines": {"A heading", "A text\nof two lines"},
		"A heading\n \nA text":              {"A heading", "A text"},
		"Dr. Smith slept.":                  {"Dr.", "Smith slept."},
		"ends.,PLAN: ,1.  Rest":             {"ends.,PLAN: ,1.", "Rest"},
		" \n\n ":                            nil,
		"":                                  nil,
	} {
		if got := SplitSentences(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzSplitSentences: no character but white space is lost, and no sentence is empty.
func FuzzSplitSentences(f *testing.F) {
	f.Add("One. Two!\n\nThree")
	f.Add("\xff. \x00")
	f.Fuzz(func(t *testing.T, text string) {
		strip := func(s string) string { return strings.Join(strings.Fields(s), "") }
		var all strings.Builder
		for _, s := range SplitSentences(text) {
			if strings.TrimSpace(s) == "" {
				t.Errorf("an empty sentence of %q", text)
			}
			all.WriteString(s)
		}
		if strip(all.String()) != strip(text) {
			t.Errorf("%q became %q", text, all.String())
		}
	})
}

// The records of three sentences by hand. The vocabulary is learned, so that its order is: special
// tokens, characters, words.
func TestRecordsOfThreeSentences(t *testing.T) {
	documents := []Document{{Text: "The cat sat. A dog ran and ran.", Label: "x"}, {Text: "The end.", Label: "y"}}
	s, err := New("three", Labels{}, documents)
	if err != nil {
		t.Fatal(err)
	}
	p := Preparation{Tokens: 6, Predicted: 1}.WithDefaults()
	v, err := wordpiece.New([]string{wordpiece.Pad, wordpiece.Unknown, wordpiece.CLS, wordpiece.Sep, wordpiece.Mask, ".", "the", "cat", "sat", "a", "dog", "ran", "and"})
	if err != nil {
		t.Fatal(err)
	}
	c := s.choose(0, seeded(), nil)
	records, err := cut(s, p, pieces{v})
	if err != nil {
		t.Fatal(err)
	}
	got := c.assemble(p, pieces{v}, records, []bool{false, true})
	want := [][]float32{
		{2, 6, 7, 8, 5, 3, 0},    // the cat sat .
		{2, 9, 10, 11, 12, 3, 0}, // a dog ran and: the sentence is cut
		{2, 11, 5, 3, 0, 0, 0},   // ran .
	}
	for i, row := range want {
		if !slices.Equal(got.Train.X.Row(i), row) {
			t.Errorf("record %d is %v, want %v", i, got.Train.X.Row(i), row)
		}
	}
	if row := []float32{2, 6, 1, 5, 3, 0, 0}; got.Train.X.Rows != 3 || got.Test.X.Rows != 1 || !slices.Equal(got.Test.X.Row(0), row) {
		t.Errorf("%d and %d records, the last %v, want %v", got.Train.X.Rows, got.Test.X.Rows, got.Test.X.Row(0), row)
	}
	if !slices.Equal(got.Train.IDs, []int{0, 1, 2}) || !slices.Equal(got.Test.IDs, []int{3}) || !slices.Equal(got.Train.Y, []int{0, 0, 0}) || got.Test.Y[0] != 1 {
		t.Errorf("IDs %v and %v, labels %v and %v", got.Train.IDs, got.Test.IDs, got.Train.Y, got.Test.Y)
	}
	if want := "1 of 3 sentences are longer than 6 tokens and are cut into windows."; got.About.Caveat != want {
		t.Errorf("the caveat is %q, want %q", got.About.Caveat, want)
	}
}

func TestWhatStaysTogetherIsNeverOnBothSides(t *testing.T) {
	for _, s := range []*Texts{generated(t), letters(t, 40)} {
		for by, column := range map[GroupBy]string{ByDocument: ColumnDocument, ByText: ColumnText, ByGroup: s.Group} {
			p := prepared(t, s, Preparation{Tokens: 16, Vocabulary: 300, GroupBy: by})
			for _, name := range []string{ColumnDocument, column} {
				if shared := onBothSides(t, p, name); len(shared) > 0 {
					t.Errorf("%s by %s: %s %v is on both sides", s.Name, by, name, shared)
				}
			}
			if n := len(documentsIn(t, p, p.Test)); n < 1 || n > len(s.Documents)/5 {
				t.Errorf("%s by %s: %d of %d documents are held out", s.Name, by, n, len(s.Documents))
			}
		}
	}
	// As published, some copy is on both sides: else the test would show nothing.
	if len(onBothSides(t, prepared(t, generated(t), Preparation{Tokens: 16}), ColumnText)) == 0 {
		t.Error("no text is on both sides of a split by document")
	}
}

// cellsOf returns the values of a column in a part.
func cellsOf(t *testing.T, p *datasets.Prepared, name string, part datasets.Part) map[float64]bool {
	t.Helper()
	k := slices.IndexFunc(p.About.Columns, func(c datasets.Column) bool { return c.Name == name })
	if k < 0 {
		t.Fatalf("there is no column %s", name)
	}
	out := map[float64]bool{}
	for _, id := range part.IDs {
		if c := p.About.Columns[k]; c.Kind.Numeric() {
			out[c.Numbers[id]] = true
		} else {
			out[float64(c.Codes[id])] = true
		}
	}
	return out
}

func documentsIn(t *testing.T, p *datasets.Prepared, part datasets.Part) map[float64]bool {
	t.Helper()
	return cellsOf(t, p, ColumnDocument, part)
}

func onBothSides(t *testing.T, p *datasets.Prepared, name string) (out []float64) {
	t.Helper()
	test := cellsOf(t, p, name, p.Test)
	for v := range cellsOf(t, p, name, p.Train) {
		if test[v] {
			out = append(out, v)
		}
	}
	return out
}

func TestKeptDocumentsAreInTheTrainPartAndNothingElseMoves(t *testing.T) {
	s := generated(t)
	how := Preparation{Tokens: 16, MaxDocuments: 200}
	before := prepared(t, s, how)
	held := slices.Sorted(func(yield func(int) bool) {
		for d := range documentsIn(t, before, before.Test) {
			if !yield(int(d)) {
				return
			}
		}
	})
	after := prepared(t, s, how, held[0], held[3])
	if got := documentsIn(t, after, after.Test); len(got) != len(held)-2 || got[float64(held[0])] || got[float64(held[3])] || !got[float64(held[1])] {
		t.Errorf("kept %d and %d of %v, held out are %v", held[0], held[3], held, got)
	}
	if !slices.Equal(before.About.Vocabulary, after.About.Vocabulary) || !reflect.DeepEqual(before.About.Columns, after.About.Columns) {
		t.Error("the records or the vocabulary are others")
	}
	if before.Hash == after.Hash {
		t.Error("the hash is the same")
	}
	if _, err := s.Prepared(how, seeded(), held...); err == nil || !strings.Contains(err.Error(), "leave none for the test part") {
		t.Errorf("all are kept: %v", err)
	}
}

func TestASubsetKeepsCopiesTogether(t *testing.T) {
	s := generated(t)
	p := prepared(t, s, Preparation{Tokens: 16, MaxDocuments: 150})
	used := documentsIn(t, p, p.Train)
	for d := range documentsIn(t, p, p.Test) {
		used[d] = true
	}
	if n := len(used); n > 150 || n < 148 {
		t.Errorf("%d documents", n)
	}
	for i, first := range s.firstCopies() {
		if used[float64(i)] != used[float64(first)] {
			t.Errorf("document %d is used: %v, its copy %d: %v", i, used[float64(i)], first, used[float64(first)])
		}
	}
}

// The twin compares every forgotten document with every other by its text.
func TestCopiesAreThoseOfComparingAllTexts(t *testing.T) {
	s := generated(t)
	p := prepared(t, s, Preparation{Tokens: 16})
	document := p.About.Columns[0]
	forget := map[int]bool{3: true, 17: true, 18: true, 90: true, 200: true, 311: true}
	train, test := documentsIn(t, p, p.Train), documentsIn(t, p, p.Test)
	var rows []int
	for row, id := range p.Train.IDs {
		if forget[int(document.Numbers[id])] {
			rows = append(rows, row)
		}
	}
	var want Copies
	for d := range forget {
		if !train[float64(d)] {
			continue
		}
		inRetain, inTest := false, false
		for i, other := range s.Documents {
			if other.Text != s.Documents[d].Text {
				continue
			}
			inRetain = inRetain || train[float64(i)] && !forget[i]
			inTest = inTest || test[float64(i)]
		}
		want.Documents++
		want.InRetain += oneIf(inRetain)
		want.InTest += oneIf(inTest)
		want.InEither += oneIf(inRetain || inTest)
	}
	got, err := CountCopies(p, rows)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Rows)+len(got.Without) != len(rows) || want.InRetain == 0 || want.InRetain == want.Documents {
		t.Errorf("%d rows with and %d without a copy of %d; %+v", len(got.Rows), len(got.Without), len(rows), want)
	}
	got.Rows, got.Without = nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("copies %+v, want %+v", got, want)
	}
	if _, err := CountCopies(p, []int{-1}); err == nil {
		t.Error("row -1 is counted")
	}
}

func TestGeneratedReportsAreAsTheySay(t *testing.T) {
	s := generated(t)
	if want := "4acf81be843751decea4bd5d74ce4466b4cfd96cf8ce3fef01e4ea02e20a3801"; s.Hash != want {
		t.Errorf("the hash is %s, want %s: the generated set must never change", s.Hash, want)
	}
	texts := map[string]int{}
	for _, d := range s.Documents {
		texts[d.Text]++
	}
	if len(texts) != reportTexts || len(s.Marked[MarkCopies]) != reportCopies || len(s.Marked[MarkCopied]) != reportCopies {
		t.Errorf("%d texts, %d copies of %d", len(texts), len(s.Marked[MarkCopies]), len(s.Marked[MarkCopied]))
	}
	for mark, phrase := range map[string]string{MarkNames: "The name of the patient is", MarkDates: "The date of birth is", MarkDrugs: "every morning."} {
		found := map[string]bool{}
		for _, i := range s.Marked[mark] {
			found[s.Documents[i].Text] = strings.Contains(s.Documents[i].Text, phrase)
		}
		if len(found) != reportMarked || slices.Contains(slices.Collect(mapValues(found)), false) {
			t.Errorf("%s: %d texts, want %d with %q", mark, len(found), reportMarked, phrase)
		}
	}
	p := prepared(t, s, Preparation{Tokens: 16})
	for mark, records := range p.About.Planted {
		for _, id := range records {
			if _, is := slices.BinarySearch(s.Marked[mark], int(p.About.Columns[0].Numbers[id])); !is {
				t.Fatalf("record %d is marked %s, its document is not", id, mark)
			}
		}
	}
}

func mapValues(m map[string]bool) func(func(bool) bool) {
	return func(yield func(bool) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

func TestDocumentsThatCannotBeUsedAreNamed(t *testing.T) {
	good := Document{Name: "row 1", Text: "A text.", Label: "x"}
	for words, documents := range map[string][]Document{
		"there is no document":                                          nil,
		"document 1 (row 2): the document has no text":                  {good, {Name: "row 2", Text: " \n", Label: "x"}},
		"document 1 (row 2): the text is broken UTF-8 at byte 2 (0xff)": {good, {Name: "row 2", Text: "ab\xffc", Label: "x"}},
		"document 1 (row 2): the label is broken UTF-8 at byte 0":       {good, {Name: "row 2", Text: "ab", Label: "\x80"}},
		"document 0: the group is broken UTF-8":                         {{Text: "ab", Label: "x", Group: "\x80"}},
	} {
		if _, err := New("letters", Labels{}, documents); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	silent := letters(t, 10)
	silent.Documents[4].Text = "\u200b" // a control character, of which no token is made
	if _, err := silent.Prepared(Preparation{}, seeded()); err == nil || !strings.Contains(err.Error(), "document 4 (row 5): the text has no word") {
		t.Errorf("a text without a word: %v", err)
	}
	for words, p := range map[string]Preparation{
		`a record is "pages"`:                   {Unit: "pages"},
		"records of 513 tokens, possible are 3": {Tokens: 513},
		"records of 2 tokens":                   {Tokens: 2},
		"65 positions to predict in a record":   {Predicted: 65},
		"a vocabulary of 7 tokens":              {Vocabulary: 7},
		"both are given":                        {Vocabulary: 100, VocabularyFile: "vocab.txt"},
		"-1 documents":                          {MaxDocuments: -1},
		`documents are kept together by "moon"`: {GroupBy: "moon"},
		"file not found":                        {VocabularyFile: t.TempDir() + "/vocab.txt"},
	} {
		if _, err := letters(t, 10).Prepared(p, seeded()); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	if _, err := letters(t, 10).Prepared(Preparation{}, nil); err == nil {
		t.Error("no generator is accepted")
	}
	if _, err := letters(t, 2).Prepared(Preparation{GroupBy: ByText}, seeded()); err == nil || !strings.Contains(err.Error(), "leave no train or no test part") {
		t.Errorf("one group: %v", err)
	}
}

func TestALongDocumentBecomesWindows(t *testing.T) {
	s := letters(t, 10)
	s.Documents[0].Text = strings.Repeat("a word ", 700)
	p := prepared(t, s, Preparation{Unit: Windows, Tokens: 512, Vocabulary: 60})
	n := 0
	for _, d := range p.About.Columns[0].Numbers {
		n += oneIf(d == 0)
	}
	if n < 3 || !strings.Contains(p.About.Caveat, "1 of 10 documents are longer than 512 tokens") {
		t.Errorf("%d windows; %q", n, p.About.Caveat)
	}
}

func TestNotesAreReadByRow(t *testing.T) {
	header := strings.Join(mtSamplesColumns, ",") + "\n"
	got, without, err := readNotes("f.csv", strings.NewReader(header+"1,d, Surgery ,s,\"A text, quoted.\",k\n2,d,Surgery,s,  ,k\n7,d,Urology,s,More.,\n"))
	want := []Document{{Name: "note 1", Text: "A text, quoted.", Label: "Surgery"}, {Name: "note 7", Text: "More.", Label: "Urology"}}
	if err != nil || without != 1 || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %d without text, %v", got, without, err)
	}
	for words, text := range map[string]string{
		"line 1: the columns are":                       "a,b,c,d,e,f\n",
		"f.csv: EOF":                                    "",
		"wrong number of fields":                        header + "1,2\n",
		"f.csv:3: the transcription is broken UTF-8 at": header + "1,d,x,s,good,k\n2,d,x,s,b\xffd,k\n",
	} {
		if _, _, err := readNotes("f.csv", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
}

func TestAddressesAreNamedByTheirFiles(t *testing.T) {
	got, err := addresses(map[string][]byte{"./1841_john_tyler_wd.txt": []byte("B"), "1790_george_washington_n.txt": []byte("A")})
	want := []Document{
		{Name: "1841_john_tyler_wd", Text: "B", Label: "Whig and Democratic", Group: "john tyler"},
		{Name: "1790_george_washington_n", Text: "A", Label: "none", Group: "george washington"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := addresses(map[string][]byte{"1790_x_zz.txt": nil}); err == nil || !strings.Contains(err.Error(), `the party "zz" is none of`) {
		t.Errorf("an unknown party: %v", err)
	}
}

func TestAVocabularyIsKnownByItsContent(t *testing.T) {
	if p := (Preparation{VocabularyFile: "/not/here/vocab.txt"}).WithContent(); p.VocabularyFile != "vocab.txt" {
		t.Errorf("a missing file is %q", p.VocabularyFile)
	}
	if p := (Preparation{Vocabulary: 100}).WithContent(); p != (Preparation{Vocabulary: 100}) {
		t.Errorf("%+v", p)
	}
}

// Every document has a word of its own. That of a held-out document is not in the vocabulary.
func TestTheVocabularyIsLearnedFromTheTrainPart(t *testing.T) {
	var documents []Document
	for i := range 40 {
		word := strings.Repeat(string(rune('a'+i%20)), 3) + strings.Repeat(string(rune('b'+i/20)), 4)
		documents = append(documents, Document{Name: word, Text: word + " is here. Look at " + word + "!", Label: []string{"x", "y"}[i%2]})
	}
	s, err := New("words", Labels{}, documents)
	if err != nil {
		t.Fatal(err)
	}
	p := prepared(t, s, Preparation{Tokens: 16, Vocabulary: 1000})
	test := documentsIn(t, p, p.Test)
	for i, d := range documents {
		if known := slices.Contains(p.About.Vocabulary, d.Name); known == test[float64(i)] {
			t.Errorf("the word of document %d, held out %v, is in the vocabulary: %v", i, test[float64(i)], known)
		}
	}
}

// Windows of one text are one group, in files of users; sentences in the paper's experiment are records.
func TestTheGroupOfWindows(t *testing.T) {
	for _, c := range []struct {
		unit Unit
		by   GroupBy
		want string
	}{
		{Windows, ByText, ColumnText}, {Sentences, ByText, ""}, {Windows, ByDocument, ""}, {Windows, ByGroup, "patient"},
	} {
		if got := prepared(t, generated(t), Preparation{Tokens: 16, Unit: c.unit, GroupBy: c.by}).About.GroupColumn; got != c.want {
			t.Errorf("%s by %s: %q, want %q", c.unit, c.by, got, c.want)
		}
	}
}
