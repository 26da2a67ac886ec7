// 10x Genomics' folder of three files: barcodes, genes, matrix.

package cells

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lethe-ml/lethe/datasets/mtx"
	"github.com/lethe-ml/lethe/lib/files"
)

// maxGenes bounds the features of a folder; published ones have at most a million.
const maxGenes = 1 << 22

// maxName bounds a line of a list of cells or genes; published ones have 60 bytes.
const maxName = 1 << 12

// triplet is an open folder of 10x Genomics: the lists of cells and genes, and the matrix. Up to
// Cell Ranger 2 the genes are in genes.tsv with two columns, since 3 in features.tsv with the type
// of feature in a third column.
type triplet struct {
	barcodes, genes, matrix file
	typed                   bool // features.tsv
}

// openTriplet opens the files. Of a file with two possible names it opens the one that exists.
func openTriplet(open func(names ...string) (file, error)) (*triplet, error) {
	t := &triplet{}
	for _, part := range []struct {
		into  *file
		names []string
	}{{&t.barcodes, []string{"barcodes.tsv"}}, {&t.genes, []string{"features.tsv", "genes.tsv"}}, {&t.matrix, []string{"matrix.mtx"}}} {
		f, err := open(part.names...)
		if err != nil {
			t.close()
			return nil, err
		}
		*part.into = f
	}
	t.typed = strings.HasPrefix(filepath.Base(t.genes.path), "features")
	return t, nil
}

func (t *triplet) close() {
	for _, f := range []file{t.barcodes, t.genes, t.matrix} {
		if f.ReadCloser != nil {
			f.Close()
		}
	}
}

// geneExpression is the type of the features that are kept.
const geneExpression = "Gene Expression"

// read reads the three files. Features of other types than genes, such as antibodies, are dropped
// after the symbols were made unique among all features, as in scanpy's read_10x_mtx.
func (t *triplet) read(ctx context.Context) (*Cells, error) {
	c := &Cells{}
	m, err := mtx.NewReader(ctx, t.matrix)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", t.matrix.path, err)
	}
	rows, cols := m.Shape()
	if rows > maxGenes {
		return nil, fmt.Errorf("datasets: %s: %d genes, at most %d are read", t.matrix.path, rows, maxGenes)
	}
	barcodes, err := table(ctx, t.barcodes, cols, map[string]bool{})
	if err != nil {
		return nil, err
	}
	for _, f := range barcodes {
		c.Barcodes = append(c.Barcodes, f[0])
	}
	genes, err := table(ctx, t.genes, rows, nil)
	if err != nil {
		return nil, err
	}
	var kept []int
	for j, f := range genes {
		if len(f) < len(genes[0]) && len(f) < 2 {
			return nil, fmt.Errorf("datasets: %s: the gene %q has no symbol, and others have one", t.genes.path, f[0])
		}
		if !t.typed || len(f) < 3 || f[2] == geneExpression {
			kept = append(kept, j)
		}
		c.GeneIDs, c.Genes = append(c.GeneIDs, f[0]), append(c.Genes, f[min(1, len(f)-1)])
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("datasets: %s: none of %d features is of the kind %q", t.genes.path, len(c.Genes), geneExpression)
	}
	c.Genes = Unique(c.Genes)
	counts, err := m.Transposed(len(c.Genes), len(c.Barcodes))
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", t.matrix.path, err)
	}
	c.Counts, c.Y = counts, noLabels(len(c.Barcodes))
	c.keep(kept)
	return c, nil
}

// headings are column names that programs write into such lists, in lower case, letters only. No
// gene and no barcode has such a name; if one had, the matrix would have one row or column more
// than names, which is refused.
var headings = []string{
	"barcode", "barcodes", "cell", "cells", "cellid", "cellbarcode", "gene", "genes", "geneid", "geneids", "genename", "genenames",
	"genesymbol", "genesymbols", "symbol", "symbols", "ensembl", "ensemblid", "ensemblgeneid", "feature", "features", "featureid",
	"featurename", "featuretype", "featuretypes", "id", "ids", "name", "names", "index",
}

func isHeading(field string) bool {
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, field)
	return slices.Contains(headings, letters)
}

// table reads the lines of a list without an optional line of headings. n is the number of names
// that the matrix needs; reading stops with an error one line after it. Unless seen is nil, a
// duplicate first field is an error at once, because a small compressed file can expand to the
// same name without end.
func table(ctx context.Context, f file, n int, seen map[string]bool) (out [][]string, err error) {
	headed := false
	err = eachLine(ctx, f, 1, func(fields []string) error {
		if len(out) == 0 && !headed && !slices.ContainsFunc(fields, func(v string) bool { return !isHeading(v) }) {
			headed = true
			return nil
		}
		if len(out) > n {
			return fmt.Errorf("more lines than the %d of the matrix", n)
		}
		if seen != nil {
			if seen[fields[0]] {
				return fmt.Errorf("%q occurs twice", fields[0])
			}
			seen[fields[0]] = true
		}
		out = append(out, fields)
		return nil
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("datasets: %s: nothing but headings", f.path)
	}
	return out, err
}

// eachLine calls use with the tab-separated fields of every line, without surrounding blanks and
// quotes. A line must have at least least fields, none of them empty except at its end.
func eachLine(ctx context.Context, f file, least int, use func(fields []string) error) error {
	text, err := files.NewTextReader(f)
	if err != nil {
		return fmt.Errorf("datasets: %s: %w", f.path, err)
	}
	lines := bufio.NewScanner(text)
	lines.Buffer(make([]byte, 0, maxName), maxName)
	n := 0
	for lines.Scan() {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		fields, err := splitFields(lines.Text(), least)
		if err == nil {
			err = use(fields)
		}
		if err != nil {
			return fmt.Errorf("datasets: %s:%d: %w", f.path, n, err)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("datasets: %s:%d: longer than %d bytes", f.path, n+1, maxName)
	} else if err != nil {
		return fmt.Errorf("datasets: %s:%d: %w", f.path, n+1, err)
	}
	if n == 0 {
		return fmt.Errorf("datasets: %s: the file is empty", f.path)
	}
	return nil
}

// splitFields splits a line.
func splitFields(line string, least int) ([]string, error) {
	if !utf8.ValidString(line) {
		return nil, errors.New("not UTF-8")
	}
	var fields []string
	for rest, more := line, true; more; {
		var v string
		var err error
		if v, rest, more, err = cutField(rest); err != nil {
			return nil, err
		}
		fields = append(fields, v)
	}
	for len(fields) > 1 && fields[len(fields)-1] == "" && len(fields) > least {
		fields = fields[:len(fields)-1]
	}
	if len(fields) < least {
		return nil, fmt.Errorf("%d columns, expected %d or more", len(fields), least)
	}
	if k := slices.Index(fields, ""); k >= 0 {
		return nil, fmt.Errorf("column %d is empty", k+1)
	}
	return fields, nil
}

// cutField returns the first field of a line, and the text after the next tab. In quotes a tab is
// an ordinary character, and a quote is written twice.
func cutField(line string) (field, rest string, more bool, err error) {
	line = strings.TrimLeft(line, " ")
	if !strings.HasPrefix(line, `"`) {
		field, rest, more = strings.Cut(line, "\t")
		return strings.TrimSpace(field), rest, more, nil
	}
	line = line[1:]
	for {
		part, behind, closed := strings.Cut(line, `"`)
		if !closed {
			return "", "", false, errors.New("a quote that is not closed")
		}
		field += part
		if !strings.HasPrefix(behind, `"`) {
			between, rest, more := strings.Cut(behind, "\t")
			if strings.TrimSpace(between) != "" {
				return "", "", false, fmt.Errorf("%q after a closing quote", between)
			}
			return strings.TrimSpace(field), rest, more, nil
		}
		field, line = field+`"`, behind[1:]
	}
}

// gather returns the elements at the given indices.
func gather[T any](all []T, which []int) []T {
	out := make([]T, len(which))
	for k, i := range which {
		out[k] = all[i]
	}
	return out
}
