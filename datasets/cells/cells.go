package cells

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
)

// Cells is a set of single cells whose molecules were counted, gene by gene.
type Cells struct {
	datasets.About

	// Counts is cells x genes, as published: raw, not normalised.
	Counts array.Sparse[float32]

	// Barcodes names the cells, no two alike.
	Barcodes []string

	// GeneIDs and Genes name the genes, by the publisher's identifier and by a
	// symbol that no other gene has; see Unique.
	GeneIDs, Genes []string

	// Y codes the cells' classes; -1 where the publisher gives none.
	Y []int

	// Obs holds what else is published of the cells, an entry per cell, "" where
	// nothing is.
	Obs map[string][]string

	notes []string // sentences for Caveat, of a file of anybody's
}

// set is what one data set's file contributes: what it is, and how to read it.
type set struct {
	info datasets.Info
	load func(*loader) (*Cells, error)
}

// sets lists every set of cells in the order that All reports.
func sets() []set {
	return []set{pbmc3k(), pbmc33k(), tabulaMuris(), tabulaMurisSample(), simulatedCells(), simulatedAtlas()}
}

// All lists every set of cells.
func All() []datasets.Info {
	all := sets()
	out := make([]datasets.Info, len(all))
	for i, s := range all {
		out[i] = s.info
	}
	return out
}

// Lookup returns the named set, or an error that suggests the names close to the
// one given.
func Lookup(name string) (datasets.Info, error) { return datasets.LookupIn(All(), name) }

// Load reads a set from the folder datasets.Dir and checks the hash of every file
// before it uses a byte of it. It never downloads; see package fetch.
//
// Errors name the file, and the line or object that cannot be read.
func Load(ctx context.Context, name string) (*Cells, error) {
	for _, s := range sets() {
		if s.info.Name == name {
			return s.read(&loader{ctx: ctx, info: s.info})
		}
	}
	_, err := Lookup(name)
	return nil, err
}

// read loads a set and holds it to its Info.
func (s set) read(r *loader) (*Cells, error) {
	c, err := s.load(r)
	if err != nil {
		return nil, err
	}
	c.Name, c.Title, c.Classes, c.Sources, c.Synthetic = s.info.Name, s.info.Title, s.info.Classes, r.sources, s.info.Synthetic
	if c.Counts.Rows != s.info.Rows || c.Counts.Cols != s.info.Features {
		return nil, fmt.Errorf("datasets: %s: %d cells x %d genes, expected %d x %d",
			c.Name, c.Counts.Rows, c.Counts.Cols, s.info.Rows, s.info.Features)
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	c.Hash = c.hash()
	return c, nil
}

// loader is one call of Load: what is read and which files were.
type loader struct {
	ctx     context.Context
	info    datasets.Info
	sources []datasets.SourceFile
}

// text opens the first of the named files that the set has, after its hash was
// checked.
func (r *loader) text(names ...string) (file, error) {
	name := names[0]
	for _, f := range r.info.Files {
		if slices.Contains(names, f.Name) {
			name = f.Name
		}
	}
	path, text, source, err := datasets.OpenText(r.ctx, r.info, name)
	if err != nil {
		return file{}, err
	}
	r.sources = append(r.sources, source)
	return file{path, text}, nil
}

// file is an open file under the name that messages call it by.
type file struct {
	path string
	io.ReadCloser
}

// noLabels is a class code per cell that says there is none.
func noLabels(cells int) []int {
	y := make([]int, cells)
	for i := range y {
		y[i] = -1
	}
	return y
}
