// Consistency checks and the hash of a set of cells.

package cells

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"sort"

	"github.com/lethe-ml/lethe/datasets/mtx"
	"github.com/lethe-ml/lethe/lib/array"
)

// Check returns an error for the first violation of what Cells documents.
func (c *Cells) Check() error {
	if err := c.Counts.Check("datasets: " + c.Name + ": counts"); err != nil {
		return err
	}
	lengths := []struct {
		what      string
		got, want int
	}{
		{"barcodes", len(c.Barcodes), c.Counts.Rows}, {"labels", len(c.Y), c.Counts.Rows},
		{"gene identifiers", len(c.GeneIDs), c.Counts.Cols}, {"genes", len(c.Genes), c.Counts.Cols},
	}
	for _, l := range lengths {
		if l.got != l.want {
			return fmt.Errorf("datasets: %s: %d %s for %d x %d counts", c.Name, l.got, l.what, c.Counts.Rows, c.Counts.Cols)
		}
	}
	for name, column := range c.Obs {
		if len(column) != c.Counts.Rows {
			return fmt.Errorf("datasets: %s: %d values of %q for %d cells", c.Name, len(column), name, c.Counts.Rows)
		}
	}
	for i, y := range c.Y {
		if y < -1 || y >= len(c.Classes) {
			return fmt.Errorf("datasets: %s: cell %d has the class %d of %d", c.Name, i, y, len(c.Classes))
		}
	}
	if err := checkCounts(c.Counts, c.Barcodes, c.Genes); err != nil {
		return fmt.Errorf("datasets: %s: %w", c.Name, err)
	}
	if err := checkDistinct("barcode", c.Barcodes); err != nil {
		return fmt.Errorf("datasets: %s: %w", c.Name, err)
	}
	if err := checkDistinct("gene", c.Genes); err != nil {
		return fmt.Errorf("datasets: %s: %w", c.Name, err)
	}
	return nil
}

// checkCounts returns an error for the first value that is no count, a positive whole number up to
// mtx.MaxCount, with its cell and its gene.
func checkCounts(counts array.Sparse[float32], barcodes, genes []string) error {
	for k, v := range counts.Values {
		f := float64(v)
		if f > 0 && f == math.Trunc(f) && f <= mtx.MaxCount {
			continue
		}
		cell := sort.SearchInts(counts.Starts, k+1) - 1
		return fmt.Errorf("cell %d (%s), gene %s: %v is no count, which is a whole number from 0 to %d", cell, barcodes[cell], genes[counts.Columns[k]], v,
			mtx.MaxCount)
	}
	return nil
}

// checkDistinct returns an error for the first duplicate name.
func checkDistinct(what string, names []string) error {
	first := make(map[string]int, len(names))
	for i, name := range names {
		if k, twice := first[name]; twice {
			return fmt.Errorf("the %s %q occurs twice, at %d and %d", what, name, k+1, i+1)
		}
		first[name] = i
	}
	return nil
}

// hash returns the SHA-256 of: the numbers of cells and genes, Counts.Starts and Counts.Columns as
// 64-bit integers; Counts.Values as float32; Y as 64-bit integers; all little-endian; then
// Barcodes, GeneIDs and Genes, each name followed by a line break.
func (c *Cells) hash() string {
	h := sha256.New()
	ints(h, []int{c.Counts.Rows, c.Counts.Cols})
	ints(h, c.Counts.Starts)
	ints(h, c.Counts.Columns)
	var buf []byte
	for _, v := range c.Counts.Values {
		buf = flush(h, binary.LittleEndian.AppendUint32(buf, math.Float32bits(v)), 1<<14)
	}
	flush(h, buf, 0)
	ints(h, c.Y)
	for _, names := range [][]string{c.Barcodes, c.GeneIDs, c.Genes} {
		for _, name := range names {
			io.WriteString(h, name+"\n") // a hash never returns an error
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func ints[T int | int32](w io.Writer, values []T) {
	var buf []byte
	for _, v := range values {
		buf = flush(w, binary.LittleEndian.AppendUint64(buf, uint64(int64(v))), 1<<14)
	}
	flush(w, buf, 0)
}

func flush(w io.Writer, buf []byte, limit int) []byte {
	if len(buf) < limit {
		return buf
	}
	w.Write(buf) // to a hash
	return buf[:0]
}
