// Texts in lethe try: the flags, the forget sets, the settings of the training.

package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
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
	numbers := lab.Records{}
	var numbering *datasets.Numbering
	own, isOwn := data.(*own.Texts)
	if isOwn {
		numbering = own.Numbering()
	}
	switch f := f.(type) {
	case lab.Random:
		return wholeGroups(f, texts.ColumnDocument), nil
	case lab.Records:
		numbers = f
	case lab.Mask:
		if isOwn && len(f) != own.Documents() {
			return nil, fmt.Errorf("the mask has %d entries, there are %d texts", len(f), own.Documents())
		}
		if numbering != nil {
			numbering = &datasets.Numbering{Kept: numbering.Kept, Total: numbering.Total} // the number of entries says what they count
		}
		for i, is := range f {
			if is {
				numbers = append(numbers, i)
			}
		}
		if len(numbers) == 0 {
			return nil, errors.New("the mask names no record")
		}
	default:
		return f, nil
	}
	if _, err := numbering.IDs(numbers); err != nil {
		return nil, err
	}
	sorted := slices.Sorted(slices.Values(numbers))
	for i, n := range sorted {
		if i > 0 && n == sorted[i-1] {
			return nil, fmt.Errorf("record %d is named twice", n)
		}
	}
	where := lab.Where{Column: texts.ColumnDocument, Op: datasets.In}
	for _, n := range numbers {
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
