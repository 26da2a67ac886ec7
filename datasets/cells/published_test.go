package cells_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/datasets/datatest"
	"github.com/lethe-ml/lethe/datasets/hdf5"
)

func TestEverySet(t *testing.T) {
	seen := map[string]bool{}
	for _, info := range cells.All() {
		if seen[info.Name] {
			t.Errorf("%s is there twice", info.Name)
		}
		seen[info.Name] = true
		t.Run(info.Name, func(t *testing.T) { datatest.Cells(t, info) })
	}
}

// loaded loads a published set, or skips the test where its files are not here.
func loaded(t *testing.T, name string) *cells.Cells {
	t.Helper()
	datatest.Dir(t)
	c, err := cells.Load(t.Context(), name)
	if errors.Is(err, datasets.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sum adds up all counts.
func sum(c *cells.Cells) (total float64) {
	for _, v := range c.Counts.Values {
		total += float64(v)
	}
	return total
}

func TestPBMC3kIsWhatOtherProgramsRead(t *testing.T) {
	c := loaded(t, "pbmc3k")
	// SciPy 1.17.1's mmread and anndata 0.12.19's make_index_unique, hashed as
	// Cells.Hash says.
	if want := "0cbf92ba93e4133589a3f3e66f1e4c01ccdf07492c109a48286eb48038acd942"; c.Hash != want {
		t.Errorf("hash %s, want %s", c.Hash, want)
	}
	if len(c.Counts.Values) != 2286884 || sum(c) != 6390631 {
		t.Errorf("%d entries, %v molecules", len(c.Counts.Values), sum(c))
	}
	want := map[string]int{"Naive CD4 T": 697, "Memory CD4 T": 483, "CD14+ Mono": 480, "B": 344, "CD8 T": 271, "FCGR3A+ Mono": 162,
		"NK": 155, "DC": 32, "Platelet": 14}
	without := len(c.Y)
	for k, name := range c.Classes {
		n := 0
		for _, y := range c.Y {
			if y == k {
				n++
			}
		}
		if without -= n; n != want[name] {
			t.Errorf("%d cells are %s, want %d", n, name, want[name])
		}
	}
	if without != 62 {
		t.Errorf("%d cells have no class", without)
	}
	// Platelets are the cells that are full of PPBP.
	ppbp := slices.Index(c.Genes, "PPBP")
	for i, y := range c.Y {
		if n := c.Counts.At(i, ppbp); y == 8 && n < 10 || y >= 0 && y < 2 && n > 10 {
			t.Errorf("cell %d of class %d has %v molecules of PPBP", i, y, n)
		}
	}
}

// part is a data folder with pbmc3k's files but for the named one.
func part(t *testing.T, without string) string {
	t.Helper()
	from, to := filepath.Join(datatest.Dir(t), "pbmc3k"), filepath.Join(t.TempDir(), "pbmc3k")
	if err := os.Mkdir(to, 0o755); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Type().IsRegular() && e.Name() != without {
			if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	return filepath.Dir(to)
}

func TestWithoutItsLabelsPBMC3kSaysSo(t *testing.T) {
	t.Setenv(datasets.EnvDir, part(t, "cell_types.tsv"))
	c, err := cells.Load(t.Context(), "pbmc3k")
	if err != nil {
		t.Fatal(err)
	}
	if slices.Max(c.Y) != -1 || !strings.Contains(c.Caveat, "cell_types.tsv") || len(c.Sources) != 3 {
		t.Errorf("labels up to %d, %q, %v", slices.Max(c.Y), c.Caveat, c.Sources)
	}
}

func TestMisspelledSetsAreSuggested(t *testing.T) {
	if _, err := cells.Load(t.Context(), "pbmc-3k"); err == nil || !strings.Contains(err.Error(), "did you mean pbmc3k") {
		t.Errorf("got %v", err)
	}
}

func TestTheSampleOfTabulaMurisIsWhatOtherProgramsRead(t *testing.T) {
	c := loaded(t, "tabula_muris_sample")
	// h5py 3.16.0 and SciPy 1.17.1, hashed as Cells.Hash says.
	if want := "6a50ada8645c075df7a3fda61bbbedaf32ac9660a5ba5448ec590aaa52aa848b"; c.Hash != want {
		t.Errorf("hash %s, want %s", c.Hash, want)
	}
	perRun := map[string]int{}
	for _, run := range c.Obs["run"] {
		perRun[run]++
	}
	if len(c.Counts.Values) != 1913799 || sum(c) != 6897187 || perRun["Bladder-10X_P4_3"] != 149 || perRun["Liver-10X_P7_0"] != 596 || perRun["Liver-10X_P7_1"] != 322 {
		t.Errorf("%d entries, %v molecules, %v", len(c.Counts.Values), sum(c), perRun)
	}
}

// pbmc68k_reduced holds no counts, and tables as anndata 0.6 wrote them. The
// numbers are h5py 3.16.0's.
func TestAProcessedFileOfAnndata06(t *testing.T) {
	path := filepath.Join(datatest.Dir(t), "pbmc68k_reduced", "10x_pbmc68k_reduced.h5ad")
	f, err := hdf5.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := cells.NewH5AD(f)
	obs, err := h.Frame("obs")
	if err != nil {
		t.Fatal(err)
	}
	genes, err := h.Frame("var")
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, label := range obs.Columns["bulk_labels"] {
		n[label]++
	}
	if obs.Index[0] != "AAAGCCTGGCTAAC-1" || genes.Index[2] != "SSU72" || n["Dendritic"] != 240 || n["CD4+/CD45RA+/CD25- Naive T"] != 8 || len(n) != 10 {
		t.Errorf("%v, %v, %v", obs.Index[0], genes.Index[2], n)
	}
	raw, err := h.Matrix("raw.X", 700, 765)
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, v := range raw.Values {
		total += float64(v)
	}
	if raw.Rows != 700 || raw.Cols != 765 || math.Abs(total-319044.24) > 0.01 {
		t.Errorf("%d x %d, sum %v", raw.Rows, raw.Cols, total)
	}
	for _, matrix := range []string{"X", "raw.X"} {
		if _, err := cells.OpenLayer(t.Context(), path, matrix); err == nil || !strings.Contains(err.Error(), "matrix "+matrix+": cell ") {
			t.Errorf("got %v", err)
		}
	}
}
