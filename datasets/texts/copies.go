// Copies of forgotten documents that stay.

package texts

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
)

// Copies says what of a forget set of documents stays as a copy.
type Copies struct {
	Documents int // that are forgotten, of which a record is in the train part
	InRetain  int // of these, how many have a document of identical text in the retain set
	InTest    int // and in the test part
	InEither  int // and in one of both

	// Rows are the forgotten rows of the train part whose document keeps a copy in the retain set,
	// and Without the other forgotten rows, both in the order of forget.
	Rows, Without []int
}

// CountCopies returns the copies that the documents of the given rows of the train part keep. It
// needs the columns ColumnDocument and ColumnText, which Prepared makes.
func CountCopies(p *datasets.Prepared, forget []int) (Copies, error) {
	document, text, err := documentColumns(p)
	if err != nil {
		return Copies{}, err
	}
	forgotten, textOf := map[float64]bool{}, map[float64]float64{}
	isForgotten := make([]bool, p.Train.X.Rows)
	for _, row := range forget {
		if row < 0 || row >= len(isForgotten) {
			return Copies{}, fmt.Errorf("datasets: %s: there is no row %d in the train part of %d", p.About.Name, row, len(isForgotten))
		}
		isForgotten[row] = true
		id := p.Train.IDs[row]
		forgotten[document[id]], textOf[document[id]] = true, text[id]
	}
	inRetain, inTest := map[float64]bool{}, map[float64]bool{}
	for row, id := range p.Train.IDs {
		if !isForgotten[row] {
			inRetain[text[id]] = true
		}
	}
	for _, id := range p.Test.IDs {
		inTest[text[id]] = true
	}
	out := Copies{Documents: len(forgotten)}
	for d := range forgotten {
		t := textOf[d]
		out.InRetain += oneIf(inRetain[t])
		out.InTest += oneIf(inTest[t])
		out.InEither += oneIf(inRetain[t] || inTest[t])
	}
	for _, row := range forget {
		if inRetain[text[p.Train.IDs[row]]] {
			out.Rows = append(out.Rows, row)
		} else {
			out.Without = append(out.Without, row)
		}
	}
	return out, nil
}

// documentColumns returns the columns ColumnDocument and ColumnText.
func documentColumns(p *datasets.Prepared) (document, text []float64, err error) {
	for name, to := range map[string]*[]float64{ColumnDocument: &document, ColumnText: &text} {
		k := slices.IndexFunc(p.About.Columns, func(c datasets.Column) bool { return c.Name == name && c.Kind == datasets.Number })
		if k < 0 {
			return nil, nil, errors.New("datasets: " + p.About.Name + ": there is no column " + name + ": the records are not those of documents")
		}
		*to = p.About.Columns[k].Numbers
	}
	return document, text, nil
}

func oneIf(is bool) int {
	if is {
		return 1
	}
	return 0
}
