package ruler

import (
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/lethe-ml/lethe/lib/array"
)

// tileSize is the side of the square blocks in which similarities are formed:
// 4 MiB of float32, so that a gallery of any size needs no n x n matrix.
const tileSize = 1024

// cloud is a set of unit embeddings in float64, which decides, and in float32,
// which is fast.
type cloud struct {
	exact  array.Matrix[float64]
	single array.Matrix[float32]
}

func newCloud(m *array.Matrix[float64], rows []int) cloud {
	exact := units(m, rows)
	return cloud{exact, array.Convert[float32](exact)}
}

func (c cloud) len() int { return c.exact.Rows }

func (c cloud) block(lo, hi int) array.Matrix[float32] {
	p := c.single.Cols
	return array.Matrix[float32]{Rows: hi - lo, Cols: p, Data: c.single.Data[lo*p : hi*p]}
}

// floatBound bounds the distance between a float32 inner product of two
// rounded unit vectors of p coordinates and the float64 one. With u = 2^-24,
// rounding the coordinates costs at most 2u, the p roundings of the products
// and sums at most pu/(1-pu) in any order (Higham, Accuracy and Stability of
// Numerical Algorithms, section 3.1), and one more u covers the second-order
// terms and float64's own error. The last term is for coordinates so small
// that float32 flushes them to zero.
func floatBound(p int) float64 {
	const u = 1.0 / (1 << 24)
	e := float64(p+3) * u
	if e >= 0.5 { // millions of coordinates: compare everything in float64
		return 4
	}
	return e/(1-e) + float64(p)*0x1p-125
}

// finder keeps, per record, the largest float64 similarity found so far.
//
// A tile of float32 products s that are within e of the float64 values can
// raise best[i] only if its maximum reaches best[i] - e, and then only the
// columns at max(best[i], max s - e) - e or above can hold the new maximum.
// Only these are computed again in float64, so that the outcome is the maximum
// of the float64 values exactly, and independent of the tiling.
type finder struct {
	mul   Multiplier
	bound float64
	tile  []float32
}

func newFinder(mul Multiplier, p int) *finder {
	if mul == nil {
		mul = gonumMultiplier{}
	}
	return &finder{mul: mul, bound: floatBound(p)}
}

// across returns, for every query, its largest similarity to the gallery:
// equation (5).
func (f *finder) across(queries, gallery cloud) ([]float64, error) {
	best := negInf(queries.len())
	for i := 0; i < queries.len(); i += tileSize {
		for j := 0; j < gallery.len(); j += tileSize {
			t, err := f.multiply(queries, i, gallery, j)
			if err != nil {
				return nil, err
			}
			if err := t.raiseRows(best); err != nil {
				return nil, err
			}
		}
	}
	return clipAll(best), nil
}

// within returns, for every record, its largest similarity to another record
// of the same set: equation (6). A tile above the diagonal serves its rows and,
// read the other way, its columns.
func (f *finder) within(set cloud) ([]float64, error) {
	best := negInf(set.len())
	for i := 0; i < set.len(); i += tileSize {
		for j := i; j < set.len(); j += tileSize {
			t, err := f.multiply(set, i, set, j)
			if err != nil {
				return nil, err
			}
			if i == j {
				t.dropDiagonal()
			}
			if err := t.raiseRows(best); err != nil {
				return nil, err
			}
			if i == j {
				continue
			}
			if err := t.raiseColumns(best); err != nil {
				return nil, err
			}
		}
	}
	return clipAll(best), nil
}

func (f *finder) multiply(a cloud, i int, b cloud, j int) (*tile, error) {
	t := &tile{a: a, b: b, i: i, j: j, bound: f.bound,
		rows: min(tileSize, a.len()-i), cols: min(tileSize, b.len()-j)}
	if n := t.rows * t.cols; cap(f.tile) < n {
		f.tile = make([]float32, n)
	}
	t.s = f.tile[:t.rows*t.cols]
	if err := f.mul.MulT(t.s, a.block(i, i+t.rows), b.block(j, j+t.cols)); err != nil {
		return nil, fmt.Errorf("ruler: product of embeddings: %w", err)
	}
	return t, nil
}

func negInf(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Inf(-1)
	}
	return out
}

func clipAll(x []float64) []float64 {
	for i, v := range x {
		x[i] = clip(v)
	}
	return x
}

// strips runs work over [0, n) in one contiguous part per processor and
// returns the error of the first part that has one.
func strips(n int, work func(lo, hi int) error) error {
	parts := min(runtime.GOMAXPROCS(0), n)
	errs := make([]error, parts)
	var wg sync.WaitGroup
	for k := range parts {
		wg.Go(func() { errs[k] = work(k*n/parts, (k+1)*n/parts) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
