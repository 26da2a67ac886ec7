// Text sets as the data of an experiment.

package lab

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/texts"
	"github.com/lethe-ml/lethe/lib/engine"
)

// Texts is a set of texts that package texts knows. A record is a sentence or a window of a
// document; about a fifth of the documents are the test part. A network takes the records as
// numbers of tokens; see texts.Preparation.
type Texts struct {
	Set string // its name
	texts.Preparation
}

var _ DocumentData = Texts{}

// Name implements Data.
func (d Texts) Name() string { return d.Set }

func (d Texts) withDefaults() Texts {
	d.Preparation = d.Preparation.WithDefaults()
	if info, err := texts.Lookup(d.Set); err == nil && info.Rows <= d.MaxDocuments {
		d.MaxDocuments = 0
	}
	return d
}

// Info implements Data. The number of records is an estimate: it depends on the texts.
func (d Texts) Info() (datasets.Info, error) {
	d = d.withDefaults()
	info, err := texts.Lookup(d.Set)
	if err != nil {
		return info, otherKind(d.Set, err)
	}
	if err := d.Check(); err != nil {
		return info, err
	}
	if d.MaxDocuments > 0 {
		info.Rows = d.MaxDocuments
	}
	info.Rows *= texts.RecordsPerDocument(d.Set, d.Unit)
	info.Features, info.Vocabulary, info.Estimated = d.Features(), d.Vocabulary, true
	return info, nil
}

// Prepare implements Data.
func (d Texts) Prepare(ctx context.Context, shift int) (*datasets.Prepared, error) {
	return d.prepare(ctx, shift)
}

// PrepareKeeping implements KeepingData. The whole documents of the records are kept.
func (d Texts) PrepareKeeping(ctx context.Context, shift int, records []int) (*datasets.Prepared, error) {
	p, err := d.prepare(ctx, shift)
	if err != nil {
		return nil, err
	}
	kept, err := DocumentsOf(p, records)
	if err != nil {
		return nil, err
	}
	return d.prepare(ctx, shift, kept...)
}

// PrepareDocuments implements DocumentData.
func (d Texts) PrepareDocuments(ctx context.Context, shift int, documents []int) (*datasets.Prepared, error) {
	return d.prepare(ctx, shift, documents...)
}

// prepare prepares the records with the documents of these numbers in the train part.
func (d Texts) prepare(ctx context.Context, shift int, kept ...int) (*datasets.Prepared, error) {
	d = d.withDefaults()
	if _, err := texts.Lookup(d.Set); err != nil {
		return nil, otherKind(d.Set, err)
	}
	t, err := texts.Load(ctx, d.Set)
	if err != nil {
		return nil, err
	}
	p, err := t.Prepared(d.Preparation, TextSplit(shift), kept...)
	if err != nil {
		return nil, err
	}
	if d.Unit != texts.Windows {
		p.TestGroups = nil // the tables of the papers, and of language models, are of halves by records
	}
	return p, nil
}

// TextSplit returns the generator that draws and splits the documents of text data; shift is
// that of the lab.
func TextSplit(shift int) *rand.Rand {
	return engine.Root(SplitSeed + shift).Stream(engine.StreamSplit)
}

// DocumentsOf returns the numbers of the documents that the records of these IDs are of,
// ascending. It refuses data that are not made of documents.
func DocumentsOf(p *datasets.Prepared, records []int) ([]int, error) {
	document, err := numberColumn(p, texts.ColumnDocument)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, id := range records {
		if id < 0 || id >= len(document) {
			return nil, fmt.Errorf("there is no record %d; records count from 0, and there are %d", id, len(document))
		}
		out = append(out, int(document[id]))
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// numberColumn returns the cells of a column of numbers.
func numberColumn(p *datasets.Prepared, name string) ([]float64, error) {
	for _, c := range p.About.Columns {
		if c.Name == name && c.Kind == datasets.Number {
			return c.Numbers, nil
		}
	}
	return nil, fmt.Errorf("data set %s: there is no column of numbers called %q", p.About.Name, name)
}
