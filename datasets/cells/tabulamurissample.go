// Three runs of Tabula Muris as anndata files.

package cells

import (
	"bytes"
	"fmt"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/hdf5"
)

// tabulaMurisSample returns the description and the loader of three runs of Tabula Muris as
// anndata files, genes x cells. Neither genes nor cells have names in them, only numbers, so the
// annotations (of 593 of 596 and 277 of 322 cells) cannot be joined; the class is the tissue.
func tabulaMurisSample() set {
	sample := []run{{"Bladder-10X_P4_3", 149}, {"Liver-10X_P7_0", 596}, {"Liver-10X_P7_1", 322}}
	file := func(r run, size int64, sha string) datasets.File {
		return datasets.File{Name: r.folder + ".h5ad", Size: size, SHA256: sha}
	}
	return set{
		info: datasets.Info{
			Name: "tabula_muris_sample", Title: "Tabula Muris, three runs", Folder: "tabula_muris",
			Task: "the tissue of a mouse cell from its counted molecules",
			Rows: 1067, Features: 23433, Classes: tissues(sample),
			Licence: tabulaLicence, Citation: tabulaCitation, Homepage: tabulaHomepage,
			Description: "1,067 cells of the droplet part of Tabula Muris, of bladder and liver: 2.6 % of it, for trials.",
			Reading: []string{
				"The files are copies in another format without the names of genes and cells; whether the counts are the published ones was not compared.",
				"Cell types cannot be joined, because the cells have no barcodes; the class is the tissue.",
			},
			Files: []datasets.File{
				file(sample[0], 2247913, "a4f43a5bf6d2aea9c83f17c20e31c078db88aef7d413656d8eb68cb348a983ca"),
				file(sample[1], 3566354, "bde5394afde46c89f3f7eb913177f751a760a0168d9948275171896cfb5aaa34"),
				file(sample[2], 2181290, "2a15ade6a1eadc2475fb8f88aa352fcef85ac3faae5a04f43e30ed50c51414d8"),
			},
		},
		load: func(r *loader) (*Cells, error) {
			all := &Cells{}
			for _, run := range sample {
				c, err := r.readTransposed(run)
				if err == nil {
					err = all.append(c, run)
				}
				if err != nil {
					return nil, err
				}
			}
			all.Caveat = "Three of the 24 runs, as copies in another format that were not compared with the published files; genes have no names."
			return all, nil
		},
	}
}

// readTransposed reads a run whose matrix is genes x cells.
func (r *loader) readTransposed(run run) (*Cells, error) {
	path, b, source, err := datasets.ReadFile(r.ctx, r.info, run.folder+".h5ad")
	if err != nil {
		return nil, err
	}
	r.sources = append(r.sources, source)
	c, err := func() (*Cells, error) {
		f, err := hdf5.New(bytes.NewReader(b), int64(len(b)), path)
		if err != nil {
			return nil, err
		}
		h := NewH5AD(f)
		genes, err := h.Frame("obs")
		if err != nil {
			return nil, err
		}
		cells, err := h.Frame("var")
		if err != nil {
			return nil, err
		}
		x, err := h.Matrix("X", len(genes.Index), len(cells.Index))
		if err != nil {
			return nil, err
		}
		return &Cells{Counts: x.Transpose(), Barcodes: cells.Index, GeneIDs: genes.Index, Genes: Unique(genes.Index)}, nil
	}()
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	if c.Counts.Rows != run.cells || len(c.Barcodes) != run.cells {
		return nil, fmt.Errorf("datasets: %s: %d cells and %d names of them, expected %d", path, c.Counts.Rows, len(c.Barcodes), run.cells)
	}
	return c, nil
}
