// Texts in lethe try: the flags, the forget sets, the settings of the training.

package command

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/own"
	"github.com/lethe-ml/lethe/datasets/texts"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/unlearn"

	"github.com/spf13/pflag"
)

// The defaults of the training on texts: a small network needs steps, and not many epochs.
const (
	textBatch  = 32
	textEpochs = 10
	textSeeds  = 3
)

// textData are the flags for texts.
type textData struct {
	file, column      string
	tokens, documents int
	dropEmpty         bool
}

func (d *textData) flags(f *pflag.FlagSet) {
	f.StringVar(&d.file, "text", "", "texts in a table in CSV or TSV, with --column and --target")
	f.StringVar(&d.column, "column", "", "column of the texts")
	f.IntVar(&d.tokens, "tokens", 0, "tokens of a window; longer texts are cut into several (default: 16 to 64, by the texts)")
	f.IntVar(&d.documents, "max-documents", 0, "use a random part of the texts (default: all)")
	f.BoolVar(&d.dropEmpty, "drop-empty", false, "leave out the rows without a text")
}

func (d *textData) options() []own.TableOption {
	out := []own.TableOption{own.Column(d.column)}
	if d.tokens > 0 {
		out = append(out, own.Tokens(d.tokens))
	}
	if d.documents > 0 {
		out = append(out, own.MaxDocuments(d.documents))
	}
	if d.dropEmpty {
		out = append(out, own.DropEmpty())
	}
	return out
}

// isTextSet reports whether a name is that of a set of texts.
func isTextSet(name string) bool {
	_, err := texts.Lookup(name)
	return err == nil
}

// named returns a set of texts that Lethe knows, in windows. Equal texts are in the same part.
func (d *textData) named(set string) lab.Texts {
	return lab.Texts{Set: set, Preparation: texts.Preparation{
		Unit: texts.Windows, Tokens: d.tokens, MaxDocuments: d.documents, GroupBy: texts.ByText,
	}}
}

// leastGroups is the smallest number of texts, or of groups of records, to forget unless the user says another: with
// fewer than audit.MinRecords no value is evidence.
const leastGroups = audit.MinRecords + 2

// wholeGroups is the share of the groups of a column, all of their records, for one of single records.
func wholeGroups(f lab.Random, column string) lab.ForgetSet {
	out := lab.RandomGroups{Column: column, Fraction: f.Fraction}
	if f.Fraction == 0 {
		out.Least = leastGroups
	}
	return out
}

// forgetTexts returns a forget set of whole texts for one of records: a share of the texts, or
// texts by their numbers in the file.
func forgetTexts(data lab.Data, f lab.ForgetSet) (lab.ForgetSet, error) {
	switch f := f.(type) {
	case lab.Random:
		return wholeGroups(f, texts.ColumnDocument), nil
	case lab.Records:
		return textsNumbered(f, numberingOf(data))
	case lab.Mask:
		return maskedTexts(data, f)
	}
	return f, nil
}

func numberingOf(data lab.Data) *datasets.Numbering {
	if d, is := data.(*own.Texts); is {
		return d.Numbering()
	}
	return nil
}

// maskedTexts are the texts of a mask, which has an entry per text of the file: of a mask that was made for another
// version of it nobody knows whom it means.
func maskedTexts(data lab.Data, mask lab.Mask) (lab.ForgetSet, error) {
	d, file := data.(*own.Texts)
	switch {
	case !file:
		return nil, errors.New("a mask belongs to a file of texts (--text); name the texts of a known set by their numbers")
	case len(mask) != d.Documents():
		return nil, fmt.Errorf("the mask has %d entries, there are %d texts", len(mask), d.Documents())
	}
	var numbers lab.Records
	for i, is := range mask {
		if is {
			numbers = append(numbers, i)
		}
	}
	if numbers == nil {
		return nil, errors.New("the mask names no record")
	}
	n := numberingOf(data)
	if n != nil { // the number of entries says what they count
		n = &datasets.Numbering{Kept: n.Kept, Total: n.Total}
	}
	return textsNumbered(numbers, n)
}

// textsNumbered is the condition on the texts of these numbers.
func textsNumbered(numbers lab.Records, numbering *datasets.Numbering) (lab.ForgetSet, error) {
	if _, err := numbering.IDs(numbers); err != nil {
		return nil, err
	}
	where, named := lab.Where{Column: texts.ColumnDocument, Op: datasets.In}, map[int]bool{}
	for _, n := range numbers {
		if named[n] {
			return nil, fmt.Errorf("record %d is named twice", n)
		}
		named[n] = true
		where.Values = append(where.Values, strconv.Itoa(n))
	}
	return where, nil
}

// fillTextFit sets what the command line leaves open of the training on texts.
func fillTextFit(s *lab.Setting) {
	s.Fit.Epochs, s.Fit.Batch = cmp.Or(s.Fit.Epochs, textEpochs), cmp.Or(s.Fit.Batch, textBatch)
}

// inBatches has methods take the forget set batch by batch, as RULER's on texts do: a person's texts are many windows,
// and with all of them in every step the work grows with the square of the texts.
func inBatches(methods []unlearn.Method) {
	for i, m := range methods {
		switch m := m.(type) {
		case unlearn.NegGrad:
			m.Batched = true
			methods[i] = m
		case unlearn.SCRUB:
			m.Batched = true
			methods[i] = m
		case unlearn.BadTeacher:
			m.Batched = true
			methods[i] = m
		}
	}
}
