package cells

// Highly variable genes.

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Variable chooses highly variable genes by *seurat_v3* (Stuart et al. 2019). For every gene
// over N cells it computes mean m and variance v (divisor N-1). A curve of log10 v over log10 m
// (stats.Loess, degree 2) gives the expected variance s^2 at that mean, and
//
//	z_ig = min(x_ig, m + s sqrt(N)),  sum over cells of (z_ig - m)^2 / ((N-1) s^2)
//
// is the standardised variance: about 1 if a gene varies like others of its mean. The Top genes
// by it are chosen.
//
// The method is meant for raw counts. The paper's program applies it to the log-normalised
// values of PBMC-33k, despite a warning, and to the counts of Tabula Muris; the caller decides
// which values to pass.
//
// Differences from scanpy 1.11.5 and Seurat: a gene that does not vary has standardised variance
// 0 and expected variance 0, as in Seurat (scanpy: 1 for the latter); of tied genes the first
// are chosen (scanpy: any).
type Variable struct {
	Top  int     `json:"top,omitempty" default:"2000"`
	Span float64 `json:"span,omitempty" default:"0.3"`
}

// Dispersion is the result of Variable.Measure, an element per gene.
type Dispersion struct {
	Mean, Variance, Expected, Standardised []float64
}

// Select returns the chosen genes, ascending, and the dispersion of all genes. It refuses fewer
// than two cells, more genes than there are, and what stats.Loess refuses.
func (v Variable) Select(x array.Sparse[float32]) ([]int, *Dispersion, error) {
	v = defaults.Fill(v)
	if v.Top < 1 || v.Top > x.Cols {
		return nil, nil, fmt.Errorf("cells.Variable: %d of %d genes were requested", v.Top, x.Cols)
	}
	d, err := v.Measure(x)
	if err != nil {
		return nil, nil, err
	}
	genes := ascendingBy(x.Cols, func(a, b int) int { return cmp.Compare(d.Standardised[b], d.Standardised[a]) })
	genes = genes[:v.Top:v.Top]
	slices.Sort(genes)
	return genes, d, nil
}

// Measure returns mean, variance, expected and standardised variance of every gene.
func (v Variable) Measure(x array.Sparse[float32]) (*Dispersion, error) {
	v = defaults.Fill(v)
	if err := checkValues("Variable", x); err != nil {
		return nil, err
	}
	if x.Rows < 2 {
		return nil, fmt.Errorf("cells.Variable: %d cell has no variance", x.Rows)
	}
	defer progress.Begin("variable genes", 0).Done()
	n := float64(x.Rows)
	d := &Dispersion{Standardised: make([]float64, x.Cols)}
	d.Mean, d.Variance = moments(x)
	expected, err := v.expected(d.Mean, d.Variance)
	if err != nil {
		return nil, err
	}
	d.Expected = expected
	// Values above the limit count as the limit. Zeros are below it, and each of them is m away
	// from the mean.
	limit, nonzero := make([]float64, x.Cols), make([]int, x.Cols)
	for j, m := range d.Mean {
		limit[j] = m + math.Sqrt(expected[j]*n)
	}
	for k, j := range x.Columns {
		nonzero[j]++
		e := min(float64(x.Values[k]), limit[j]) - d.Mean[j]
		d.Standardised[j] += float64(e * e)
	}
	for j, m := range d.Mean {
		if expected[j] == 0 {
			d.Standardised[j] = 0
			continue
		}
		d.Standardised[j] = (d.Standardised[j] + float64((n-float64(nonzero[j]))*m*m)) / ((n - 1) * expected[j])
	}
	return d, nil
}

// expected is the expected variance of a gene of that mean, 0 for genes that do not vary.
func (v Variable) expected(mean, variance []float64) ([]float64, error) {
	var x, y []float64
	for j, s := range variance {
		if s > 0 {
			x, y = append(x, math.Log10(mean[j])), append(y, math.Log10(s))
		}
	}
	if len(x) == 0 {
		return nil, fmt.Errorf("cells.Variable: none of %d genes varies", len(mean))
	}
	fit, err := stats.Loess{Degree: 2, Span: v.Span}.Fit(x, y)
	if err != nil {
		return nil, fmt.Errorf("cells.Variable: variance over mean of %d genes: %w", len(x), err)
	}
	out, k := make([]float64, len(mean)), 0
	for j, s := range variance {
		if s > 0 {
			out[j] = math.Pow(10, fit[k])
			k++
		}
	}
	return out, nil
}

// moments returns mean and variance (divisor rows-1) of every column. Sums of counts are exact,
// so that genes with equal counts tie exactly.
func moments(x array.Sparse[float32]) (mean, variance []float64) {
	n := float64(x.Rows)
	mean, variance = make([]float64, x.Cols), make([]float64, x.Cols)
	nonzero := make([]int, x.Cols)
	for k, j := range x.Columns {
		mean[j] += float64(x.Values[k])
		nonzero[j]++
	}
	for j := range mean {
		mean[j] /= n
		variance[j] = (n - float64(nonzero[j])) * mean[j] * mean[j]
	}
	for k, j := range x.Columns {
		e := float64(x.Values[k]) - mean[j]
		variance[j] += float64(e * e)
	}
	for j, m := range mean {
		variance[j] /= n - 1
		if variance[j] < 1e-20*m*m { // one float32 throughout, and the rounding of its mean
			variance[j] = 0
		}
	}
	return mean, variance
}
