package cells_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/cells"
	counted "github.com/lethe-ml/lethe/lib/cells"
)

// The folders count three genes in two cells:
//
//	      AAA-1  CCC-1
//	G1        2      0
//	G2        0      1
//	G3        7      3
var (
	v2 = map[string]string{
		"barcodes.tsv": "AAA-1\nCCC-1\n",
		"genes.tsv":    "E1\tG1\nE2\tG2\nE3\tG1\n",
		"matrix.mtx":   "%%MatrixMarket matrix coordinate integer general\n%\n3 2 4\n3 1 7\n1 1 2\n3 2 3\n2 2 1\n",
	}
	v3 = map[string]string{
		"barcodes.tsv": v2["barcodes.tsv"],
		"features.tsv": "E1\tG1\tGene Expression\nE2\tG2\tGene Expression\nE3\tG1\tGene Expression\nA1\tG1\tAntibody Capture\n",
		"matrix.mtx":   strings.NewReplacer("3 2 4", "4 2 5", "1 1 2\n", "1 1 2\n4 1 99\n").Replace(v2["matrix.mtx"]),
	}
)

// folder writes files, those named .gz compressed.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run1")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		b := []byte(text)
		if filepath.Ext(name) == ".gz" {
			b = packed(t, text)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func packed(t testing.TB, text string) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// compressed is the same files under names that end in .gz.
func compressed(files map[string]string) map[string]string {
	out := map[string]string{}
	for name, text := range files {
		out[name+".gz"] = text
	}
	return out
}

func TestAFolderOfTenXIsReadInEitherVersion(t *testing.T) {
	var hashes []string
	for name, files := range map[string]map[string]string{"v2": v2, "v2 gz": compressed(v2), "v3": v3, "v3 gz": compressed(v3)} {
		c, err := cells.Open(t.Context(), folder(t, files))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if want := []float32{2, 0, 7, 0, 1, 3}; !slices.Equal(c.Counts.Dense().Data, want) {
			t.Errorf("%s: counts %v", name, c.Counts.Dense().Data)
		}
		if !slices.Equal(c.Barcodes, []string{"AAA-1", "CCC-1"}) || !slices.Equal(c.GeneIDs, []string{"E1", "E2", "E3"}) ||
			!slices.Equal(c.Genes, []string{"G1", "G2", "G1-1"}) || !slices.Equal(c.Y, []int{-1, -1}) || c.Name != "run1" {
			t.Errorf("%s: %+v", name, c)
		}
		hashes = append(hashes, c.Hash)
	}
	if slices.Sort(hashes); hashes[0] != hashes[3] || len(hashes[0]) != 64 {
		t.Errorf("one content, %v", hashes)
	}
}

func TestSymbolsAreMadeUniqueAsAnndataDoes(t *testing.T) {
	// anndata 0.12.19, var_names_make_unique.
	got := cells.Unique([]string{"a", "a", "b", "a-1", "a", "b-1", "b", "b", "a-1", "a"})
	want := []string{"a", "a-2", "b", "a-1", "a-3", "b-1", "b-2", "b-3", "a-1-1", "a-4"}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if one := []string{"x", "y"}; !slices.Equal(cells.Unique(one), one) {
		t.Error("names that are unique were changed")
	}
}

// TestListsAreReadAsProgramsWriteThem writes one folder in many ways.
func TestListsAreReadAsProgramsWriteThem(t *testing.T) {
	want, err := cells.Open(t.Context(), folder(t, v2))
	if err != nil {
		t.Fatal(err)
	}
	quoted := func(text string) string {
		return `"` + strings.NewReplacer("\t", "\"\t\"", "\n", "\"\n\"").Replace(strings.TrimSuffix(text, "\n")) + "\"\n"
	}
	each := func(edit func(string) string) map[string]string {
		return map[string]string{"barcodes.tsv": edit(v2["barcodes.tsv"]), "genes.tsv": edit(v2["genes.tsv"]), "matrix.mtx": v2["matrix.mtx"]}
	}
	headed := each(strings.Clone)
	headed["barcodes.tsv"], headed["genes.tsv"] = "Barcode\n"+headed["barcodes.tsv"], "gene_id\t\"Gene Name\"\n"+headed["genes.tsv"]
	for name, written := range map[string]map[string]string{
		"quotes":       each(quoted),
		"Windows":      each(func(s string) string { return "\xef\xbb\xbf" + strings.ReplaceAll(s, "\n", "\r\n") }),
		"quotes there": each(func(s string) string { return "\xef\xbb\xbf" + strings.ReplaceAll(quoted(s), "\n", "\r\n") }),
		"blanks":       each(func(s string) string { return strings.NewReplacer("\t", " \t ", "\n", "  \n").Replace(s) }),
		"tabs behind":  each(func(s string) string { return strings.ReplaceAll(s, "\n", "\t\t\n") }),
		"headings":     headed,
		"no last end":  each(func(s string) string { return strings.TrimSuffix(s, "\n") }),
	} {
		if got, err := cells.Open(t.Context(), folder(t, written)); err != nil || got.Hash != want.Hash {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	odd := maps.Clone(v2)
	odd["genes.tsv"] = "E1\t\"a\tb\"\nE2\t\"5\"\" end\"\nE3\tG'x\"y\n"
	if got, err := cells.Open(t.Context(), folder(t, odd)); err != nil || !slices.Equal(got.Genes, []string{"a\tb", `5" end`, `G'x"y`}) {
		t.Errorf("%v, %v", got, err)
	}
	ids := maps.Clone(v2)
	ids["genes.tsv"] = "ENSG1\nENSG2\nENSG3\n"
	if got, err := cells.Open(t.Context(), folder(t, ids)); err != nil || !slices.Equal(got.Genes, []string{"ENSG1", "ENSG2", "ENSG3"}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestAFilterThatCannotFindAGeneSaysSo(t *testing.T) {
	for symbol, idle := range map[string]bool{"MT-ND1": false, "mt-Nd1": false, "Mt-nd1": false, `"MT-ND1"`: false, "G2": true, "MTOR": true, "MT2A": true, "hg19_MT-ND1": true} {
		files := maps.Clone(v2)
		files["genes.tsv"] = strings.Replace(files["genes.tsv"], "G2", symbol, 1)
		c, err := cells.Open(t.Context(), folder(t, files))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(c.Caveat, "mitochondrial") != idle {
			t.Errorf("%s: %q", symbol, c.Caveat)
		}
		q, err := counted.Measure(c.Counts, c.Genes)
		if err != nil || (q.MitoGenes == 0) != idle || idle == (q.Mito[1] > 0) { // G2 is counted in the second cell
			t.Errorf("%s: %+v, %v", symbol, q, err)
		}
	}
}

func TestDamagedFoldersAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		file, old, new string // of v2; old "" removes the file
		want           string
	}{
		"no barcodes":           {"barcodes.tsv", "", "", "barcodes.tsv (or .gz): file does not exist"},
		"no genes":              {"genes.tsv", "", "", "features.tsv (or .gz): file does not exist"},
		"no matrix":             {"matrix.mtx", "", "", "matrix.mtx (or .gz): file does not exist"},
		"empty barcodes":        {"barcodes.tsv", v2["barcodes.tsv"], "", "barcodes.tsv: the file is empty"},
		"an empty barcode":      {"barcodes.tsv", "AAA-1", "", "barcodes.tsv:1: column 1 is empty"},
		"a barcode twice":       {"barcodes.tsv", "CCC-1", "AAA-1", `barcodes.tsv:2: "AAA-1" occurs twice`},
		"a cell more":           {"barcodes.tsv", "CCC-1\n", "CCC-1\nGGG-1\n", "matrix.mtx: line 3: a matrix of 3 x 2, expected 3 x 3"},
		"a gene less":           {"genes.tsv", "E3\tG1\n", "", "matrix.mtx: line 3: a matrix of 3 x 2, expected 2 x 2"},
		"a gene without symbol": {"genes.tsv", "E2\tG2", "E2", "genes.tsv: the gene \"E2\" has no symbol, and others have one"},
		"an empty symbol":       {"genes.tsv", "E2\tG2", "E2\t", "genes.tsv: the gene \"E2\" has no symbol, and others have one"},
		"an empty identifier":   {"genes.tsv", "E2\tG2", "\tG2", "genes.tsv:2: column 1 is empty"},
		"an open quote":         {"genes.tsv", "E2\tG2", "E2\t\"G2", "genes.tsv:2: a quote that is not closed"},
		"text behind a quote":   {"genes.tsv", "E2\tG2", "E2\t\"G2\"x", `genes.tsv:2: "x" after a closing quote`},
		"UTF-16 with a mark":    {"genes.tsv", "E1\tG1", "\xff\xfeE\x001\x00", "genes.tsv: the text is not UTF-8 but UTF-16"},
		"headings alone":        {"barcodes.tsv", v2["barcodes.tsv"], "barcode\n", "barcodes.tsv: nothing but headings"},
		"UTF-16":                {"genes.tsv", "E2\tG2", "\xff\xfeE\x00", "genes.tsv:2: not UTF-8"},
		"a long line":           {"genes.tsv", "E2\tG2", "E2\t" + strings.Repeat("G", 5000), "genes.tsv:2: longer than 4096 bytes"},
		"rows are cells":        {"matrix.mtx", "3 2 4", "2 3 4", "matrix.mtx: line 3: a matrix of 2 x 3, expected 3 x 2"},
		"a truncated matrix":    {"matrix.mtx", "2 2 1\n", "", "matrix.mtx: line 6: the file ends after 3 of the 4 entries announced"},
		"a negative count":      {"matrix.mtx", "3 1 7", "3 1 -7", `matrix.mtx: line 4: "3 1 -7": -7 is not a count`},
		"a normalised matrix":   {"matrix.mtx", "3 1 7", "3 1 0.7", `matrix.mtx: line 4: "3 1 0.7": 0.7 is not a count`},
		"a row outside":         {"matrix.mtx", "3 1 7", "4 1 7", `matrix.mtx: line 4: "4 1 7": row 4: there are rows 1 to 3`},
		"an entry twice":        {"matrix.mtx", "1 1 2", "3 1 2", "matrix.mtx: row 3, column 1 occurs twice"},
		"many barcodes more":    {"barcodes.tsv", "CCC-1", "CCC-1\nD\nE\nF", "barcodes.tsv:4: more lines than the 2 of the matrix"},
		"millions of genes":     {"matrix.mtx", "3 2 4", "5000000 2 4", "matrix.mtx: 5000000 genes, at most 4194304 are read"},
		"other text":            {"matrix.mtx", "%%MatrixMarket", "<html>", "matrix.mtx: line 1:"},
	} {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(v2)
			if files[c.file] = strings.Replace(files[c.file], c.old, c.new, 1); c.old == "" {
				delete(files, c.file)
			}
			if _, err := cells.Open(t.Context(), folder(t, files)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestWhatIsNoFolderOfTenXIsRefused(t *testing.T) {
	both := maps.Clone(v2)
	both["matrix.mtx.gz"] = both["matrix.mtx"]
	if _, err := cells.Open(t.Context(), folder(t, both)); err == nil || !strings.Contains(err.Error(), "remove one of them") {
		t.Errorf("got %v", err)
	}
	others := maps.Clone(v3)
	others["features.tsv"] = strings.ReplaceAll(others["features.tsv"], "Gene Expression", "Antibody Capture")
	if _, err := cells.Open(t.Context(), folder(t, others)); err == nil || !strings.Contains(err.Error(), "none of 4 features") {
		t.Errorf("antibodies alone: %v", err)
	}
	damaged := folder(t, compressed(v2))
	if err := os.WriteFile(filepath.Join(damaged, "genes.tsv.gz"), []byte("E1\tG1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := cells.Open(t.Context(), damaged); err == nil || !strings.Contains(err.Error(), "genes.tsv.gz: not a gzip file") {
		t.Errorf("got %v", err)
	}
	if _, err := cells.Open(t.Context(), filepath.Join(damaged, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := cells.Open(ctx, folder(t, v2)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestALittleGzipDoesNotFillTheMemory unpacks to 40 MB and says so long before.
func TestALittleGzipDoesNotFillTheMemory(t *testing.T) {
	for name, c := range map[string]struct{ matrix, line, want string }{
		"barcodes.tsv.gz": {"3 20000000 0", "AAA-1\n", `barcodes.tsv.gz:2: "AAA-1" occurs twice`},
		"genes.tsv.gz":    {"4000000 2 0", "E1\tG1 and more of it\n", "genes.tsv.gz:"},
		"matrix.mtx.gz":   {"3 2 4", "% a comment\n", "it holds more than text of its size can"},
	} {
		files := compressed(v2)
		files["matrix.mtx.gz"] = strings.Replace(files["matrix.mtx.gz"], "3 2 4", c.matrix, 1)
		long := strings.Repeat(c.line, 40_000_000/len(c.line))
		files[name] = strings.Replace(files[name], "%\n", long, 1)
		if name != "matrix.mtx.gz" {
			files[name] = long
		}
		_, err := cells.Open(t.Context(), folder(t, files))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if name == "genes.tsv.gz" && !strings.Contains(err.Error(), "it holds more than text of its size can") {
			t.Error(err)
		}
	}
}

func TestCheckSeesWhatDoesNotFit(t *testing.T) {
	for want, bend := range map[string]func(*cells.Cells){
		"1 barcodes for 2 x 3 counts":            func(c *cells.Cells) { c.Barcodes = c.Barcodes[:1] },
		"3 labels for 2 x 3 counts":              func(c *cells.Cells) { c.Y = []int{0, 0, 0} },
		"2 gene identifiers for":                 func(c *cells.Cells) { c.GeneIDs = c.GeneIDs[:2] },
		"4 genes for":                            func(c *cells.Cells) { c.Genes = append(c.Genes, "G9") },
		`1 values of "tissue" for 2 cells`:       func(c *cells.Cells) { c.Obs = map[string][]string{"tissue": {"x"}} },
		"cell 1 has the class 0 of 0":            func(c *cells.Cells) { c.Y = []int{-1, 0} },
		"cell 0 has the class -2":                func(c *cells.Cells) { c.Y = []int{-2, -1} },
		"cell 1 (CCC-1), gene G1-1: 0.5 is no":   func(c *cells.Cells) { c.Counts.Values[3] = 0.5 },
		"gene G1: -1 is no count":                func(c *cells.Cells) { c.Counts.Values[0] = -1 },
		"row 0 has column 3":                     func(c *cells.Cells) { c.Counts.Columns[1] = 3 },
		`the gene "G1" occurs twice, at 1 and 3`: func(c *cells.Cells) { c.Genes[2] = "G1" },
	} {
		c, err := cells.Open(t.Context(), folder(t, v2))
		if err != nil {
			t.Fatal(err)
		}
		if bend(c); c.Check() == nil || !strings.Contains(c.Check().Error(), want) {
			t.Errorf("got %v, want %q", c.Check(), want)
		}
	}
}

func TestOpenIsTheSameTwice(t *testing.T) {
	dir := folder(t, v3)
	a, err := cells.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := cells.Open(t.Context(), dir); err != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("%v", err)
	}
}

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "cells")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	for name, text := range v2 {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			fmt.Println(err)
			return
		}
	}
	c, err := cells.Open(context.Background(), dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Counts.Rows, "cells,", c.Counts.Cols, "genes:", c.Genes, c.Counts.At(0, 2))
	// Output: 2 cells, 3 genes: [G1 G2 G1-1] 7
}
