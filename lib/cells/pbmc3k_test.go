package cells

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// pbmc is the published 3k PBMCs, read once for all tests.
type pbmc struct {
	counts array.Sparse[float32]
	genes  []string
	types  []string // the publisher's labels, "NA" for 62 cells
}

var pbmcOnce = sync.OnceValues(func() (*pbmc, error) { return readPBMC(dataDir()) })

// dataDir is the folder that LETHE_DATA names, or shared/data beside the checkout.
func dataDir() string {
	if dir := os.Getenv("LETHE_DATA"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "..", "shared", "data")
}

// pbmc3k returns the published counts, or skips the test where they are not here.
func pbmc3k(t testing.TB) *pbmc {
	t.Helper()
	p, err := pbmcOnce()
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("no pbmc3k here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func readPBMC(dir string) (*pbmc, error) {
	dir = filepath.Join(dir, "pbmc3k")
	counts, err := readMatrix(filepath.Join(dir, "matrix.mtx.gz"))
	if err != nil {
		return nil, err
	}
	genes, err := readColumn(filepath.Join(dir, "genes.tsv.gz"), 1)
	if err != nil {
		return nil, err
	}
	types, err := readColumn(filepath.Join(dir, "cell_types.tsv"), 1)
	if err != nil {
		return nil, err
	}
	return &pbmc{counts, genes, types[1:]}, nil
}

// open opens a file, decompressed where its name ends in .gz.
func open(path string) (io.Reader, func(), error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if filepath.Ext(path) != ".gz" {
		return f, func() { f.Close() }, nil
	}
	z, err := gzip.NewReader(f)
	return z, func() { f.Close() }, err
}

func readColumn(path string, column int) ([]string, error) {
	f, done, err := open(path)
	if err != nil {
		return nil, err
	}
	defer done()
	var out []string
	for s := bufio.NewScanner(f); s.Scan(); {
		out = append(out, strings.Split(s.Text(), "\t")[column])
	}
	return out, nil
}

// readMatrix reads MatrixMarket with genes as rows and cells as columns.
func readMatrix(path string) (array.Sparse[float32], error) {
	f, done, err := open(path)
	if err != nil {
		return array.Sparse[float32]{}, err
	}
	defer done()
	var shape []int
	cells := [][][2]int{}
	for s := bufio.NewScanner(f); s.Scan(); {
		if strings.HasPrefix(s.Text(), "%") {
			continue
		}
		var n [3]int
		for k, word := range strings.Fields(s.Text()) {
			n[k], _ = strconv.Atoi(word)
		}
		if shape == nil {
			shape, cells = n[:], make([][][2]int, n[1])
			continue
		}
		cells[n[1]-1] = append(cells[n[1]-1], [2]int{n[0] - 1, n[2]})
	}
	out := array.Sparse[float32]{Rows: shape[1], Cols: shape[0], Starts: []int{0}}
	for _, c := range cells {
		slices.SortFunc(c, func(a, b [2]int) int { return a[0] - b[0] })
		for _, e := range c {
			out.Columns, out.Values = append(out.Columns, int32(e[0])), append(out.Values, float32(e[1]))
		}
		out.Starts = append(out.Starts, len(out.Columns))
	}
	if len(out.Columns) != shape[2] {
		return out, fmt.Errorf("%s: %d of %d elements", path, len(out.Columns), shape[2])
	}
	return out, nil
}

// seurat reads Seurat's table of variable genes: mean, variance, expected and
// standardised variance of the genes in at least three cells.
func seurat(t *testing.T) (names []string, table [4][]float64) {
	t.Helper()
	f, done, err := open(filepath.Join(dataDir(), "pbmc3k", "reference", "seurat_hvg_v3.csv.gz"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("no table of Seurat's here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		names = append(names, row[0])
		for k := range table {
			v, err := strconv.ParseFloat(row[k+1], 64)
			if err != nil {
				t.Fatal(err)
			}
			table[k] = append(table[k], v)
		}
	}
	return names, table
}
