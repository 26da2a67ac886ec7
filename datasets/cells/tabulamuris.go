// Tabula Muris: cells of mouse tissues, joined from runs.

package cells

import (
	"archive/zip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/files"
)

// run is one run of the droplet part of Tabula Muris: its folder and its number of cells.
type run struct {
	folder string
	cells  int
}

// tissue returns the first part of the folder's name, channel the second.
func (r run) tissue() string { t, _, _ := strings.Cut(r.folder, "-"); return t }

func (r run) channel() string { _, c, _ := strings.Cut(r.folder, "-"); return c }

// runs are the runs that are read. Four others (Lung-10X_P8_12 and P8_13, Trachea-10X_P8_14 and
// P8_15) list all 737,000 barcodes, cells and empty droplets, and are left out.
var runs = []run{
	{"Bladder-10X_P4_3", 149}, {"Bladder-10X_P4_4", 1783}, {"Bladder-10X_P7_7", 568},
	{"Heart_and_Aorta-10X_P7_4", 654},
	{"Kidney-10X_P4_5", 610}, {"Kidney-10X_P4_6", 908}, {"Kidney-10X_P7_5", 1264},
	{"Limb_Muscle-10X_P7_14", 2242}, {"Limb_Muscle-10X_P7_15", 2301},
	{"Liver-10X_P4_2", 1006}, {"Liver-10X_P7_0", 596}, {"Liver-10X_P7_1", 322},
	{"Lung-10X_P7_8", 625}, {"Lung-10X_P7_9", 1525},
	{"Mammary_Gland-10X_P7_12", 1938}, {"Mammary_Gland-10X_P7_13", 2543},
	{"Marrow-10X_P7_2", 1981}, {"Marrow-10X_P7_3", 2131},
	{"Spleen-10X_P4_7", 3458}, {"Spleen-10X_P7_6", 6115},
	{"Thymus-10X_P7_11", 1431},
	{"Tongue-10X_P4_0", 3101}, {"Tongue-10X_P4_1", 2488}, {"Tongue-10X_P7_10", 1949},
}

const (
	tabulaLicence  = "CC BY 4.0"
	tabulaCitation = "The Tabula Muris Consortium (2018), Single-cell transcriptomics of 20 mouse organs creates a Tabula Muris, " +
		"Nature 562, 367-372"
	tabulaHomepage = "https://figshare.com/articles/dataset/5968960"
)

// tabulaMuris returns the description and the loader of 41,688 cells of eleven mouse tissues.
//
// The class of a cell is the tissue of its run. The annotations are joined by channel and barcode,
// 10X_P4_3_AAAGTAGAGATGCCAG for AAAGTAGAGATGCCAG-1 of Bladder-10X_P4_3; their columns are in Obs,
// "" for a cell without annotation. "Fishing for Privacy" joins them in the same way and has an
// empty tissue for such cells; here that is Obs["tissue"], while Y has the tissue of every cell.
//
// It needs about 2 GB of memory.
func tabulaMuris() set {
	const name, annotations = "droplet.zip", "annotations_droplet.csv"
	return set{
		info: datasets.Info{
			Name: "tabula_muris", Title: "Tabula Muris, droplets", Folder: "tabula_muris", Task: "the tissue of a mouse cell from its counted molecules",
			Rows: 41688, Features: 23433, Classes: tissues(runs),
			Licence: tabulaLicence, Citation: tabulaCitation, Homepage: tabulaHomepage,
			Description: "Molecules of 23,433 genes in 41,688 cells of eleven tissues of three-month-old mice, from 24 runs of 10x Genomics.",
			Reading: []string{
				"Neither SHA-256 nor MD5 is known: only the number of cells of every run is checked. `data get` does not download the files.",
				"4 of the 28 runs list every barcode and are left out: Lung-10X_P8_12, Lung-10X_P8_13, Trachea-10X_P8_14, Trachea-10X_P8_15.",
				"41,079 cells are annotated; the others have a tissue, that of their run, and nothing else.",
			},
			Files: []datasets.File{
				{Name: name, AtMost: 1 << 30, Compressed: true, Sources: []datasets.Source{{URL: "https://figshare.com/ndownloader/files/10700167"}}},
				{Name: annotations, AtMost: 1 << 26, Sources: []datasets.Source{{URL: "https://figshare.com/ndownloader/files/13088039"}}},
			},
		},
		load: func(r *loader) (*Cells, error) { return loadTabula(r, name, annotations, runs, 41079) },
	}
}

// tissues returns the class names, in the order of the runs.
func tissues(all []run) []string {
	var out []string
	for _, r := range all {
		out = append(out, r.tissue())
	}
	return slices.Compact(out)
}

// loadTabula reads the archive and the annotations, of which the given number should match a cell.
func loadTabula(r *loader, name, annotations string, runs []run, annotated int) (*Cells, error) {
	a, err := r.archive(name)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	entries, err := a.zipEntries()
	if err != nil {
		return nil, err
	}
	all, keys := &Cells{}, []string(nil)
	for _, run := range runs {
		c, err := readRun(r.ctx, a, entries, run)
		if err == nil {
			err = all.append(c, run)
		}
		if err != nil {
			return nil, err
		}
		for _, barcode := range c.Barcodes {
			keys = append(keys, run.channel()+"_"+strings.TrimSuffix(barcode, "-1"))
		}
	}
	table, err := r.text(annotations)
	if err != nil {
		return nil, err
	}
	defer table.Close()
	n, err := all.annotate(r.ctx, table, keys)
	if err != nil {
		return nil, err
	}
	all.Caveat = "No hash of the published files is known: only the number of cells of every run was checked."
	if n != annotated {
		all.Caveat += fmt.Sprintf(" %d cells are annotated, not %d: the annotations are another version.", n, annotated)
	}
	return all, nil
}

// readRun reads one folder of the archive.
func readRun(ctx context.Context, a *archive, entries map[string]*zip.File, run run) (*Cells, error) {
	t, err := openTriplet(func(names ...string) (file, error) {
		return a.openZipEntry(entries, "droplet/"+run.folder+"/"+names[len(names)-1])
	})
	if err != nil {
		return nil, err
	}
	defer t.close()
	c, err := t.read(ctx)
	if err == nil && len(c.Barcodes) != run.cells {
		err = fmt.Errorf("datasets: %s: %d cells, expected %d", t.barcodes.path, len(c.Barcodes), run.cells)
	}
	return c, err
}

// append adds the cells of a run, whose class is its tissue.
func (c *Cells) append(more *Cells, run run) error {
	if c.Genes == nil {
		c.Genes, c.GeneIDs, c.Counts = more.Genes, more.GeneIDs, array.Sparse[float32]{Cols: more.Counts.Cols, Starts: []int{0}}
	}
	if !slices.Equal(c.Genes, more.Genes) || !slices.Equal(c.GeneIDs, more.GeneIDs) {
		return fmt.Errorf("datasets: %s: other genes than the runs before", run.folder)
	}
	class := 0
	if n := len(c.Y); n > 0 {
		if class = c.Y[n-1]; run.tissue() != c.Obs["run_tissue"][n-1] {
			class++
		}
	} else {
		c.Obs = map[string][]string{}
	}
	from := len(c.Counts.Values)
	for _, start := range more.Counts.Starts[1:] {
		c.Counts.Starts = append(c.Counts.Starts, from+start)
	}
	c.Counts.Rows += more.Counts.Rows
	c.Counts.Columns = append(c.Counts.Columns, more.Counts.Columns...)
	c.Counts.Values = append(c.Counts.Values, more.Counts.Values...)
	for _, barcode := range more.Barcodes {
		c.Barcodes, c.Y = append(c.Barcodes, run.folder+"_"+barcode), append(c.Y, class)
		c.Obs["run"] = append(c.Obs["run"], run.folder)
		c.Obs["run_tissue"] = append(c.Obs["run_tissue"], run.tissue())
	}
	return nil
}

// annotate joins a table whose column cell holds the keys. It returns the number of cells that it
// found.
func (c *Cells) annotate(ctx context.Context, f file, keys []string) (found int, err error) {
	at := make(map[string]int, len(keys))
	for i, key := range keys {
		at[key] = i
	}
	text, err := files.NewTextReader(f)
	if err != nil {
		return 0, fmt.Errorf("datasets: %s: %w", f.path, err)
	}
	rows := csv.NewReader(text)
	rows.ReuseRecord = true
	header, err := rows.Read()
	if err != nil {
		return 0, fmt.Errorf("datasets: %s: %w", f.path, err)
	}
	header = slices.Clone(header)
	key := slices.Index(header, "cell")
	if key < 0 {
		return 0, fmt.Errorf("datasets: %s:1: no column is called cell, there are %q", f.path, header)
	}
	for k, name := range header {
		if _, twice := c.Obs[name]; twice {
			return 0, fmt.Errorf("datasets: %s:1: the column %q occurs twice, or its name is reserved", f.path, name)
		}
		if k != key {
			c.Obs[name] = make([]string, len(c.Barcodes))
		}
	}
	seen := map[string]bool{}
	for n := 2; ; n++ {
		record, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return found, ctx.Err()
		}
		if err != nil {
			return found, fmt.Errorf("datasets: %s: %w", f.path, err)
		}
		if seen[record[key]] {
			return found, fmt.Errorf("datasets: %s:%d: the cell %q occurs twice", f.path, n, record[key])
		}
		seen[strings.Clone(record[key])] = true
		i, ok := at[record[key]]
		if !ok {
			continue // of a run that is left out
		}
		found++
		for k, v := range record {
			if k != key {
				c.Obs[header[k]][i] = strings.Clone(v)
			}
		}
	}
}
