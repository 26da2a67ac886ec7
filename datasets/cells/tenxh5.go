// 10x Genomics' matrix in HDF5.

package cells

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lethe-ml/lethe/datasets/hdf5"
)

// tenXH5 reads 10x Genomics' matrix in HDF5: since Cell Ranger 3 the group matrix with all
// features, before that a group per genome, of which there must be one.
func tenXH5(f *hdf5.File) (*Cells, error) {
	names, err := f.Names("/")
	if err != nil {
		return nil, err
	}
	if three, err := f.Has("matrix"); err != nil || three {
		return tenXGroup(f, "matrix", "features/id", "features/name", "features/feature_type", err)
	}
	if len(names) != 1 {
		return nil, fmt.Errorf("the groups %s: a file of one genome is read", strings.Join(names, ", "))
	}
	return tenXGroup(f, names[0], "genes", "gene_names", "", nil)
}

// tenXGroup reads one group; kinds is "" if all features are genes.
func tenXGroup(f *hdf5.File, group, ids, symbols, kinds string, err error) (*Cells, error) {
	if err != nil {
		return nil, err
	}
	c := &Cells{}
	for path, into := range map[string]*[]string{"barcodes": &c.Barcodes, ids: &c.GeneIDs, symbols: &c.Genes} {
		if *into, err = toStrings(f.Read(group + "/" + path)); err != nil {
			return nil, err
		}
	}
	shape, err := read[int](f, group+"/shape")
	if err != nil {
		return nil, err
	}
	if len(shape) != 2 || shape[0] != len(c.Genes) || shape[1] != len(c.Barcodes) || len(c.GeneIDs) != len(c.Genes) {
		return nil, fmt.Errorf("%s/shape: %v for %d genes (%d identifiers) and %d barcodes", group, shape, len(c.Genes), len(c.GeneIDs), len(c.Barcodes))
	}
	if c.Counts, err = compressed(f, group, len(c.Barcodes), len(c.Genes)); err != nil {
		return nil, err
	}
	c.Genes, c.Y = Unique(c.Genes), noLabels(len(c.Barcodes))
	if kinds == "" {
		return c, nil
	}
	kind, err := toStrings(f.Read(group + "/" + kinds))
	if err == nil && len(kind) != len(c.Genes) {
		err = errors.New(group + "/" + kinds + ": not one for every feature")
	}
	if err != nil {
		return nil, err
	}
	var kept []int
	for j, k := range kind {
		if k == geneExpression {
			kept = append(kept, j)
		}
	}
	c.keep(kept)
	return c, nil
}

// keep drops all genes but the given ones.
func (c *Cells) keep(genes []int) {
	if len(genes) == len(c.Genes) {
		return
	}
	c.Counts = c.Counts.Select(genes)
	c.GeneIDs, c.Genes = gather(c.GeneIDs, genes), gather(c.Genes, genes)
}
