package cells

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
)

// writeCells reads files of the test's own as the set reads its published ones.
func writeCells(t *testing.T, s set, cells, genes int, files map[string]string) (*Cells, error) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv(datasets.EnvDir, dir)
	s.info.Rows, s.info.Features = cells, genes
	var out []datasets.File
	for _, f := range s.info.Files {
		text, ok := files[f.Name]
		if !ok {
			out = append(out, f)
			continue
		}
		h := sha256.Sum256([]byte(text))
		f.Size, f.SHA256, f.Alternates = int64(len(text)), hex.EncodeToString(h[:]), nil
		out = append(out, f)
		path := filepath.Join(dir, s.info.Folder, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.info.Files = out
	return s.read(&loader{ctx: t.Context(), info: s.info})
}

// small is a set of pbmc3k's form, three genes in four cells.
func small() map[string]string {
	return map[string]string{
		"barcodes.tsv":   "A-1\nB-1\nC-1\nD-1\n",
		"genes.tsv":      "E1\tG1\nE2\tG2\nE3\tG3\n",
		"matrix.mtx":     "%%MatrixMarket matrix coordinate real general\n%\n3 4 4\n3 1 7\n1 2 2\n2 3 1\n2 4 5\n",
		"cell_types.tsv": "barcode\tcell_type\nC-1\tB\nA-1\tNK\nD-1\tNA\nB-1\tPlatelet\n",
	}
}

func TestLabelsAreJoinedByBarcode(t *testing.T) {
	c, err := writeCells(t, pbmc3k(), 4, 3, small())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Y, []int{6, 8, 3, -1}) || c.Classes[6] != "NK" || c.Classes[8] != "Platelet" || c.Caveat != "" {
		t.Errorf("labels %v of %q", c.Y, c.Classes)
	}
	if c.Counts.At(0, 2) != 7 || c.Counts.At(1, 0) != 2 || c.Counts.At(2, 1) != 1 || c.Counts.At(3, 1) != 5 {
		t.Errorf("counts %v", c.Counts.Dense().Data)
	}
}

func TestLabelsThatDoNotFitAreRefused(t *testing.T) {
	for want, edit := range map[string][2]string{
		`cell_types.tsv:2: no cell is called "X-1"`:                     {"C-1", "X-1"},
		`cell_types.tsv:3: no cell is called "C-1", or it occurs twice`: {"A-1", "C-1"},
		`cell_types.tsv:3: no class is called "Neuron"`:                 {"NK", "Neuron"},
		"cell_types.tsv: 1 cells are not in the table":                  {"D-1\tNA\n", ""},
		"cell_types.tsv:4: 1 columns, expected 2 or more":               {"D-1\tNA", "D-1"},
	} {
		files := small()
		files["cell_types.tsv"] = strings.Replace(files["cell_types.tsv"], edit[0], edit[1], 1)
		if _, err := writeCells(t, pbmc3k(), 4, 3, files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestAnotherShapeThanPublishedIsRefused(t *testing.T) {
	if _, err := writeCells(t, pbmc3k(), 5, 3, small()); err == nil || !strings.Contains(err.Error(), "4 cells x 3 genes, expected 5 x 3") {
		t.Errorf("got %v", err)
	}
}
