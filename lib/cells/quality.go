package cells

// Quality control, filtering and normalisation.

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
)

// Quality is the quality control of every cell, before filtering.
type Quality struct {
	Genes  []int     // genes detected: with a count above zero
	Counts []float64 // molecules
	Mito   []float64 // share of the counts on mitochondrial genes, in [0, 1]; 0 for a cell without counts

	// MitoGenes is the number of genes that are mitochondrial by their names. If it is 0,
	// MaxMito removes no cell.
	MitoGenes int
}

// Mitochondrial reports whether a gene is mitochondrial by its name, which begins
// with "MT-" (human), "mt-" (mouse) or "Mt-" (rat).
func Mitochondrial(gene string) bool { return len(gene) > 3 && strings.EqualFold(gene[:3], "MT-") }

// Measure returns the quality of every cell. It refuses counts that are negative
// or not finite, and names that are not one per column.
func Measure(counts array.Sparse[float32], genes []string) (*Quality, error) {
	if err := checkValues("Measure", counts); err != nil {
		return nil, err
	}
	if err := checkNames("Measure", counts, genes); err != nil {
		return nil, err
	}
	mito, found := make([]bool, len(genes)), 0
	for j, name := range genes {
		if mito[j] = Mitochondrial(name); mito[j] {
			found++
		}
	}
	q := &Quality{MitoGenes: found, Genes: make([]int, counts.Rows), Counts: make([]float64, counts.Rows), Mito: make([]float64, counts.Rows)}
	for i := range counts.Rows {
		columns, values := counts.Row(i)
		var all, of float64
		for k, v := range values {
			if v == 0 {
				continue
			}
			q.Genes[i]++
			all += float64(v)
			if mito[columns[k]] {
				of += float64(v)
			}
		}
		q.Counts[i] = all
		if all > 0 {
			q.Mito[i] = of / all
		}
	}
	return q, nil
}

// Filter selects cells and genes. The zero value is the paper's for PBMC: cells with at least
// 200 genes and strictly less than 10 % of their counts on mitochondrial genes; all genes. For
// Tabula Muris it also requires genes in at least 3 cells.
type Filter struct {
	MinGenes int     `json:"min_genes,omitempty" default:"200"` // 1 keeps every cell that has a count
	MaxMito  float64 `json:"max_mito,omitempty" default:"0.1"`  // share; 2 keeps every cell
	MinCells int     `json:"min_cells,omitempty"`               // 0: every gene is kept
}

func (f Filter) check() error {
	if f.MinGenes < 0 || f.MinCells < 0 || !(f.MaxMito >= 0) {
		return fmt.Errorf("the filter of cells: min genes %d, max mito %v and min cells %d: want no negative number", f.MinGenes, f.MaxMito, f.MinCells)
	}
	return nil
}

// Cells returns the kept cells, ascending.
func (f Filter) Cells(q *Quality) ([]int, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	f = defaults.Fill(f)
	var kept []int
	for i, n := range q.Genes {
		if n >= f.MinGenes && q.Mito[i] < f.MaxMito {
			kept = append(kept, i)
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("the filter of cells leaves none: none of %d cells has %d genes and less than %v of its counts on mitochondrial ones",
			len(q.Genes), f.MinGenes, f.MaxMito)
	}
	return kept, nil
}

// Genes returns the genes that have a count in at least MinCells of the given cells, ascending.
func (f Filter) Genes(counts array.Sparse[float32]) ([]int, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if err := checkValues("Filter", counts); err != nil {
		return nil, err
	}
	in := make([]int, counts.Cols)
	for k, j := range counts.Columns {
		if counts.Values[k] > 0 {
			in[j]++
		}
	}
	var kept []int
	for j, n := range in {
		if n >= f.MinCells {
			kept = append(kept, j)
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("the filter of genes leaves none: none of %d genes has a count in %d cells", counts.Cols, f.MinCells)
	}
	return kept, nil
}

// Normalise divides every cell by its sum and multiplies it by target (0: 10,000), in float64
// with one rounding:
//
//	y_ig = target x_ig / sum over all genes of x_i
//
// It refuses a cell without counts, which scanpy leaves unchanged.
func Normalise(counts array.Sparse[float32], target float64) (array.Sparse[float32], error) {
	target = cmp.Or(target, 1e4)
	if err := checkValues("Normalise", counts); err != nil {
		return array.Sparse[float32]{}, err
	}
	if !(target > 0) || math.IsInf(target, 0) {
		return array.Sparse[float32]{}, fmt.Errorf("cells.Normalise: target is %v, want a sum above 0", target)
	}
	out := counts
	out.Values = make([]float32, len(counts.Values))
	for i, sum := range totals(counts) {
		_, values := counts.Row(i)
		if sum == 0 {
			return array.Sparse[float32]{}, fmt.Errorf("cells.Normalise: cell %d has no counts: filter it out first", i)
		}
		for k, v := range values {
			out.Values[counts.Starts[i]+k] = float32(float64(v) * (target / sum))
		}
	}
	return out, nil
}

// Log1p returns ln(1 + x) of every element. Zeros stay zeros, so the result is sparse. It
// refuses negative elements.
func Log1p(x array.Sparse[float32]) (array.Sparse[float32], error) {
	if err := checkValues("Log1p", x); err != nil {
		return array.Sparse[float32]{}, err
	}
	out := x
	out.Values = make([]float32, len(x.Values))
	for k, v := range x.Values {
		out.Values[k] = float32(math.Log1p(float64(v)))
	}
	return out, nil
}

// totals are the sums of the rows.
func totals(x array.Sparse[float32]) []float64 {
	out := make([]float64, x.Rows)
	for i := range out {
		_, values := x.Row(i)
		for _, v := range values {
			out[i] += float64(v)
		}
	}
	return out
}
