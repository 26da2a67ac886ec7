// Preparation of documents for training: choice, split, vocabulary, records.

package texts

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/text/bpe"
	"github.com/lethe-ml/lethe/lib/text/wordpiece"
)

// GroupBy says which documents the split into a train and a test part keeps together.
type GroupBy string

// What documents are kept together by.
const (
	// ByDocument keeps nothing together but the records of a document: identical texts may
	// fall on both sides, as in the published experiment.
	ByDocument GroupBy = "document"
	// ByText keeps documents of identical text together.
	ByText GroupBy = "identical_text"
	// ByGroup keeps the documents of a Document.Group together, such as those of one person.
	ByGroup GroupBy = "group"
)

// The columns that a prepared set has besides its Labels.
const (
	// ColumnDocument is the number of the record's document, counted from 0.
	ColumnDocument = "document"
	// ColumnText is the number of the first document with the text of the record's document.
	ColumnText = "identical_text"
)

// The bounds of a preparation. A published BERT has 512 positions.
const (
	maxTokens     = 512
	minVocabulary = 50

	maxVocabularyFile = 1 << 26
)

// Preparation says how documents become records. The zero value makes a record of each
// sentence, of at most 64 tokens of a vocabulary of 2,000 that is learned from the train part.
type Preparation struct {
	Tokenizer Tokenizer `json:"tokenizer,omitempty"` // "": BERT's WordPiece
	Unit      Unit      `json:"unit,omitempty"`      // "": Sentences, of BPE Documents
	Tokens    int       `json:"tokens,omitempty"`    // of a record, [CLS] and [SEP] among them, 3 to 512; 0: 64
	// Predicted zeros follow the tokens of a record: the positions of a network with a head
	// for masked language modelling (BERT.Predicted). Of BPE they are the positions of the
	// tokens to predict (Decoder.Predicted), and 0 stands for all but the first.
	Predicted int `json:"predicted,omitempty"`

	// Vocabulary is the greatest number of tokens that are learned; 0: 2,000.
	Vocabulary int `json:"vocabulary,omitempty"`
	// VocabularyFile is the path of a vocab.txt, one token per line; nothing is learned then.
	VocabularyFile string `json:"vocabulary_file,omitempty"`

	// MaxDocuments is the greatest number of documents, 0: all. Documents of identical text
	// are kept or left out together, so that the share of copies stays about the same.
	MaxDocuments int     `json:"max_documents,omitempty"`
	GroupBy      GroupBy `json:"group_by,omitempty"` // "": ByDocument
}

// WithDefaults returns p with zeros replaced by the defaults.
func (p Preparation) WithDefaults() Preparation {
	if p.Tokenizer == BPE {
		p.Unit, p.Tokens = cmp.Or(p.Unit, Documents), cmp.Or(p.Tokens, 64)
		p.Predicted = cmp.Or(p.Predicted, p.Tokens-1)
	}
	p.Unit, p.GroupBy, p.Tokens = cmp.Or(p.Unit, Sentences), cmp.Or(p.GroupBy, ByDocument), cmp.Or(p.Tokens, 64)
	if p.VocabularyFile == "" {
		p.Vocabulary = cmp.Or(p.Vocabulary, 2000)
	}
	return p
}

// WithContent returns p with the SHA-256 of the vocabulary file in place of its path, so that it
// identifies the preparation wherever the file is; the file's name if it cannot be read.
func (p Preparation) WithContent() Preparation {
	if p.VocabularyFile == "" {
		return p
	}
	b, err := files.Read(p.VocabularyFile, maxVocabularyFile)
	if err != nil {
		p.VocabularyFile = filepath.Base(p.VocabularyFile)
		return p
	}
	sum := sha256.Sum256(b)
	p.VocabularyFile = hex.EncodeToString(sum[:])
	return p
}

// Features is the number of numbers of a record.
func (p Preparation) Features() int {
	p = p.WithDefaults()
	return p.Tokens + p.Predicted
}

// Check returns an error for a preparation that cannot be used.
func (p Preparation) Check() error {
	p = p.WithDefaults()
	if p.Tokenizer != "" {
		if err := p.checkBPE(); err != nil {
			return err
		}
	}
	switch {
	case p.Unit != Sentences && p.Unit != Windows && (p.Unit != Documents || p.Tokenizer != BPE):
		return fmt.Errorf("a record is %q; possible are %s and %s, and of %s %s", p.Unit, Sentences, Windows, BPE, Documents)
	case p.Tokens < 3 || p.Tokens > maxTokens:
		return fmt.Errorf("records of %d tokens, possible are 3 to %d", p.Tokens, maxTokens)
	case p.Predicted < 0 || p.Predicted > p.Tokens:
		return fmt.Errorf("%d positions to predict in a record of %d tokens", p.Predicted, p.Tokens)
	case p.VocabularyFile != "" && p.Vocabulary != 0:
		return errors.New("a vocabulary is read from a file, or one of a number of tokens is learned; both are given")
	case p.VocabularyFile == "" && (p.Vocabulary < minVocabulary || p.Vocabulary > wordpiece.MaxTokens):
		return fmt.Errorf("a vocabulary of %d tokens, possible are %d to %d", p.Vocabulary, minVocabulary, wordpiece.MaxTokens)
	case p.MaxDocuments < 0:
		return fmt.Errorf("%d documents", p.MaxDocuments)
	case p.GroupBy != ByDocument && p.GroupBy != ByText && p.GroupBy != ByGroup:
		return fmt.Errorf("documents are kept together by %q; possible are %s, %s and %s", p.GroupBy, ByDocument, ByText, ByGroup)
	}
	return nil
}

// Prepared makes records of the documents and splits them: about a fifth of the documents,
// drawn by rng and kept together as GroupBy says, are the test part. The records of a document
// are in one part.
//
// A record has Tokens numbers of tokens, padding after the last, and Predicted zeros, or of BPE the
// positions of the tokens to predict: those of an answer, or all but the first. IDs count
// the records over the kept documents, in their order; the columns of About have an entry for
// each: ColumnDocument, ColumnText, the label and, where documents have one, the group.
// About.Vocabulary has the tokens, of BPE as bpe.New takes them. About.Questions has the questions where
// records are whole documents.
//
// The documents of kept, by number, are in the train part, with all that GroupBy keeps together with
// them. The others are where they would be without, records have the same IDs, and the vocabulary
// is the same: it is not learned from kept documents that would be held out.
func (t *Texts) Prepared(p Preparation, rng *rand.Rand, kept ...int) (*datasets.Prepared, error) {
	out, err := t.prepared(p.WithDefaults(), rng, kept)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", t.Name, err)
	}
	return out, nil
}

func (t *Texts) prepared(p Preparation, rng *rand.Rand, kept []int) (*datasets.Prepared, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if rng == nil {
		return nil, errors.New("the generator of random numbers is nil")
	}
	chosen := t.choose(p.MaxDocuments, rng, kept)
	groups := chosen.groups(p.GroupBy)
	drawn, err := holdOut(groups, rng)
	if err != nil {
		return nil, err
	}
	isTest, err := chosen.keepInTrain(drawn, groups, kept)
	if err != nil {
		return nil, err
	}
	// The numbers of records must not depend on kept, hence drawn.
	v, err := chosen.vocabulary(p, drawn)
	if err != nil {
		return nil, err
	}
	records, err := cut(&chosen.Texts, p, v)
	if err != nil {
		return nil, err
	}
	out := chosen.assemble(p, v, records, isTest)
	for _, w := range records.windows {
		if isTest[w.document] {
			out.TestGroups = append(out.TestGroups, groups[w.document])
		}
	}
	out.Hash, err = chosen.preparedHash(p, isTest, out.About.Vocabulary)
	return out, err
}

// chosen are the documents of a set that are used. numbers are their numbers in the set.
type chosen struct {
	Texts
	numbers []int
	copies  []int   // number in the set of the first document of the same text
	all     *chosen // all documents of the set, if these are fewer
}

// onePerDocument are records of which each is a document.
func (c *chosen) onePerDocument() *cutting {
	out := &cutting{windows: make([]window, len(c.Documents))}
	for i := range out.windows {
		out.windows[i].document = i
	}
	return out
}

// choose draws documents until there are max, texts with all of their copies; 0: all.
// Documents of kept are among them.
func (t *Texts) choose(max int, rng *rand.Rand, kept []int) *chosen {
	first := t.firstCopies()
	out := &chosen{Texts: *t}
	if max == 0 || max >= len(t.Documents) {
		max = len(t.Documents)
	}
	sizes, wanted := map[int]int{}, map[int]bool{}
	for _, f := range first {
		sizes[f]++
	}
	for _, k := range kept {
		if k >= 0 && k < len(first) && !wanted[first[k]] {
			wanted[first[k]] = true
			max -= sizes[first[k]]
		}
	}
	for _, i := range rng.Perm(len(t.Documents)) {
		if first[i] == i && !wanted[i] && sizes[i] <= max {
			wanted[i] = true
			max -= sizes[i]
		}
	}
	out.Documents = nil
	for i, d := range t.Documents {
		if wanted[first[i]] {
			out.Documents = append(out.Documents, d)
			out.numbers, out.copies = append(out.numbers, i), append(out.copies, first[i])
		}
	}
	if len(out.Documents) < len(t.Documents) {
		out.all = &chosen{Texts: *t, copies: first}
		for i := range t.Documents {
			out.all.numbers = append(out.all.numbers, i)
		}
	}
	return out
}

// Folded is a text in lower case with single spaces: what texts have in common that a network can hardly tell apart.
func Folded(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// firstCopies returns for each document the number of the first one with the same text, but
// for capitals and white space.
func (t *Texts) firstCopies() []int {
	return datasets.NumberGroups(len(t.Documents), func(i int) (string, bool) { return Folded(t.Documents[i].fullText()), true })
}

// groups returns a number for each document; those of one number are kept together.
func (c *chosen) groups(by GroupBy) []int {
	switch by {
	case ByText:
		return c.copies
	case ByGroup:
		return datasets.NumberGroups(len(c.Documents), func(i int) (string, bool) { return c.Documents[i].Group, c.Documents[i].Group != "" })
	}
	return c.numbers
}

// holdOut draws groups for the test part until a fifth of the documents is there; a group that
// would be too many is passed over. It says of each document whether it is in the test part.
func holdOut(groups []int, rng *rand.Rand) ([]bool, error) {
	const share = 5
	sizes := map[int]int{}
	var order []int // groups by their first document
	for _, g := range groups {
		if sizes[g] == 0 {
			order = append(order, g)
		}
		sizes[g]++
	}
	rng.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
	room, held := max(1, len(groups)/share), map[int]bool{}
	for _, g := range order {
		if sizes[g] <= room {
			held[g] = true
			room -= sizes[g]
		}
	}
	out := make([]bool, len(groups))
	for i, g := range groups {
		out[i] = held[g]
	}
	if !slices.Contains(out, true) || !slices.Contains(out, false) {
		return nil, fmt.Errorf("%d documents in %d groups leave no train or no test part: a group is not parted, and about a fifth of the documents "+
			"is for testing", len(groups), len(order))
	}
	return out, nil
}

// keepInTrain moves the documents of these numbers, and what is kept together with them, to the
// train part.
func (c *chosen) keepInTrain(isTest []bool, groups, kept []int) ([]bool, error) {
	stays, out := map[int]bool{}, slices.Clone(isTest)
	for i, g := range groups {
		stays[g] = stays[g] || slices.Contains(kept, c.numbers[i])
	}
	for i, g := range groups {
		out[i] = isTest[i] && !stays[g]
	}
	if !slices.Contains(out, true) {
		return nil, fmt.Errorf("the %d documents to keep in the train part leave none for the test part", len(kept))
	}
	return out, nil
}

// vocabulary reads the vocabulary, or learns it from the documents that are not held out.
func (c *chosen) vocabulary(p Preparation, heldOut []bool) (encoder, error) {
	if p.VocabularyFile != "" {
		v, err := wordpiece.Read(p.VocabularyFile)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %w%s", datasets.ErrMissing, err, howToGet(p.VocabularyFile))
		}
		return pieces{v}, err
	}
	var training []string
	for i, d := range c.Documents {
		if !heldOut[i] {
			training = append(training, d.fullText())
		}
	}
	if p.Tokenizer == BPE {
		v, err := bpe.Learn(training, p.Vocabulary)
		return bytePairs{v}, err
	}
	v, err := wordpiece.Learn(training, p.Vocabulary)
	return pieces{v}, err
}

// howToGet says how a file of known weights is had, "" of other files.
func howToGet(path string) string {
	info, err := LookupWeights(filepath.Base(filepath.Dir(path)))
	switch {
	case err != nil:
		return ""
	case WeightsSHA256(info, VocabularyFile) == "":
		return ". " + strings.Join(info.Reading, " ")
	}
	return fmt.Sprintf(". Get it with: lethe data get %s", info.Name)
}

// assemble returns the records in both parts.
func (c *chosen) assemble(p Preparation, v encoder, records *cutting, isTest []bool) *datasets.Prepared {
	var parts [2]datasets.Part
	counts := [2]int{}
	for _, w := range records.windows {
		counts[partOf(isTest[w.document])]++
	}
	for k, n := range counts {
		parts[k] = datasets.Part{X: array.New[float32](n, p.Features()), Y: make([]int, 0, n), IDs: make([]int, 0, n)}
	}
	for id, w := range records.windows {
		part := &parts[partOf(isTest[w.document])]
		to := part.X.Row(len(part.Y))
		v.write(w, to, p.Tokens)
		part.Y = append(part.Y, slices.Index(c.Classes, c.Documents[w.document].Label))
		part.IDs = append(part.IDs, id)
	}
	about := c.About
	about.Columns, about.Planted, about.Vocabulary = c.columns(records), c.planted(records), v.entries()
	about.Questions = c.questions(p, records)
	if c.all != nil {
		about.Whole = c.all.columns(c.all.onePerDocument())
	}
	switch {
	case p.GroupBy == ByGroup:
		about.GroupColumn = cmp.Or(c.Group, "group")
	case p.GroupBy == ByText && p.Unit == Windows:
		about.GroupColumn = ColumnText // windows of one text are no independent records
	}
	about.Caveat = strings.TrimSpace(about.Caveat + " " + records.note(p))
	return &datasets.Prepared{About: about, Train: parts[0], Test: parts[1]}
}

func partOf(isTest bool) int {
	if isTest {
		return 1
	}
	return 0
}

// columns returns what is known of each record's document.
func (c *chosen) columns(records *cutting) []datasets.Column {
	n := len(records.windows)
	document := datasets.Column{Name: ColumnDocument, Numbers: make([]float64, n)}
	text := datasets.Column{Name: ColumnText, Numbers: make([]float64, n)}
	label := datasets.Column{Name: cmp.Or(c.Target, "label"), Kind: datasets.Category, Codes: make([]int32, n), Values: c.Classes}
	var groups []string
	ids := make([]int32, n)
	known := map[string]int32{"": -1}
	for i, w := range records.windows {
		d := c.Documents[w.document]
		document.Numbers[i], text.Numbers[i] = float64(c.numbers[w.document]), float64(c.copies[w.document])
		label.Codes[i] = int32(slices.Index(c.Classes, d.Label))
		if _, is := known[d.Group]; !is {
			known[d.Group] = int32(len(groups))
			groups = append(groups, d.Group)
		}
		ids[i] = known[d.Group]
	}
	out := []datasets.Column{document, text, label}
	if groups != nil {
		out = append(out, datasets.NewTextColumn(cmp.Or(c.Group, "group"), datasets.Category, ids, groups))
	}
	return out
}

// questions returns what each record asks; nil where no record is the answer to a question.
func (c *chosen) questions(p Preparation, records *cutting) []datasets.Question {
	asks := func(d Document) bool { return d.Question != "" }
	if p.Unit != Documents || !slices.ContainsFunc(c.Documents, asks) {
		return nil
	}
	var out []datasets.Question
	for _, w := range records.windows {
		out = append(out, c.Documents[w.document].asks())
	}
	return out
}

// planted returns the records of marked documents, by what marks them.
func (c *chosen) planted(records *cutting) map[string][]int {
	if c.Marked == nil {
		return nil
	}
	out := map[string][]int{}
	for name, documents := range c.Marked {
		for id, w := range records.windows {
			if _, is := slices.BinarySearch(documents, c.numbers[w.document]); is {
				out[name] = append(out[name], id)
			}
		}
	}
	return out
}

// preparedHash identifies the prepared data: they follow from the set, how records are made,
// the documents of both parts and the vocabulary.
func (c *chosen) preparedHash(p Preparation, isTest []bool, tokens []string) (string, error) {
	p.Vocabulary, p.VocabularyFile, p.MaxDocuments, p.GroupBy = 0, "", 0, ""
	how, err := json.Marshal(p)
	h := sha256.New()
	h.Write([]byte(c.Hash))
	h.Write(how)
	for i, number := range c.numbers {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(2*number+partOf(isTest[i]))))
	}
	h.Write([]byte(strings.Join(tokens, "\n")))
	return hex.EncodeToString(h.Sum(nil)), err
}
