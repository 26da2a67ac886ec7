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

// maxGenes bounds the features of a folder; published ones have a million at most.
const maxGenes = 1 << 22

// maxName bounds a line of a list of cells or genes; published ones have 60 bytes.
const maxName = 1 << 12

// triplet is 10x Genomics' folder of three files, open: the lists of cells and
// genes and the matrix. Up to Cell Ranger 2 the genes are in genes.tsv with two
// columns, since 3 in features.tsv with the kind of feature in a third.
type triplet struct {
	barcodes, genes, matrix file
	typed                   bool // features.tsv
}

// openTriplet opens the files, of those with two names the one that is there.
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

// geneExpression is the kind of feature that is kept.
const geneExpression = "Gene Expression"

// read reads the three files. Features of another kind than genes, antibodies for
// instance, are left out, after the symbols were made unique among all of them,
// as scanpy's read_10x_mtx does.
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

// headings are the names that programs give to the columns of such lists, small and
// without what is no letter. No gene and no barcode is called so; if one were, the
// matrix would have a row or column more than names are left, which is refused.
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

// table reads the lines of a list without the line of headings that it may have. The
// matrix has n of what is listed: of a list that is longer by more than one no more is
// read, so that it is seen which is wrong. Unless seen is nil no first field may be
// there twice, which is noticed at once: a file of a few bytes can be unpacked into the
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
				return fmt.Errorf("%q is there twice", fields[0])
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

// eachLine calls use with the fields of every line, which are separated by tabs,
// without the blanks and quotes around them. There have to be as many as least says,
// and of those that a line has none may be empty, but for empty ones at its end.
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

// splitFields cuts a line.
func splitFields(line string, least int) ([]string, error) {
	if !utf8.ValidString(line) {
		return nil, errors.New("this is no UTF-8")
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

// cutField returns the first field of a line, and what is behind the tab after it. In
// quotes, where a tab is one like any other letter, a quote is written twice.
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
				return "", "", false, fmt.Errorf("%q behind a closing quote", between)
			}
			return strings.TrimSpace(field), rest, more, nil
		}
		field, line = field+`"`, behind[1:]
	}
}

// gather returns the named elements.
func gather[T any](all []T, which []int) []T {
	out := make([]T, len(which))
	for k, i := range which {
		out[k] = all[i]
	}
	return out
}
