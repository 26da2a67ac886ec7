package cells_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/datasets/hdf5"
	"github.com/lethe-ml/lethe/datasets/own"
)

// fixture unpacks a file that testdata/make.py made with anndata or h5py.
func fixture(t testing.TB, name string) string {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// four are the counts of the fixtures, four cells x three genes.
var four = []float32{2, 0, 7, 0, 1, 3, 0, 0, 0, 5, 0, 0}

func TestAllFormsHoldTheSameCells(t *testing.T) {
	columns := map[string][]string{"type": {"T", "", "B", "T"}, "n": {"3", "-1", "2", "4"}, "share": {"0.5", "0.25", "1", "0"},
		"name": {"x", "", "z", "w"}, "flag": {"1", "0", "1", "1"}, "maybe": {"1", "", "3", "4"}}
	for name, want := range map[string]struct {
		ids, genes []string
		obs        []string
	}{
		"csr.h5ad":   {[]string{"E1", "E2", "E3"}, []string{"G1", "G2", "G3"}, []string{"type", "n", "share", "name", "flag", "maybe"}},
		"csc.h5ad":   {[]string{"E1", "E2", "E3"}, []string{"G1", "G2", "G3"}, []string{"type", "n", "share", "name", "flag", "maybe"}},
		"dense.h5ad": {[]string{"E1", "E2", "E3"}, []string{"G1", "G2", "G3"}, []string{"type", "n", "share", "name", "flag", "maybe"}},
		"v07.h5ad":   {[]string{"G1", "G2", "G3"}, []string{"G1", "G2", "G3"}, []string{"type"}},
		"v06.h5ad":   {[]string{"G1", "G2", "G3"}, []string{"G1", "G2", "G3"}, []string{"type", "n"}},
		"tenx2.h5":   {[]string{"E1", "E2", "E3"}, []string{"G1", "G2", "G1-1"}, nil},
		"tenx3.h5":   {[]string{"E1", "E2", "E3"}, []string{"G1", "G2", "G1-1"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := cells.Open(t.Context(), fixture(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(c.Counts.Dense().Data, four) || c.Counts.Rows != 4 || len(c.Counts.Values) != 5 {
				t.Errorf("counts %v", c.Counts)
			}
			if !slices.Equal(c.Barcodes, []string{"A-1", "B-1", "C-1", "D-1"}) || !slices.Equal(c.GeneIDs, want.ids) ||
				!slices.Equal(c.Genes, want.genes) || c.Name != name || !slices.Equal(c.Y, []int{-1, -1, -1, -1}) {
				t.Errorf("%+v", c)
			}
			if len(c.Obs) != len(want.obs) {
				t.Errorf("%d columns, want %q", len(c.Obs), want.obs)
			}
			for _, column := range want.obs {
				if !reflect.DeepEqual(c.Obs[column], columns[column]) {
					t.Errorf("%s is %q, want %q", column, c.Obs[column], columns[column])
				}
			}
		})
	}
}

// testdata/make_odd.py says what made the files. What is expected is what
// anndata.read_h5ad and X.sum_duplicates() give, where they read it at all.
func TestWhatIsOddAndNotNeededIsPassedOver(t *testing.T) {
	c, err := cells.Open(t.Context(), fixture(t, "odd.h5ad"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Counts.Dense().Data, four) || len(c.Counts.Values) != 5 {
		t.Errorf("elements that are stored twice: %+v", c.Counts)
	}
	if !slices.Equal(c.Barcodes, []string{"A-1", "B-1", "A-1-1", "D-1"}) || !strings.Contains(c.Caveat, `the barcode "A-1" occurs twice, at 1 and 3`) {
		t.Errorf("%q: %s", c.Barcodes, c.Caveat)
	}
	want := map[string][]string{"good": {"3", "-1", "2", "4"}, "a/b": {"1", "2", "3", "4"}, "text": {"x", "", "z", "w"}, "kind": {"T", "", "B", "T"},
		"number": {"10", "20", "10", "20"}, "yes": {"1", "", "0", "1"}}
	if !reflect.DeepEqual(c.Obs, want) {
		t.Errorf("%q", c.Obs)
	}
	for name, why := range map[string]string{"complex": "class 6", "short": "shape [2]", "matrix": "shape [4 2]", "soft": "soft or external link",
		"blosc": "Blosc", "later": `"of a version to come"`, "nested": "not found", "circle": `encoded as "categorical"`, "wide": "4 values and a mask of 8"} {
		_, note, there := strings.Cut(c.Caveat, `The column "`+name+`" of obs was skipped: `)
		if note, _, _ = strings.Cut(note, "The column"); !there || !strings.Contains(note, why) {
			t.Errorf("%s: %q", name, note)
		}
		if reason := c.Skipped(name); !strings.Contains(reason, why) || strings.Contains(reason, "odd.h5ad") {
			t.Errorf("%s: %q", name, reason)
		}
	}
	if reason := c.Skipped("good") + c.Skipped("none"); reason != "" {
		t.Errorf("columns that were not skipped: %q", reason)
	}
	if c, err = cells.Open(t.Context(), fixture(t, "latest.h5ad")); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Counts.Dense().Data, four) || !slices.Equal(c.Barcodes, []string{"A-1", "B-1", "C-1", "D-1"}) || len(c.Obs) != 25 || c.Caveat != "" {
		t.Errorf("%+v", c)
	}
}

// A column that is damaged is not one that the file does not have: the labels and the group say why it
// was skipped.
func TestADamagedColumnIsNotSaidToBeAbsent(t *testing.T) {
	path := fixture(t, "odd.h5ad")
	for name, options := range map[string][]own.CellOption{"label": {own.Label("short")}, "group": {own.Preparation(cells.Preparation{Clusters: true}), own.KeepTogether("short")}} {
		_, err := own.ReadCells(path, options...)
		if want := path + `: the column "short" of obs cannot be read: obs/short: shape [2], expected one value for each row`; err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if _, err := own.ReadCells(path, own.Label("shirt")); err == nil || !strings.Contains(err.Error(), `there is no column "shirt"`) {
		t.Errorf("%v", err)
	}
}

func TestAFileOfNoCellsIsRead(t *testing.T) {
	if c, err := cells.Open(t.Context(), fixture(t, "nothing.h5ad")); err != nil || c.Counts.Rows != 0 || c.Caveat != "" {
		t.Errorf("%v, %v", c, err)
	}
}

func TestNamesOfMitochondrialGenesBesideTheIndexAreSaid(t *testing.T) {
	c, err := cells.Open(t.Context(), fixture(t, "ensembl.h5ad"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`The column "feature_name" of var has names of mitochondrial genes`, `(the first is "ENSG01"): no cell is removed for mitochondrial counts.`} {
		if !strings.Contains(c.Caveat, want) {
			t.Errorf("%q lacks %q", c.Caveat, want)
		}
	}
}

func TestAShapeIsComparedBeforeAnythingIsRead(t *testing.T) {
	f, err := hdf5.Open(fixture(t, "csc.h5ad"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := cells.NewH5AD(f).Matrix("X", 1<<40, 3); err == nil || !strings.Contains(err.Error(), "X: a matrix of shape [4 3] for 1099511627776 x 3 names") {
		t.Error(err)
	}
}

func TestReadingAnHDF5FileEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := cells.Open(ctx, fixture(t, "csr.h5ad")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestALayerIsReadByName(t *testing.T) {
	path := fixture(t, "layer.h5ad")
	if _, err := cells.Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "layer.h5ad: matrix X: cell 0 (") ||
		!strings.Contains(err.Error(), "1.0986123 is no count, which is a whole number from 0 to 16777216; other matrices of the file: layers/counts") {
		t.Errorf("got %v", err)
	}
	c, err := cells.OpenLayer(t.Context(), path, "layers/counts")
	if err != nil || !slices.Equal(c.Counts.Dense().Data, four) {
		t.Errorf("%v", err)
	}
	if _, err := cells.OpenLayer(t.Context(), path, "layers/none"); err == nil || !strings.Contains(err.Error(), "layer.h5ad: /layers/none: not found; other matrices of the file: X, layers/counts") {
		t.Errorf("got %v", err)
	}
	for _, group := range []string{"raw", "layers"} {
		if _, err := cells.OpenLayer(t.Context(), path, group); err == nil || !strings.Contains(err.Error(), "layer.h5ad: "+group+" is no matrix; other matrices of the file: X, layers/counts") {
			t.Errorf("got %v", err)
		}
	}
	if _, err := cells.OpenLayer(t.Context(), fixture(t, "tenx3.h5"), "X"); err == nil || !strings.Contains(err.Error(), "several matrices") {
		t.Errorf("got %v", err)
	}
}

func TestFilesOfCellsThatAreDamagedAreRefused(t *testing.T) {
	for name, want := range map[string]string{"csr.h5ad": "not an HDF5 file", "tenx3.h5": "not an HDF5 file", "cells.txt": "a folder of 10x Genomics"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte("<html>not found</html>"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := cells.Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Every byte of a small file is damaged in turn: nothing panics, and what is
	// accepted holds together.
	for _, name := range []string{"v06.h5ad", "tenx2.h5"} {
		whole, err := os.ReadFile(fixture(t, name))
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(whole); at += 3 {
			b := bytes.Clone(whole)
			b[at] ^= 0x41
			f, err := hdf5.New(bytes.NewReader(b), int64(len(b)), name)
			if err != nil {
				continue
			}
			h := cells.NewH5AD(f)
			if s, err := h.Matrix("X", 4, 3); err == nil {
				if err := s.Check("X"); err != nil {
					t.Errorf("byte %d: %v", at, err)
				}
			}
			h.Frame("obs")
			h.Layers()
		}
	}
}
