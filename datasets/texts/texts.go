// Text sets: the types, the list of sets, and loading.

package texts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Document is one text.
type Document struct {
	// Name is what messages call it: "note 17", "row 3".
	Name string
	// Text is UTF-8 and has a character that is not white space.
	Text string
	// Question is what the text answers; "": nothing. A record of BPE's Documents predicts the
	// text from it; elsewhere it is the beginning of the text.
	Question string
	// Label is the name of its class.
	Label string
	// Group names whom it belongs to, such as a patient; "": nobody else's document does.
	Group string
	// Value, Paraphrase and Wrong are those of datasets.Question, for a text that answers one; "" and nil:
	// not known. No model is trained on them, and Texts.Hash is without them.
	Value, Paraphrase string
	Wrong             []string
}

// Labels names what the documents' labels and groups are: the columns of a prepared set that
// hold them, such as "medical_specialty" and "patient".
type Labels struct {
	Target string // "": label
	Group  string // "": group
}

// Texts is a set of documents. A document's number is its place, counted from 0.
type Texts struct {
	datasets.About
	Labels

	Documents []Document

	// Marked are the numbers of documents that a generator planted something in, by what that
	// is, ascending; nil for real texts.
	Marked map[string][]int
}

// New returns a set of the documents. About.Classes are the distinct labels, sorted as byte
// strings. It refuses a document without text or label, and broken UTF-8, with the document's
// name and number.
func New(name string, labels Labels, documents []Document) (*Texts, error) {
	t := &Texts{About: datasets.About{Name: name, Title: name}, Labels: labels, Documents: documents}
	for _, d := range documents {
		t.Classes = append(t.Classes, d.Label)
	}
	slices.Sort(t.Classes)
	t.Classes = slices.Compact(t.Classes)
	if err := t.Check(); err != nil {
		return nil, err
	}
	t.Hash = t.hash()
	return t, nil
}

// Check returns an error for documents that no records can be made of. It names the document.
func (t *Texts) Check() error {
	if len(t.Documents) == 0 {
		return fmt.Errorf("datasets: %s: there is no document", t.Name)
	}
	for i, d := range t.Documents {
		if err := t.checkDocument(d); err != nil {
			return fmt.Errorf("datasets: %s: %s: %w", t.Name, d.called(i), err)
		}
	}
	return nil
}

func (t *Texts) checkDocument(d Document) error {
	for _, f := range []struct{ what, text string }{
		{"text", d.Text}, {"question", d.Question}, {"label", d.Label}, {"group", d.Group},
		{"value", d.Value}, {"paraphrase", d.Paraphrase}, {"list of wrong answers", strings.Join(d.Wrong, "")},
	} {
		if at := brokenUTF8(f.text); at >= 0 {
			return fmt.Errorf("the %s is broken UTF-8 at byte %d (0x%02x); save the texts as UTF-8", f.what, at, f.text[at])
		}
	}
	if strings.TrimSpace(d.Text) == "" {
		return errors.New("the document has no text; leave it out, or give it its text")
	}
	if !slices.Contains(t.Classes, d.Label) {
		return fmt.Errorf("the label %q is not among the %d classes", d.Label, len(t.Classes))
	}
	return nil
}

// brokenUTF8 returns the first byte of a text that is not UTF-8, or -1.
func brokenUTF8(text string) int {
	if utf8.ValidString(text) {
		return -1
	}
	for i, r := range text {
		if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
			return i
		}
	}
	return -1
}

// fullText returns the text with its question before it.
func (d Document) fullText() string {
	if d.Question == "" {
		return d.Text
	}
	return d.Question + "\n" + d.Text
}

// asks returns what a document answers.
func (d Document) asks() datasets.Question {
	return datasets.Question{Text: d.Question, Answer: d.Text, Value: d.Value, Paraphrase: d.Paraphrase, Wrong: d.Wrong}
}

// called returns what a message calls a document.
func (d Document) called(number int) string {
	if d.Name == "" {
		return fmt.Sprintf("document %d", number)
	}
	return fmt.Sprintf("document %d (%s)", number, d.Name)
}

// hash returns the SHA-256 of the documents: the number of bytes and the bytes of text, label
// and group of each, and of its question if it has one.
func (t *Texts) hash() string {
	h := sha256.New()
	for _, d := range t.Documents {
		for _, s := range []string{d.Text, d.Label, d.Group} {
			fmt.Fprintf(h, "%d:%s", len(s), s) // a hash never returns an error
		}
		if d.Question != "" {
			fmt.Fprintf(h, "q%d:%s", len(d.Question), d.Question)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// set is one data set: its description and its loader.
type set struct {
	info   datasets.Info
	labels Labels
	// sentences is the number of sentences per document, rounded; see RecordsPerDocument.
	sentences int
	load      func(*loader) ([]Document, map[string][]int, error)
}

// sets returns every text set in the order of All.
func sets() []set { return []set{mtSamples(), sotu(), generatedReports(), generatedPeople()} }

// All returns every text set. Rows are documents, and Features is 0: it depends on how records
// are made.
func All() []datasets.Info {
	all := sets()
	out := make([]datasets.Info, len(all))
	for i, s := range all {
		out[i] = s.info
	}
	return out
}

// Lookup returns the named text set, or an error that suggests similar names.
func Lookup(name string) (datasets.Info, error) { return datasets.LookupIn(All(), name) }

// RecordsPerDocument returns about how many records a document of the named set has, for
// estimates of cost before its files are read.
func RecordsPerDocument(name string, unit Unit) int {
	if unit == Documents {
		return 1
	}
	for _, s := range sets() {
		if s.info.Name == name && unit == Sentences {
			return s.sentences
		}
	}
	return 8
}

// Load reads a set from the folder datasets.Dir and checks the hash of every file before it uses
// it. It never downloads; see package fetch. The generated set needs no file.
//
// Errors name the file, and the line or the document that cannot be read.
func Load(ctx context.Context, name string) (*Texts, error) {
	for _, s := range sets() {
		if s.info.Name == name {
			ctx, task := progress.Start(ctx, "loading "+name, 0)
			defer task.Done()
			return s.read(&loader{ctx: ctx, info: s.info})
		}
	}
	_, err := Lookup(name)
	return nil, err
}

// read loads a set and compares it with its Info.
func (s set) read(r *loader) (*Texts, error) {
	documents, marked, err := s.load(r)
	if err != nil {
		return nil, err
	}
	t := &Texts{Labels: s.labels, Documents: documents, Marked: marked, About: datasets.About{
		Name: s.info.Name, Title: s.info.Title, Classes: s.info.Classes, Sources: r.sources, Synthetic: s.info.Synthetic}}
	if len(documents) != s.info.Rows {
		return nil, fmt.Errorf("datasets: %s: %d documents, expected %d", t.Name, len(documents), s.info.Rows)
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	t.Hash = t.hash()
	return t, nil
}

// loader is one call of Load: what is read, and from which files.
type loader struct {
	ctx     context.Context
	info    datasets.Info
	sources []datasets.SourceFile
}

// file returns the path and the checked bytes of one of the set's files.
func (r *loader) file(name string) (string, []byte, error) {
	path, b, source, err := datasets.ReadFile(r.ctx, r.info, name)
	if err == nil {
		r.sources = append(r.sources, source)
	}
	return path, b, err
}
