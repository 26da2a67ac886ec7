package cells

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"maps"
	"slices"
	"strings"
	"testing"
)

// tarball packs the files of pbmc33k's archive.
func tarball(t *testing.T, files map[string]string) string {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := w.WriteHeader(&tar.Header{Name: "filtered_gene_bc_matrices/hg19/" + name, Size: int64(len(files[name])), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// lanes is a set of pbmc33k's form, four cells in two lanes.
func lanes() map[string]string {
	files := small()
	files["barcodes.tsv"] = "A-1\nB-1\nC-1\nA-2\n"
	return files
}

func readLanes(t *testing.T, archive string) (*Cells, error) {
	const name = "pbmc33k_filtered_gene_bc_matrices.tar.gz"
	s := pbmc33k()
	s.load = func(r *loader) (*Cells, error) { return loadPBMC33k(r, name, []int{3, 1}) }
	return writeCells(t, s, 4, 3, map[string]string{name: archive})
}

func TestPBMC33kIsReadFromItsArchive(t *testing.T) {
	c, err := readLanes(t, tarball(t, lanes()))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Obs["lane"], []string{"1", "1", "1", "2"}) || !slices.Equal(c.Y, []int{-1, -1, -1, -1}) || c.Counts.At(0, 2) != 7 {
		t.Errorf("%+v", c)
	}
	other, none := lanes(), lanes()
	other["barcodes.tsv"] = "A-1\nB-1\nA-2\nB-2\n"
	delete(none, "genes.tsv")
	for want, archive := range map[string]string{
		"barcodes.tsv: lanes of [2 2] cells, expected [3 1]": tarball(t, other),
		"hg19/genes.tsv: no such entry":                      tarball(t, none),
		"not a gzip file":                                    "<html>not found</html>",
		"unexpected EOF":                                     tarball(t, lanes())[:200],
	} {
		if _, err := readLanes(t, archive); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "pbmc33k") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// mice are two tissues in three runs, as droplet.zip has them.
var mice = []run{{"Bladder-10X_P4_3", 2}, {"Liver-10X_P4_2", 1}, {"Liver-10X_P7_0", 2}}

func droplets() map[string]string {
	const genes = "Xkr4\tXkr4\nSox17\tSox17\n"
	files := map[string]string{}
	add := func(folder, barcodes, matrix string) {
		files["droplet/"+folder+"/barcodes.tsv"], files["droplet/"+folder+"/genes.tsv"] = barcodes, genes
		files["droplet/"+folder+"/matrix.mtx"] = "%%MatrixMarket matrix coordinate integer general\n%\n" + matrix
	}
	add("Bladder-10X_P4_3", "AAA-1\nCCC-1\n", "2 2 2\n1 1 4\n2 2 5\n")
	add("Liver-10X_P4_2", "AAA-1\n", "2 1 1\n2 1 6\n")
	add("Liver-10X_P7_0", "GGG-1\nTTT-1\n", "2 2 3\n1 1 7\n2 1 8\n1 2 9\n")
	add("Lung-10X_P8_12", "AAA-1\n", "2 1 0\n") // left out
	return files
}

const notes = "cell,tissue,cell_ontology_class\n10X_P7_0_TTT,Liver,hepatocyte\n10X_P4_3_AAA,Bladder,\"bladder, cell\"\n10X_P8_12_AAA,Lung,x\n"

func readMice(t *testing.T, files map[string]string, notes string, annotated int) (*Cells, error) {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	s := tabulaMuris()
	s.info.Classes = tissues(mice)
	s.load = func(r *loader) (*Cells, error) {
		return loadTabula(r, "droplet.zip", "annotations_droplet.csv", mice, annotated)
	}
	return writeCells(t, s, 5, 2, map[string]string{"droplet.zip": buf.String(), "annotations_droplet.csv": notes})
}

func TestRunsAreJoinedAndAnnotatedByChannelAndBarcode(t *testing.T) {
	c, err := readMice(t, droplets(), notes, 2)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float32{4, 0, 0, 5, 0, 6, 7, 8, 9, 0}; !slices.Equal(c.Counts.Dense().Data, want) {
		t.Errorf("counts %v", c.Counts.Dense().Data)
	}
	if !slices.Equal(c.Y, []int{0, 0, 1, 1, 1}) || !slices.Equal(c.Classes, []string{"Bladder", "Liver"}) || c.Barcodes[2] != "Liver-10X_P4_2_AAA-1" {
		t.Errorf("%v of %v, %v", c.Y, c.Classes, c.Barcodes)
	}
	for name, want := range map[string][]string{
		"tissue":              {"Bladder", "", "", "", "Liver"},
		"cell_ontology_class": {"bladder, cell", "", "", "", "hepatocyte"},
		"run_tissue":          {"Bladder", "Bladder", "Liver", "Liver", "Liver"},
	} {
		if !slices.Equal(c.Obs[name], want) {
			t.Errorf("%s: %q", name, c.Obs[name])
		}
	}
	if !strings.HasPrefix(c.Caveat, "No hash") || strings.Contains(c.Caveat, "another version") {
		t.Errorf("caveat %q", c.Caveat)
	}
	if c, err = readMice(t, droplets(), "\xef\xbb\xbf"+strings.ReplaceAll(notes, "\n", "\r\n"), 2); err != nil || c.Obs["tissue"][4] != "Liver" {
		t.Errorf("as Windows writes it: %v", err)
	}
	if c, err = readMice(t, droplets(), notes, 3); err != nil || !strings.Contains(c.Caveat, "2 cells are annotated, not 3") {
		t.Errorf("%v, %v", c, err)
	}
}

func TestRunsThatDoNotFitAreRefused(t *testing.T) {
	with := func(name, old, new string) map[string]string {
		files := droplets()
		name = "droplet/" + name
		if files[name] = strings.Replace(files[name], old, new, 1); files[name] == "" {
			delete(files, name)
		}
		return files
	}
	for want, c := range map[string]struct {
		files map[string]string
		notes string
	}{
		"droplet/Liver-10X_P4_2/matrix.mtx: no such entry": {with("Liver-10X_P4_2/matrix.mtx", droplets()["droplet/Liver-10X_P4_2/matrix.mtx"], ""), notes},
		"Liver-10X_P4_2: other genes than the runs before": {with("Liver-10X_P4_2/genes.tsv", "Sox17\tSox17", "Sox18\tSox18"), notes},
		"P7_0/barcodes.tsv: 3 cells, expected 2": {func() map[string]string {
			files := with("Liver-10X_P7_0/barcodes.tsv", "TTT-1\n", "TTT-1\nAAA-1\n")
			files["droplet/Liver-10X_P7_0/matrix.mtx"] = strings.Replace(files["droplet/Liver-10X_P7_0/matrix.mtx"], "2 2 3", "2 3 3", 1)
			return files
		}(), notes},
		"P7_0/matrix.mtx: line 5: \"2 1 -8\": -8 is not": {with("Liver-10X_P7_0/matrix.mtx", "2 1 8", "2 1 -8"), notes},
		"annotations_droplet.csv:1: no column is called": {droplets(), strings.Replace(notes, "cell,", "name,", 1)},
		"annotations_droplet.csv:1: the column \"run\"":  {droplets(), strings.Replace(notes, "tissue", "run", 1)},
		"annotations_droplet.csv:3: the cell \"10X_P7_0": {droplets(), strings.Replace(notes, "10X_P4_3_AAA", "10X_P7_0_TTT", 1)},
		"annotations_droplet.csv: record on line 2":      {droplets(), strings.Replace(notes, "Liver,", "", 1)},
	} {
		if _, err := readMice(t, c.files, c.notes, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestTheRunsAddUpToThePublishedCells(t *testing.T) {
	total := 0
	for _, r := range runs {
		total += r.cells
	}
	if info := tabulaMuris().info; total != info.Rows || len(runs) != 24 || len(info.Classes) != 11 {
		t.Errorf("%d cells in %d runs of %d tissues", total, len(runs), len(info.Classes))
	}
}
