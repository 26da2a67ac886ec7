package cells

// Principal components.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/progress"
)

// PCA finds the principal components of cells: with the columns of X (n x p)
// centred, X - 1 m' = U S V', the scores U S and the loadings V of the largest
// singular values. A sparse matrix is never made dense: (X - 1 m')v = Xv - (m'v)1.
//
// The sign of a component is not determined; here the loading that is largest in
// magnitude is positive (the first of those that tie), which is scikit-learn's
// svd_flip with u_based_decision=False. Components of equal variance are
// determined up to rotation only, and so are those of a method that has not
// converged.
type PCA struct {
	Components int       `json:"components,omitempty" default:"50"`
	Method     PCAMethod `json:"method,omitempty"` // "": Lanczos
	// Powers and Oversample are the randomised method's: power iterations (0: 7)
	// and extra columns (0: 10).
	Powers     int    `json:"powers,omitempty" default:"7"`
	Oversample int    `json:"oversample,omitempty" default:"10"`
	Seed       uint64 `json:"seed,omitempty"` // of start vectors
}

// PCAMethod names a way to compute components.
type PCAMethod string

// The methods of PCA.
const (
	// Lanczos is accurate to rounding, like ARPACK, which the paper's program uses: Lanczos's
	// method (1950) on X'X or XX', whichever is smaller, with full reorthogonalisation, until
	// the residuals of all components are below 1e-10 of the largest eigenvalue.
	Lanczos PCAMethod = ""
	// Randomised is algorithm 4.4 and 5.1 of Halko, Martinsson and Tropp (2011): accurate where
	// the spectrum falls, approximate where it is flat.
	Randomised PCAMethod = "randomised"
	// Exact is the singular value decomposition of the dense centred matrix, for small matrices.
	Exact PCAMethod = "exact"
)

// Components is the result of PCA.
type Components struct {
	Scores   array.Matrix[float64] // cells x components
	Loadings array.Matrix[float64] // components x genes, rows of length 1
	Variance []float64             // of each component, divisor n-1, descending
	Total    float64               // variance of all genes together
	Mean     []float64             // of each gene
}

// Sparse returns the components of a sparse matrix. It refuses more components than genes, or
// than cells less one.
func (p PCA) Sparse(x array.Sparse[float32]) (*Components, error) {
	if err := x.Check("cells.PCA"); err != nil {
		return nil, err
	}
	return p.fit(x.Rows, x.Cols, sparseRows(x))
}

// Dense returns the components of a dense matrix, such as Scale's.
func (p PCA) Dense(x array.Matrix[float32]) (*Components, error) {
	if err := x.Check("cells.PCA"); err != nil {
		return nil, err
	}
	return p.fit(x.Rows, x.Cols, denseRows(x))
}

func (p PCA) fit(n, genes int, x rows) (*Components, error) {
	defer progress.Begin("PCA", 0).Done()
	p = defaults.Fill(p)
	if p.Components < 1 || p.Components > min(n-1, genes) {
		return nil, fmt.Errorf("cells.PCA: %d components of %d cells x %d genes: there are at most %d", p.Components, n, genes, min(n-1, genes))
	}
	if p.Powers < 0 || p.Oversample < 0 {
		return nil, fmt.Errorf("cells.PCA: %d powers and %d extra columns: want no negative number", p.Powers, p.Oversample)
	}
	c := newCentred(n, genes, x)
	rng := rand.New(rand.NewPCG(p.Seed, 0))
	var basis array.Matrix[float64] // a component per row
	var err error
	switch p.Method {
	case Lanczos:
		basis, err = lanczos(c, p.Components, rng)
	case Randomised:
		basis, err = randomised(c, p, rng)
	case Exact:
		basis, err = exact(c, p.Components)
	default:
		return nil, fmt.Errorf("cells.PCA: unknown method %q", p.Method)
	}
	if err != nil {
		return nil, err
	}
	out := c.components(basis)
	vary := slices.IndexFunc(out.Variance, func(v float64) bool { return v <= 1e-24*out.Total })
	if vary < 0 && basis.Rows < p.Components {
		vary = basis.Rows
	}
	if vary >= 0 {
		return nil, fmt.Errorf("cells.PCA: only %d components vary, %d were requested", vary, p.Components)
	}
	return out, nil
}

// components computes the scores of loadings and fixes the signs.
func (c *centred) components(loadings array.Matrix[float64]) *Components {
	out := &Components{Loadings: loadings, Mean: c.mean, Total: c.total, Variance: make([]float64, loadings.Rows)}
	for k := range loadings.Rows {
		fixSign(loadings.Row(k))
	}
	out.Scores = c.times(loadings.Transpose())
	for i := range out.Scores.Rows {
		for k, v := range out.Scores.Row(i) {
			out.Variance[k] += float64(v * v)
		}
	}
	for k := range out.Variance {
		out.Variance[k] /= float64(c.n - 1)
	}
	return out
}

// fixSign flips a vector so that its largest element in magnitude is positive.
func fixSign(v []float64) {
	largest := 0.0
	for _, e := range v {
		if math.Abs(e) > math.Abs(largest) {
			largest = e
		}
	}
	if largest < 0 {
		for j := range v {
			v[j] = -v[j]
		}
	}
}

// rows returns row i: columns nil means all columns.
type rows func(i int) (columns []int32, values []float32)

func sparseRows(x array.Sparse[float32]) rows { return x.Row }

func denseRows(x array.Matrix[float32]) rows {
	return func(i int) ([]int32, []float32) { return nil, x.Row(i) }
}

// centred is a matrix less its column means.
type centred struct {
	n, genes int
	row      rows
	mean     []float64
	total    float64 // total variance
}

func newCentred(n, genes int, row rows) *centred {
	c := &centred{n: n, genes: genes, row: row, mean: make([]float64, genes)}
	each := func(f func(j int, v float64)) {
		for i := range n {
			columns, values := row(i)
			for k, v := range values {
				f(column(columns, k), float64(v))
			}
		}
	}
	each(func(j int, v float64) { c.mean[j] += v })
	nonzero, squares := make([]int, genes), 0.0
	for j := range c.mean {
		c.mean[j] /= float64(n)
	}
	each(func(j int, v float64) {
		nonzero[j]++
		squares += float64((v - c.mean[j]) * (v - c.mean[j]))
	})
	for j, m := range c.mean {
		squares += float64(float64(n-nonzero[j]) * m * m)
	}
	c.total = squares / float64(n-1)
	return c
}

func column(columns []int32, k int) int {
	if columns == nil {
		return k
	}
	return int(columns[k])
}

// times returns (X - 1 m') b, for b of genes x any.
func (c *centred) times(b array.Matrix[float64]) array.Matrix[float64] {
	out := array.New[float64](c.n, b.Cols)
	shift := make([]float64, b.Cols) // m' b
	for j, m := range c.mean {
		add(shift, m, b.Row(j))
	}
	c.eachPart(func(_, from, to int) {
		for i := from; i < to; i++ {
			sum := out.Row(i)
			columns, values := c.row(i)
			for k, v := range values {
				add(sum, float64(v), b.Row(column(columns, k)))
			}
			add(sum, -1, shift)
		}
	})
	return out
}

// transposeTimes returns (X - 1 m')' a, for a of cells x any.
func (c *centred) transposeTimes(a array.Matrix[float64]) array.Matrix[float64] {
	var partial, sums [numParts]array.Matrix[float64]
	c.eachPart(func(part, from, to int) {
		out, sum := array.New[float64](c.genes, a.Cols), array.New[float64](1, a.Cols)
		for i := from; i < to; i++ {
			columns, values := c.row(i)
			for k, v := range values {
				add(out.Row(column(columns, k)), float64(v), a.Row(i))
			}
			add(sum.Data, 1, a.Row(i))
		}
		partial[part], sums[part] = out, sum
	})
	out, sum := partial[0], sums[0]
	for p := 1; p < numParts; p++ {
		add(out.Data, 1, partial[p].Data)
		add(sum.Data, 1, sums[p].Data)
	}
	for j, m := range c.mean {
		add(out.Row(j), -m, sum.Data)
	}
	return out
}

// timesVector is times for one column.
func (c *centred) timesVector(b []float64) []float64 {
	out, shift := make([]float64, c.n), dot(c.mean, b)
	c.eachPart(func(_, from, to int) {
		for i := from; i < to; i++ {
			sum := -shift
			columns, values := c.row(i)
			if columns == nil {
				for j, v := range values {
					sum += float64(float64(v) * b[j])
				}
			}
			for k, j := range columns {
				sum += float64(float64(values[k]) * b[j])
			}
			out[i] = sum
		}
	})
	return out
}

// transposeTimesVector is transposeTimes for one column.
func (c *centred) transposeTimesVector(a []float64) []float64 {
	var partial [numParts][]float64
	c.eachPart(func(part, from, to int) {
		out := make([]float64, c.genes)
		for i := from; i < to; i++ {
			s := a[i]
			columns, values := c.row(i)
			if columns == nil {
				for j, v := range values {
					out[j] += float64(s * float64(v))
				}
			}
			for k, j := range columns {
				out[j] += float64(s * float64(values[k]))
			}
		}
		partial[part] = out
	})
	out, sum := partial[0], 0.0
	for _, v := range a {
		sum += v
	}
	for _, p := range partial[1:] {
		add(out, 1, p)
	}
	add(out, -sum, c.mean)
	return out
}

// numParts is the number of parts that rows are divided into. It is fixed, so that no sum
// depends on the number of cores.
const numParts = 8

// eachPart calls f on the parts of the rows, in parallel.
func (c *centred) eachPart(f func(part, from, to int)) { inParts(c.n, numParts, f) }

// inParts divides n items into the given number of parts and calls f on each, on all cores.
func inParts(n, parts int, f func(part, from, to int)) {
	turn := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for p := range parts {
		turn <- struct{}{}
		wg.Go(func() {
			f(p, p*n/parts, (p+1)*n/parts)
			<-turn
		})
	}
	wg.Wait()
}

// add adds s v to sum.
func add(sum []float64, s float64, v []float64) {
	for j, e := range v {
		sum[j] += float64(s * e)
	}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for j, v := range a {
		sum += float64(v * b[j])
	}
	return sum
}
