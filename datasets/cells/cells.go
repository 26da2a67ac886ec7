// Sets of single cells: the type, the list of sets, and loading.

package cells

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Cells is a set of single cells with counts of molecules per gene.
type Cells struct {
	datasets.About

	// Counts is cells x genes: the published raw counts.
	Counts array.Sparse[float32]

	// Barcodes are the distinct names of the cells.
	Barcodes []string

	// GeneIDs and Genes are the publisher's identifiers and the distinct symbols of
	// the genes; see Unique.
	GeneIDs, Genes []string

	// Y holds the class code of every cell, -1 if the publisher gives none.
	Y []int

	// Obs holds further published columns by name, an entry per cell, "" for a
	// missing value.
	Obs map[string][]string

	notes   []string          // sentences for Caveat
	skipped map[string]string // why a column of the file is not in Obs
}

// Skipped returns why a column of the file is not in Obs, "" if it is or the file has none of this name.
func (c *Cells) Skipped(column string) string { return c.skipped[column] }

// set is one data set: its description and its loader.
type set struct {
	info datasets.Info
	load func(*loader) (*Cells, error)
}

// sets returns every set of cells in the order of All.
func sets() []set {
	return []set{pbmc3k(), pbmc33k(), tabulaMuris(), tabulaMurisSample(), simulatedCells(), simulatedAtlas()}
}

// All returns every set of cells.
func All() []datasets.Info {
	all := sets()
	out := make([]datasets.Info, len(all))
	for i, s := range all {
		out[i] = s.info
	}
	return out
}

// Lookup returns the named set, or an error that suggests similar names.
func Lookup(name string) (datasets.Info, error) { return datasets.LookupIn(All(), name) }

// Load reads a set from the folder datasets.Dir and checks the hash of every file before it uses
// it. It never downloads; see package fetch.
//
// Errors name the file, and the line or object that cannot be read.
func Load(ctx context.Context, name string) (*Cells, error) {
	for _, s := range sets() {
		if s.info.Name == name {
			ctx, task := progress.Start(ctx, "loading "+name, 0)
			defer task.Done()
			return s.read(&loader{ctx: ctx, info: s.info})
		}
	}
	_, err := Lookup(name)
	return nil, err
}

// read loads a set and compares it with its Info.
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

// loader is one call of Load: what is read, and from which files.
type loader struct {
	ctx     context.Context
	info    datasets.Info
	sources []datasets.SourceFile
}

// text opens the first of the named files that the set has, after checking its hash.
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

// file is an open file and its name in messages.
type file struct {
	path string
	io.ReadCloser
}

// noLabels returns the class code -1 for every cell.
func noLabels(cells int) []int {
	y := make([]int, cells)
	for i := range y {
		y[i] = -1
	}
	return y
}
