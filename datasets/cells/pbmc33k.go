// PBMC-33k: description and loader.

package cells

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
)

// pbmc33k returns the description and the loader of PBMC-33k: 33,148 cells of one healthy donor's
// blood from six lanes, the set of "Fishing for Privacy". There are no published labels.
//
// No SHA-256 of the archive is known. The MD5 is the one that Bioconductor's TENxPBMCData states
// for its source; that record agrees with others about the archive of pbmc3k. The data are
// compared with the published shape and the number of cells per lane.
func pbmc33k() set {
	const name = "pbmc33k_filtered_gene_bc_matrices.tar.gz"
	return set{
		info: datasets.Info{
			Name: "pbmc33k", Title: "PBMC-33k", Folder: "pbmc33k", Task: "which blood cells are similar: there are no labels",
			Rows: 33148, Features: 32738,
			Licence: "CC BY 4.0",
			Citation: "10x Genomics (2016), 33k PBMCs from a Healthy Donor, Cell Ranger 1.1.0; G. X. Y. Zheng et al. (2017), Massively " +
				"parallel digital transcriptional profiling of single cells, Nature Communications 8, 14049",
			Homepage:    "https://www.10xgenomics.com/datasets/33-k-pbm-cs-from-a-healthy-donor-1-standard-1-1-0",
			Description: "Molecules of 32,738 genes (hg19) in 33,148 peripheral blood mononuclear cells of a healthy donor, of six lanes.",
			Reading: []string{
				"No SHA-256 is known: the archive is checked by the MD5 that Bioconductor's TENxPBMCData states, which guards against damage only.",
				"The lane of a cell, the number after its barcode, is in the column \"lane\"; the published experiments do not use it.",
			},
			Files: []datasets.File{{Name: name, AtMost: 1 << 28, MD5: "fef79ae6064f704888df538aba3f1d5c", Compressed: true,
				Sources: []datasets.Source{{URL: "https://cf.10xgenomics.com/samples/cell-exp/1.1.0/pbmc33k/" + name}}}},
		},
		load: func(r *loader) (*Cells, error) {
			return loadPBMC33k(r, name, []int{5012, 5678, 5623, 6027, 5381, 5427})
		},
	}
}

// loadPBMC33k reads the archive; lanes are the expected numbers of cells per lane.
func loadPBMC33k(r *loader, name string, lanes []int) (*Cells, error) {
	a, err := r.archive(name)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	t, err := openTriplet(func(names ...string) (file, error) {
		return a.openTarEntry("filtered_gene_bc_matrices/hg19/" + names[len(names)-1])
	})
	if err != nil {
		return nil, err
	}
	defer t.close()
	c, err := t.read(r.ctx)
	if err != nil {
		return nil, err
	}
	column, got := make([]string, len(c.Barcodes)), make([]int, len(lanes))
	for i, barcode := range c.Barcodes {
		_, lane, _ := strings.Cut(barcode, "-")
		for k := range got {
			if lane == fmt.Sprint(k+1) {
				got[k]++
			}
		}
		column[i] = lane
	}
	if !slices.Equal(got, lanes) {
		return nil, fmt.Errorf("datasets: %s: lanes of %d cells, expected %d", t.barcodes.path, got, lanes)
	}
	c.Obs = map[string][]string{"lane": column}
	return c, nil
}
