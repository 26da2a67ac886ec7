package cells

// The whole preparation, from counts to clusters.

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Choice selects cells and genes, and the scale of the values. The zero value is what the
// paper's program does with PBMC-33k: cells with at least 200 genes and less than 10 %
// mitochondrial counts, all genes; 10,000 counts per cell, ln(1 + x); 2,000 variable genes,
// chosen on the logged values.
type Choice struct {
	Filter   Filter   `json:"filter,omitzero"`
	Target   float64  `json:"target,omitempty" default:"1e4"` // counts per cell
	Variable Variable `json:"variable,omitzero"`
	// OnCounts chooses the variable genes on the counts, as the method was designed (corrected);
	// false: on the logged values, as coded for PBMC.
	OnCounts bool `json:"on_counts,omitempty"`
}

// Options are the settings of Prepare, from counts to clusters. The zero value is what the
// paper's program does with PBMC-33k: its Choice; 50 components of the logged values, 15
// neighbours on the first 30, Leiden at resolution 0.5.
type Options struct {
	Choice
	// Scaled brings every chosen gene to mean 0 and deviation 1 before the PCA, cut at Limit (0:
	// 10), as coded for Tabula Muris.
	Scaled     bool    `json:"scaled,omitempty"`
	Limit      float64 `json:"limit,omitempty"`
	PCA        PCA     `json:"pca,omitzero"`
	Use        int     `json:"use,omitempty" default:"30"`        // components that define the neighbours
	Neighbours int     `json:"neighbours,omitempty" default:"15"` // with the cell itself
	Forest     *Forest `json:"forest,omitempty"`                  // finds the neighbours approximately; nil: exactly
	Leiden     Leiden  `json:"leiden,omitzero"`
}

// TabulaMuris is what the paper's program does with Tabula Muris: genes in at least 3 cells,
// variable ones chosen on counts, scaled.
func TabulaMuris() Options {
	return Options{Choice: Choice{Filter: Filter{MinCells: 3}, OnCounts: true}, Scaled: true}
}

// SetDefaults implements defaults.Setter.
func (o *Options) SetDefaults() {
	if o.Scaled {
		o.Limit = cmp.Or(o.Limit, 10)
	}
}

// Chosen is the result of Choice: the kept cells and variable genes. Cells and Genes are rows
// and columns of the given counts; everything below Quality has a row per kept cell, in that
// order.
type Chosen struct {
	Cells   []int    // kept, ascending
	Genes   []int    // variable, ascending
	Quality *Quality // of every cell given, kept or not

	Counts  array.Sparse[float32] // raw counts of the variable genes
	Logged  array.Sparse[float32] // ln(1 + normalised counts) of the variable genes
	Library []float64             // counts of all genes that passed the filter
}

// Prepared is the result of Options.Prepare.
type Prepared struct {
	Chosen
	Scaled array.Matrix[float32] // of Logged, where Options.Scaled asks for it; otherwise empty
	PCA    *Components           // of Logged or Scaled
	Places array.Matrix[float64] // components that define the neighbours, a row per cell
	Graph  array.Sparse[float64] // neighbour graph
	Groups []int                 // cluster of every cell, by size, the largest 0
}

// Prepare turns counts, cells x genes, into clusters. rng is used by Leiden only; everything
// before is deterministic. It refuses what its steps refuse.
func (o Options) Prepare(counts array.Sparse[float32], genes []string, rng *rand.Rand) (*Prepared, error) {
	o = defaults.Fill(o)
	if o.Use < 1 || o.Use > o.PCA.Components {
		return nil, fmt.Errorf("cells.Prepare: neighbours on %d of %d components", o.Use, o.PCA.Components)
	}
	task := progress.Begin("preparing cells", 4)
	defer task.Done()
	chosen, err := o.Choose(counts, genes)
	if err != nil {
		return nil, err
	}
	task.Add(1)
	p := &Prepared{Chosen: *chosen}
	if err := o.computeComponents(p); err != nil {
		return nil, err
	}
	task.Add(1)
	near, err := o.findNeighbours(p.Places)
	if err != nil {
		return nil, err
	}
	task.Add(1)
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

// Choose filters cells and genes, normalises, and chooses the variable genes: the part of
// Options.Prepare before the PCA.
func (c Choice) Choose(counts array.Sparse[float32], genes []string) (*Chosen, error) {
	c = defaults.Fill(c)
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

// computeComponents computes the principal components.
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
