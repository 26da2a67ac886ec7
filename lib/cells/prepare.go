package cells

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
)

// Choice says which cells and genes are kept, and on what scale. The zero value is
// what the paper's program did to PBMC-33k: cells with at least 200 genes and less
// than 10 % mitochondrial counts, all genes; 10,000 counts per cell, ln(1 + x);
// 2,000 variable genes, chosen on the logged values.
type Choice struct {
	Filter   Filter   `json:"filter,omitzero"`
	Target   float64  `json:"target,omitempty"` // counts per cell; 0: 10,000
	Variable Variable `json:"variable,omitzero"`
	// OnCounts chooses the variable genes on the counts, for which the recipe was
	// made (corrected); false: on the logged values, as coded for PBMC.
	OnCounts bool `json:"on_counts,omitempty"`
}

// WithDefaults puts the defaults in the place of zeros.
func (c Choice) WithDefaults() Choice {
	c.Filter, c.Variable, c.Target = c.Filter.WithDefaults(), c.Variable.WithDefaults(), cmp.Or(c.Target, 1e4)
	return c
}

// Options say how counts become clusters. The zero value is what the paper's
// program did to PBMC-33k: its Choice; 50 components of the logged values as they
// are, 15 neighbours on the first 30, Leiden at resolution 0.5.
type Options struct {
	Choice
	// Scaled brings every chosen gene to mean 0 and deviation 1 before the
	// components are taken, cut at Limit (0: 10), as coded for Tabula Muris.
	Scaled     bool    `json:"scaled,omitempty"`
	Limit      float64 `json:"limit,omitempty"`
	PCA        PCA     `json:"pca,omitzero"`
	Use        int     `json:"use,omitempty"`        // components in which neighbours are near; 0: 30
	Neighbours int     `json:"neighbours,omitempty"` // with the cell itself; 0: 15
	Forest     *Forest `json:"forest,omitempty"`     // finds the neighbours approximately; nil: exactly
	Leiden     Leiden  `json:"leiden,omitzero"`
}

// TabulaMuris is what the paper's program did to Tabula Muris: genes in at
// least 3 cells, variable ones chosen on counts, scaled.
func TabulaMuris() Options {
	return Options{Choice: Choice{Filter: Filter{MinCells: 3}, OnCounts: true}, Scaled: true}
}

// WithDefaults puts the defaults in the place of zeros.
func (o Options) WithDefaults() Options {
	o.Choice, o.PCA, o.Leiden = o.Choice.WithDefaults(), o.PCA.WithDefaults(), o.Leiden.WithDefaults()
	o.Use, o.Neighbours = cmp.Or(o.Use, 30), cmp.Or(o.Neighbours, 15)
	if o.Scaled {
		o.Limit = cmp.Or(o.Limit, 10)
	}
	return o
}

// Chosen is what is left of counts when cells and genes were chosen. Cells and Genes
// are rows and columns of the counts that were given; everything below Quality has
// a row per kept cell, in their order.
type Chosen struct {
	Cells   []int    // kept, ascending
	Genes   []int    // variable, ascending
	Quality *Quality // of every cell given, kept or not

	Counts  array.Sparse[float32] // raw counts of the variable genes
	Logged  array.Sparse[float32] // ln(1 + normalised counts) of the variable genes
	Library []float64             // counts of all genes that passed the filter
}

// Prepared is what became of counts.
type Prepared struct {
	Chosen
	Scaled array.Matrix[float32] // of Logged, where Options.Scaled asks for it; otherwise empty
	PCA    *Components           // of Logged or Scaled
	Places array.Matrix[float64] // the components that neighbours were looked for in
	Graph  array.Sparse[float64] // of neighbours
	Groups []int                 // the cluster of every cell, by size, the largest 0
}

// Prepare goes from counts, cells x genes, to clusters. rng is Leiden's; everything
// before is determined by the counts. It refuses what its steps refuse.
func (o Options) Prepare(counts array.Sparse[float32], genes []string, rng *rand.Rand) (*Prepared, error) {
	o = o.WithDefaults()
	if o.Use < 1 || o.Use > o.PCA.Components {
		return nil, fmt.Errorf("cells.Prepare: neighbours on %d of %d components", o.Use, o.PCA.Components)
	}
	chosen, err := o.Choose(counts, genes)
	if err != nil {
		return nil, err
	}
	p := &Prepared{Chosen: *chosen}
	if err := o.computeComponents(p); err != nil {
		return nil, err
	}
	near, err := o.findNeighbours(p.Places)
	if err != nil {
		return nil, err
	}
	if p.Graph, err = near.Connectivities(); err != nil {
		return nil, err
	}
	p.Groups, err = o.Leiden.Clusters(p.Graph, rng)
	return p, err
}

func (o Options) findNeighbours(places array.Matrix[float64]) (*Neighbours, error) {
	if o.Forest != nil {
		return o.Forest.NearestOthers(places, o.Neighbours)
	}
	return NearestOthers(places, o.Neighbours)
}

// Choose leaves out cells and genes that do not pass the filter, normalises, and
// chooses the variable genes: the part of Options.Prepare before the components.
func (c Choice) Choose(counts array.Sparse[float32], genes []string) (*Chosen, error) {
	c = c.WithDefaults()
	out := &Chosen{}
	var err error
	if out.Quality, err = Measure(counts, genes); err != nil {
		return nil, err
	}
	if out.Cells, err = c.Filter.Cells(out.Quality); err != nil {
		return nil, err
	}
	counts = counts.Gather(out.Cells)
	kept, err := c.Filter.Genes(counts)
	if err != nil {
		return nil, err
	}
	if len(kept) < counts.Cols {
		counts = counts.Select(kept)
	}
	logged, err := Normalise(counts, c.Target)
	if err != nil {
		return nil, err
	}
	if logged, err = Log1p(logged); err != nil {
		return nil, err
	}
	judged := logged
	if c.OnCounts {
		judged = counts
	}
	chosen, _, err := c.Variable.Select(judged)
	if err != nil {
		return nil, err
	}
	out.Counts, out.Logged, out.Library = counts.Select(chosen), logged.Select(chosen), totals(counts)
	for _, j := range chosen {
		out.Genes = append(out.Genes, kept[j])
	}
	return out, nil
}

// computeComponents finds the components.
func (o Options) computeComponents(p *Prepared) (err error) {
	if o.Scaled {
		if p.Scaled, err = Scale(p.Logged, o.Limit); err != nil {
			return err
		}
		p.PCA, err = o.PCA.Dense(p.Scaled)
	} else {
		p.PCA, err = o.PCA.Sparse(p.Logged)
	}
	if err != nil {
		return err
	}
	p.Places = array.New[float64](p.PCA.Scores.Rows, o.Use)
	for i := range p.Places.Rows {
		copy(p.Places.Row(i), p.PCA.Scores.Row(i))
	}
	return nil
}
