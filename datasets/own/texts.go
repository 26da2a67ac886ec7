// Texts of the user's own: reading, and preparation for training.

package own

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/texts"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/text/wordpiece"
)

// Texts are texts of the user's own, read and checked.
type Texts struct {
	report  Report
	set     *texts.Texts
	columns []datasets.Column // of the documents: all columns of the file but the texts
	how     texts.Preparation
	key     string
	info    datasets.Info
	numbers *datasets.Numbering // of the documents in the file
}

// ReadTexts reads texts from a table in CSV or TSV, plain or as .gz, such as reports with a
// diagnosis. Column names the column of the texts, and Target that of the classes.
//
// The file is read as ReadTable reads it: UTF-8, quoted cells, which can go over several lines,
// missing cells. The other columns are no features; a forget set can name them, as in
// patient_id=17, and Group keeps the texts of one patient together in the split. A row without a
// text is an error unless DropEmpty leaves it out.
//
// A record is a window of a text: numbers of the tokens of a vocabulary that is learned from the
// texts of the train part. A text that is longer than a window is cut into several, which are in
// the same part and have the same cells in all columns; String says how many texts that are.
// The column texts.ColumnDocument has the number of the row in the file, counted from 0 over all
// rows, those that are left out among them.
//
// Errors name the file, the line and the column.
func ReadTexts(path string, options ...TableOption) (*Texts, error) {
	defer progress.Begin("reading "+filepath.Base(path), 0).Done()
	ctx, s := context.Background(), &tableSettings{Texts: &textSettings{}}
	for _, o := range options {
		if err := o(s); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if s.CopiesTogether {
		return nil, fmt.Errorf("%s: CopiesTogether() is an option of tables; equal texts are kept together where no Group is named", path)
	}
	s.Texts.Group, s.Group = s.Group, ""
	b, err := readFile(ctx, path, s)
	if err != nil {
		return nil, err
	}
	t, err := b.documents(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// textRole returns what a column of a file of texts is used for. That of the target is not asked.
func (b *build) textRole(j int) Role {
	switch b.names[j] {
	case b.settings.Texts.Column:
		return RoleText
	case b.settings.Texts.Group:
		return RoleGroup
	case b.settings.Target:
		return RoleTarget
	}
	return RoleIdentifier
}

// documents makes documents of the rows, and checks that a model can be trained.
func (b *build) documents(ctx context.Context) (*Texts, error) {
	described := &Table{}
	if err := b.describeColumns(described); err != nil {
		return nil, err
	}
	b.addNotes(&described.report)
	t := &Texts{report: described.report, numbers: b.numbering()}
	t.report.Texts = b.settings.Texts.Column
	text, group := datasets.Column{}, datasets.Column{}
	for _, c := range described.about.Columns {
		if c.Name == b.settings.Texts.Column {
			text = c
			continue
		}
		if c.Name == b.settings.Texts.Group {
			group = c
		}
		t.columns = append(t.columns, c)
	}
	words, err := b.countWords(text)
	if err != nil {
		return nil, err
	}
	list := make([]texts.Document, b.rows)
	for i := range list {
		list[i] = texts.Document{
			Name: fmt.Sprintf("line %d", b.lines[i]), Text: text.Values[text.Codes[i]],
			Label: described.about.Classes[described.y[i]], Group: cellText(group, i),
		}
	}
	labels := texts.Labels{Target: b.settings.Target, Group: b.settings.Texts.Group}
	if t.set, err = texts.New(dataName(b.path), labels, list); err != nil {
		return nil, err
	}
	t.set.Classes = described.about.Classes // numbers in their order
	t.report.Classes = classCounts(described.y, described.about.Classes)
	t.report.addNamesAlike(described.about.Columns)
	return t, t.describe(ctx, b, words)
}

// cellText returns a cell as a text, "" for a missing one or for no column.
func cellText(c datasets.Column, i int) string {
	switch {
	case c.Name == "" || c.Missing(i):
		return ""
	case c.Kind.Numeric():
		return formatNumber(c.Numbers[i])
	}
	return c.Values[c.Codes[i]]
}

// countWords returns the number of words of every row's text. A text without a word is an error.
func (b *build) countWords(text datasets.Column) ([]int, error) {
	ofText := make([]int, len(text.Values))
	for k, value := range text.Values {
		ofText[k] = len(wordpiece.Words(value))
	}
	out := make([]int, b.rows)
	for i, code := range text.Codes {
		if out[i] = ofText[code]; out[i] == 0 {
			return nil, fmt.Errorf("line %d, column %s: the text %q has no word; DropEmpty() leaves such rows out", b.lines[i], b.settings.Texts.Column,
				clip(text.Values[code]))
		}
	}
	return out, nil
}

// The number of tokens of a window, if no option says it.
const (
	leastWindow = 16
	mostWindow  = 64
)

// windowFor returns a number of tokens, a multiple of 8, with which nine of ten texts of so many
// words are one window, as long as it is not above mostWindow. A learned vocabulary makes about
// three tokens of two words.
func windowFor(words []int) int {
	sorted := slices.Sorted(slices.Values(words))
	tokens := 2 + 3*sorted[(len(sorted)-1)*9/10]/2
	return min(max((tokens+7)/8*8, leastWindow), mostWindow)
}

// describe fills in what is known of the data. It prepares them once, so that what cannot be
// prepared is found now.
func (t *Texts) describe(ctx context.Context, b *build, words []int) error {
	s := *b.settings.Texts
	if s.Tokens == 0 {
		s.Tokens = windowFor(words)
	}
	t.how = texts.Preparation{Unit: texts.Windows, Tokens: s.Tokens, MaxDocuments: s.MaxDocuments, GroupBy: texts.ByText}
	if s.Group != "" {
		t.how.GroupBy = texts.ByGroup
	}
	t.how = t.how.WithDefaults()
	t.set.Sources = []datasets.SourceFile{{Name: filepath.Base(b.path), SHA256: b.hash}}
	t.set.Title = filepath.Base(b.path)
	resolved := *b.settings
	resolved.Texts = &s
	t.key = key("texts", struct {
		Settings *tableSettings
		How      texts.Preparation
		Columns  []keyColumn
		Rows     int
		Numbered bool `json:",omitempty"` // as of a table
	}{&resolved, t.how, keyColumns(t.report), b.rows, t.numbers != nil}, b.hash)
	t.set.Hash = t.key
	p, err := t.Prepare(ctx, 0)
	if err != nil {
		return err
	}
	records := p.Train.X.Rows + p.Test.X.Rows
	t.addNotes(p, records)
	t.info = datasets.Info{
		Name: t.set.Name, Title: t.set.Title, Task: "what is in the column " + b.settings.Target,
		Rows: records, Features: t.how.Features(), Classes: t.set.Classes, Vocabulary: t.how.Vocabulary, Estimated: true,
		Description: fmt.Sprintf("Texts of the user's own: %d texts, %d windows of %d tokens.", b.rows, records, t.how.Tokens), Reading: t.report.Notes,
	}
	return nil
}

// addNotes says how the texts became records, and how many are there more than once.
func (t *Texts) addNotes(p *datasets.Prepared, records int) {
	note := func(format string, args ...any) {
		t.report.Notes = append(t.report.Notes, fmt.Sprintf(format, args...))
	}
	if t.how.MaxDocuments > 0 && t.how.MaxDocuments < len(t.set.Documents) {
		note("At most %d of the texts are used, drawn at random.", t.how.MaxDocuments)
	}
	note("The records are %s of %d tokens; those of one text are in the same part and are forgotten together.", count(records, "window"), t.how.Tokens)
	if p.About.Caveat != "" {
		t.report.Notes = append(t.report.Notes, p.About.Caveat)
	}
	if copies := t.copies(); copies > 0 {
		note("%d of %d texts are in the file more than once: a copy that is not forgotten too keeps the text known.", copies, len(t.set.Documents))
	}
}

// copies returns the number of documents whose text another document has, but for capitals and white space.
func (t *Texts) copies() (n int) {
	times := map[string]int{}
	for _, d := range t.set.Documents {
		times[texts.Folded(d.Text)]++
	}
	for _, of := range times {
		if of > 1 {
			n += of
		}
	}
	return n
}

// Report returns what was found.
func (t *Texts) Report() Report { return t.report }

// String prints what was found, as Table.String.
func (t *Texts) String() string { return t.report.String() }

// Numbering says how the texts are numbered in the file; nil: from 0, as they are.
func (t *Texts) Numbering() *datasets.Numbering { return t.numbers }

// Documents is the number of texts in the file, with those that were left out.
func (t *Texts) Documents() int {
	if t.numbers != nil && t.numbers.Kept != nil {
		return t.numbers.Total
	}
	return len(t.set.Documents)
}

// Name returns the name of the file without its extension: letters, digits, _ and - only.
func (t *Texts) Name() string { return t.set.Name }

// Key identifies the file and how it is read.
func (t *Texts) Key() string { return t.key }

// Info describes the texts. Its number of records is that of Prepare with shift 0; a split with
// another vocabulary has about as many.
func (t *Texts) Info() (datasets.Info, error) { return t.info, nil }

// Prepare makes records of the texts and splits these: about 20 % are the test part, drawn with
// the seed 999 + shift. The IDs count the windows of all texts in the order of the file.
func (t *Texts) Prepare(ctx context.Context, shift int) (*datasets.Prepared, error) {
	return t.prepare(ctx, shift, nil)
}

// PrepareKeeping is Prepare with the texts of the given records in the train part: whoever asks
// to be forgotten was trained on.
func (t *Texts) PrepareKeeping(ctx context.Context, shift int, records []int) (*datasets.Prepared, error) {
	p, err := t.prepare(ctx, shift, nil)
	if err != nil {
		return nil, err
	}
	document := p.About.Columns[0].Numbers
	var kept []int
	for _, id := range records {
		if id < 0 || id >= len(document) {
			return nil, fmt.Errorf("there is no record %d; records count from 0, and there are %d", id, len(document))
		}
		kept = append(kept, t.position(document[id]))
	}
	slices.Sort(kept)
	return t.prepare(ctx, shift, slices.Compact(kept))
}

// PrepareDocuments is Prepare with the texts of these numbers in the file in the train part, whether
// MaxDocuments draws them or not.
func (t *Texts) PrepareDocuments(ctx context.Context, shift int, documents []int) (*datasets.Prepared, error) {
	kept := make([]int, len(documents))
	for i, n := range documents {
		kept[i] = t.position(float64(n))
	}
	return t.prepare(ctx, shift, kept)
}

// position returns the position of a document that has a number in the file.
func (t *Texts) position(number float64) int {
	if t.numbers == nil || t.numbers.Kept == nil {
		return int(number)
	}
	at, _ := slices.BinarySearch(t.numbers.Kept, int(number))
	return at
}

// prepare prepares the records with the documents of these numbers in the train part. The first
// column is texts.ColumnDocument, the second texts.ColumnText, the others are the file's.
func (t *Texts) prepare(ctx context.Context, shift int, kept []int) (*datasets.Prepared, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := t.set.Prepared(t.how, rand.New(rand.NewPCG(uint64(splitSeed+shift), 0)), kept...)
	if err != nil {
		return nil, err
	}
	columns := make([]datasets.Column, 2, 2+len(t.columns))
	for _, c := range p.About.Columns {
		switch c.Name {
		case texts.ColumnDocument:
			columns[0] = c
		case texts.ColumnText:
			columns[1] = c
		}
	}
	rows := make([]int, columns[0].Rows())
	numbers := make([]float64, len(rows))
	for id, position := range columns[0].Numbers {
		rows[id] = int(position)
		numbers[id] = float64(t.numbers.Number(rows[id]))
	}
	columns[0].Numbers = numbers
	p.About.Columns = append(columns, datasets.GatherColumns(t.columns, rows)...)
	if whole := p.About.Whole; whole != nil {
		for i := range whole[0].Numbers {
			whole[0].Numbers[i] = float64(t.numbers.Number(i))
		}
		p.About.Whole = append(whole[:1:1], t.columns...)
	}
	return p, nil
}
