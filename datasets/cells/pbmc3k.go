// PBMC-3k: description and loader.

package cells

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
)

// pbmc3k returns the description and the loader of PBMC-3k: 2,700 cells of one healthy donor's
// blood, the usual tutorial set.
//
// The hashes of the three files are of those in 10x Genomics' archive, on whose own SHA-256
// (847d6ebd...) public records agree. Copies exist whose matrix says "integer" where the published
// one says "real"; they do not differ otherwise.
//
// The labels are those of Seurat's guided clustering tutorial, which SeuratData publishes as an R
// object (seurat_annotations of pbmc3k.SeuratData 3.1.4). They are read from a table of barcode
// and label. 62 cells, which the tutorial's quality control removes, have none.
func pbmc3k() set {
	file := func(name string, size int64, sha string) datasets.File {
		return datasets.File{Name: name, Size: size, SHA256: sha, Sources: []datasets.Source{{
			URL:    "https://cf.10xgenomics.com/samples/cell-exp/1.1.0/pbmc3k/pbmc3k_filtered_gene_bc_matrices.tar.gz",
			Member: "filtered_gene_bc_matrices/hg19/" + name, Gzip: true}}}
	}
	matrix := file("matrix.mtx", 28179564, "7d92358b9d29128a225c50f2a662d6ccca9c71bc665e0af82692ed1361eb94e4")
	matrix.Alternates = []datasets.Alternate{{Size: 28179567, SHA256: "21cf738e43ecf61601f80fe18a7d575e7dd586b145e45a69323e5cf0d84a56e9",
		Differs: `the first line says "integer" where the published one says "real"`}}
	return set{
		info: datasets.Info{
			Name: "pbmc3k", Title: "PBMC-3k", Folder: "pbmc3k", Task: "the type of a blood cell from its counted molecules",
			Rows: 2700, Features: 32738,
			Classes: []string{"Naive CD4 T", "Memory CD4 T", "CD14+ Mono", "B", "CD8 T", "FCGR3A+ Mono", "NK", "DC", "Platelet"},
			Licence: "CC BY 4.0",
			Citation: "10x Genomics (2016), 3k PBMCs from a Healthy Donor, Cell Ranger 1.1.0; G. X. Y. Zheng et al. (2017), Massively " +
				"parallel digital transcriptional profiling of single cells, Nature Communications 8, 14049",
			Homepage:    "https://www.10xgenomics.com/datasets/3-k-pbm-cs-from-a-healthy-donor-1-standard-1-1-0",
			Description: "Molecules of 32,738 genes (hg19) in 2,700 peripheral blood mononuclear cells of a healthy donor.",
			Reading: []string{
				"Labels are those of Seurat's guided clustering tutorial: 62 cells have none. Without cell_types.tsv, which is not published " +
					"as a table, no cell has one.",
				"91 symbols are shared by several genes: the second is called name-1, as scanpy does.",
			},
			Files: []datasets.File{
				file("barcodes.tsv", 45900, "58c2a224a2b4258f7e8799a18890bda6d23824b247b80db2b08a0dcc36a4c660"),
				file("genes.tsv", 816952, "8778dd78085086be6dcafa8334f95f7cf76b25526e8ef2b63186db5127a1492c"),
				matrix,
				{Name: "cell_types.tsv", Size: 71134, SHA256: "77d91179c0716d5c50c5eab77755c63be3e026356ad4b2bc2ede3a10c5a9d375", Optional: true},
			},
		},
		load: func(r *loader) (*Cells, error) {
			t, err := openTriplet(r.text)
			if err != nil {
				return nil, err
			}
			defer t.close()
			c, err := t.read(r.ctx)
			if err != nil {
				return nil, err
			}
			labels, err := r.text("cell_types.tsv")
			if errors.Is(err, datasets.ErrMissing) {
				c.Caveat = "The file of the labels, cell_types.tsv, is missing: no cell has a label."
				return c, nil
			}
			if err != nil {
				return nil, err
			}
			defer labels.Close()
			return c, c.label(r, labels)
		},
	}
}

// label reads a table of barcode and class, in which every cell occurs once.
func (c *Cells) label(r *loader, f file) error {
	at := make(map[string]int, len(c.Barcodes))
	for i, b := range c.Barcodes {
		at[b] = i
	}
	header := true
	err := eachLine(r.ctx, f, 2, func(fields []string) error {
		if header {
			header = false
			return nil
		}
		i, ok := at[fields[0]]
		if !ok {
			return fmt.Errorf("no cell is called %q, or it occurs twice", fields[0])
		}
		delete(at, fields[0])
		if c.Y[i] = slices.Index(r.info.Classes, fields[1]); c.Y[i] < 0 && fields[1] != "NA" {
			return fmt.Errorf("no class is called %q", fields[1])
		}
		return nil
	})
	if err == nil && len(at) > 0 {
		return fmt.Errorf("datasets: %s: %d cells are not in the table", f.path, len(at))
	}
	return err
}
