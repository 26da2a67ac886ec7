package datasets

import "github.com/lethe-ml/lethe/lib/array"

// Part is one part of a data set: records of a table, of images or of cells, from the train or the
// test part, or a client's share of them. X has a row per record; Y, IDs and every column of Extra
// have an entry per record.
type Part struct {
	X array.Matrix[float32]

	// Y holds the class code of every record.
	Y []int

	// IDs are the numbers of the records in their source: rows of the table,
	// images of the published part.
	IDs []int

	// Extra holds further columns by name: an image's Superclass, a cell's batch or
	// library size. Codes are whole numbers. It may be nil.
	Extra map[string][]float64
}

// Superclass is the name of the column of Part.Extra with the code of a coarser class.
const Superclass = "superclass"

// Library is the name of the column of Part.Extra with a cell's total count over all measured
// genes, before normalisation.
const Library = "library"

// Gather returns the records in the given rows of X, in that order.
func (p Part) Gather(rows []int) Part {
	out := Part{X: p.X.Gather(rows), Y: gather(p.Y, rows), IDs: gather(p.IDs, rows)}
	for name, column := range p.Extra {
		if out.Extra == nil {
			out.Extra = map[string][]float64{}
		}
		out.Extra[name] = gather(column, rows)
	}
	return out
}

// gather returns the given rows of a column, nil for a nil column.
func gather[T any](column []T, rows []int) []T {
	if column == nil {
		return nil
	}
	out := make([]T, len(rows))
	for k, i := range rows {
		out[k] = column[i]
	}
	return out
}

// SplitAt divides a part after its first n records. Both parts share its memory.
func (p Part) SplitAt(n int) (first, rest Part) {
	first, rest = p, p
	first.X.Rows, first.X.Data = n, p.X.Data[:n*p.X.Cols:n*p.X.Cols]
	rest.X.Rows, rest.X.Data = p.X.Rows-n, p.X.Data[n*p.X.Cols:]
	first.Y, rest.Y = p.Y[:n:n], p.Y[n:]
	first.IDs, rest.IDs = p.IDs[:n:n], p.IDs[n:]
	first.Extra, rest.Extra = nil, nil
	for name, column := range p.Extra {
		if first.Extra == nil {
			first.Extra, rest.Extra = map[string][]float64{}, map[string][]float64{}
		}
		first.Extra[name], rest.Extra[name] = column[:n:n], column[n:]
	}
	return first, rest
}

// About describes a data set that was read: table, images or cells.
type About struct {
	Name, Title string

	// Features describes the columns of a table, in order; nil for others.
	Features []Feature

	// Columns are the columns as they were read, with identifiers and the target, for forget
	// sets such as one person's rows; see Condition. Row r of the table is entry r of a column:
	// the IDs of a prepared part index them. nil: not kept.
	Columns []Column

	// Whole are the columns of all documents where the records are those of a part of them (texts.Preparation.MaxDocuments), an
	// entry per document; the first numbers the documents. nil: none is left out.
	Whole []Column

	// Numbering says how the source numbers its records, if some of them were left out; nil: record r
	// of the source has the ID r.
	Numbering *Numbering

	// Shape is channels, height and width of images; zero for others.
	Shape [3]int

	// Classes names the class codes.
	Classes []string

	// Vocabulary are the tokens that the numbers of a text's records stand for; nil for others.
	Vocabulary []string

	// Questions are what the records of a question set ask; record r is entry r, as of Columns. nil:
	// the records are no answers to questions.
	Questions []Question

	// GroupColumn is the column whose values the split kept together, such as "person": records of one
	// value are not independent. "": the split was by records.
	GroupColumn string

	// Hash is the SHA-256, in hex, of what was read.
	Hash string

	// Sources are the files that were read.
	Sources []SourceFile

	// Synthetic marks data made by a generator.
	Synthetic bool

	// Planted maps the name of a group that a generator planted, such as "outliers",
	// to the IDs of its records in ascending order. It is nil for real data.
	Planted map[string][]int

	// Caveat is a sentence on how the data differ from the published ones, or "".
	Caveat string
}

// Normalisation shifts and scales the values of a record, (value - Mean) / SD. It has an entry per
// column of a table, or per channel of an image.
type Normalisation struct {
	Mean, SD []float64
}

// Prepared is a data set ready for training: two parts without a common record, normalised with
// the statistics of the train part.
type Prepared struct {
	About       About
	Train, Test Part
	Norm        Normalisation

	// Hash is the SHA-256, in hex, of the prepared data. It is part of the store's
	// keys.
	Hash string

	// TestGroups has a number for each row of the test part; rows of one number, such as those of one person or the windows of one
	// text, stay together where the part is divided again. nil: every row is on its own.
	TestGroups []int

	// DrawOrder are the rows of the train part in the order in which they were drawn, for
	// forget sets that depend on it. nil means ascending.
	DrawOrder []int
}
