package cells

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/lethe-ml/lethe/datasets/mtx"
)

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
	if err := eachLine(ctx, t.barcodes, 1, func(f []string) error {
		c.Barcodes = append(c.Barcodes, f[0])
		return nil
	}); err != nil {
		return nil, err
	}
	if err := distinct("barcode", c.Barcodes); err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", t.barcodes.path, err)
	}
	var kept []int
	if err := eachLine(ctx, t.genes, 2, func(f []string) error {
		if !t.typed || len(f) < 3 || f[2] == geneExpression {
			kept = append(kept, len(c.GeneIDs))
		}
		c.GeneIDs, c.Genes = append(c.GeneIDs, f[0]), append(c.Genes, f[1])
		return nil
	}); err != nil {
		return nil, err
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("datasets: %s: none of %d features is of the kind %q", t.genes.path, len(c.Genes), geneExpression)
	}
	c.Genes = Unique(c.Genes)
	counts, err := mtx.ReadTransposed(ctx, t.matrix, len(c.Genes), len(c.Barcodes))
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", t.matrix.path, err)
	}
	c.Counts, c.Y = counts, unlabelled(len(c.Barcodes))
	c.keep(kept)
	return c, nil
}

// eachLine calls use with the fields of every line, which are separated by tabs.
// There have to be as many as least says, and none of those may be empty.
func eachLine(ctx context.Context, f file, least int, use func(fields []string) error) error {
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 0, maxName), maxName)
	n := 0
	for lines.Scan() {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !utf8.Valid(lines.Bytes()) {
			return fmt.Errorf("datasets: %s:%d: this is no UTF-8", f.path, n)
		}
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) < least {
			return fmt.Errorf("datasets: %s:%d: %d columns, expected %d or more", f.path, n, len(fields), least)
		}
		for k, v := range fields[:least] {
			if v == "" {
				return fmt.Errorf("datasets: %s:%d: column %d is empty", f.path, n, k+1)
			}
		}
		if err := use(fields); err != nil {
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

// gather returns the named elements.
func gather[T any](all []T, which []int) []T {
	out := make([]T, len(which))
	for k, i := range which {
		out[k] = all[i]
	}
	return out
}
