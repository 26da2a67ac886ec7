// Exact nearest neighbours by cosine in a gallery of any size, tile by tile (equations 5 and 6).

package ruler

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
	"github.com/lethe-ml/lethe/lib/progress"
)

// tileSize is the side of the square blocks in which similarities are computed: 4 MiB of float32,
// so that a gallery of any size needs no n x n matrix.
const tileSize = 1024

// maxHeldValues is the number of values up to which a cloud keeps its unit embeddings, in 200 MB. A
// larger cloud computes them again for every tile, so that no copy of the embeddings is kept; that
// costs 2/tileSize of a division per multiplication of the search.
var maxHeldValues = 1 << 24

// cloud is a set of unit embeddings, in float64, which decides, and in float32, which is fast.
type cloud struct {
	m    array.Rows
	rows []int
	cols int

	exact  array.Matrix[float64] // both empty if it is too large to be held
	single array.Matrix[float32]
}

func newCloud(m array.Rows, rows []int) cloud {
	_, cols := m.Shape()
	c := cloud{m: m, rows: rows, cols: cols}
	if len(rows)*cols <= maxHeldValues {
		c.exact = units(m, rows)
		c.single = array.Convert[float32](c.exact)
	}
	return c
}

func (c cloud) len() int { return len(c.rows) }

func (c cloud) held() bool { return c.exact.Rows == len(c.rows) }

// unit returns embedding i at unit length; it may use the buffer.
func (c cloud) unit(buffer []float64, i int) []float64 {
	if c.held() {
		return c.exact.Row(i)
	}
	unit(buffer, c.m.Read(buffer, c.rows[i]))
	return buffer
}

// block returns embeddings lo ... hi-1; it may use the buffers.
func (c cloud) block(lo, hi int, buffer *[]float32, row []float64) array.Matrix[float32] {
	if c.held() {
		return array.Matrix[float32]{Rows: hi - lo, Cols: c.cols, Data: c.single.Data[lo*c.cols : hi*c.cols]}
	}
	*buffer = slices.Grow((*buffer)[:0], (hi-lo)*c.cols)
	for i := lo; i < hi; i++ {
		for _, v := range c.unit(row, i) {
			*buffer = append(*buffer, float32(v))
		}
	}
	return array.Matrix[float32]{Rows: hi - lo, Cols: c.cols, Data: *buffer}
}

// scratch is the memory that the tiles of one goroutine share.
type scratch struct {
	s, a, b []float32
	x, y    []float64
}

// floatBound bounds the distance between a float32 inner product of two rounded unit vectors of p
// coordinates and the float64 one. With u = 2^-24, rounding the coordinates costs at most 2u, the p
// roundings of the products and sums at most pu/(1-pu) in any order (Higham, Accuracy and Stability
// of Numerical Algorithms, section 3.1), and one more u covers the second-order terms and float64's
// own error. The last term is for coordinates so small that float32 flushes them to zero.
func floatBound(p int) float64 {
	const u = 1.0 / (1 << 24)
	e := float64(p+3) * u
	if e >= 0.5 { // millions of coordinates: compare everything in float64
		return 4
	}
	return e/(1-e) + float64(p)*0x1p-125
}

// product sets dst, of as many rows as a and as many columns as b has rows, to a b'. It is called
// from several goroutines at once, and its error is at most floatBound.
type product func(dst []float32, a, b array.Matrix[float32]) error

func multiply(dst []float32, a, b array.Matrix[float32]) error {
	view := func(m array.Matrix[float32]) kernels.Matrix[float32] { return kernels.RowMajor(m.Data, m.Rows, m.Cols) }
	return kernels.Multiply(kernels.Pool{}, kernels.RowMajor(dst, a.Rows, b.Rows), view(a), view(b).T(), false)
}

// finder searches nearest neighbours tile by tile, one tile per processor at a time.
type finder struct {
	multiply product
	bound    float64
}

func newFinder(p int) *finder { return &finder{multiply, floatBound(p)} }

// nearestAcross returns, for every query, its largest similarity to the gallery: equation (5).
func (f *finder) nearestAcross(queries, gallery cloud) ([]float64, error) {
	best := newMaxima(queries.len())
	var todo []tileOrigin
	for j := 0; j < gallery.len(); j += tileSize {
		for i := 0; i < queries.len(); i += tileSize {
			todo = append(todo, tileOrigin{i, j})
		}
	}
	err := f.eachTile(todo, queries, gallery, func(t *tile) error {
		t.scan(false)
		return best.update(t.i, t.raiseRows)
	})
	return best.values(), err
}

// nearestWithin returns, for every record, its largest similarity to another record of the same
// set: equation (6). A tile above the diagonal serves its rows and, transposed, its columns. Tiles
// are taken along the diagonals, so that tiles that run at the same time share neither.
func (f *finder) nearestWithin(set cloud) ([]float64, error) {
	best := newMaxima(set.len())
	var todo []tileOrigin
	for d := 0; d < set.len(); d += tileSize {
		for i := 0; i+d < set.len(); i += tileSize {
			todo = append(todo, tileOrigin{i, i + d})
		}
	}
	err := f.eachTile(todo, set, set, func(t *tile) error {
		if t.i == t.j {
			t.dropDiagonal()
			t.scan(false)
			return best.update(t.i, t.raiseRows)
		}
		t.scan(true)
		if err := best.update(t.i, t.raiseRows); err != nil {
			return err
		}
		return best.update(t.j, t.raiseColumns)
	})
	return best.values(), err
}

// tileOrigin is the first row and column of a tile.
type tileOrigin struct{ i, j int }

// eachTile calls use with every tile, on as many goroutines as there are processors, and stops at
// the first error.
func (f *finder) eachTile(todo []tileOrigin, a, b cloud, use func(*tile) error) error {
	task := progress.Begin("nearest neighbours", len(todo))
	defer task.Done()
	var next atomic.Int64
	workers := min(runtime.GOMAXPROCS(0), len(todo))
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			buffer := scratch{x: make([]float64, a.cols), y: make([]float64, a.cols)}
			for k := next.Add(1) - 1; k < int64(len(todo)); k = next.Add(1) - 1 {
				t := newTile(a, b, todo[k], f.bound, &buffer)
				if errs[w] = f.fillTile(t, use); errs[w] != nil {
					next.Store(int64(len(todo)))
				}
				task.Add(1)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (f *finder) fillTile(t *tile, use func(*tile) error) error {
	a, b := t.a.block(t.i, t.i+t.rows, &t.scratch.a, t.scratch.x), t.b.block(t.j, t.j+t.cols, &t.scratch.b, t.scratch.y)
	if err := f.multiply(t.s, a, b); err != nil {
		return fmt.Errorf("ruler: product of embeddings: %w", err)
	}
	return use(t)
}

// maxima keeps, per embedding, the largest float64 similarity found so far, with a lock for each
// block of tileSize embeddings. A maximum does not depend on the order of the tiles.
type maxima struct {
	best  []float64
	locks []sync.Mutex
}

func newMaxima(n int) *maxima {
	r := &maxima{make([]float64, n), make([]sync.Mutex, (n+tileSize-1)/tileSize)}
	for i := range r.best {
		r.best[i] = math.Inf(-1)
	}
	return r
}

// update calls lift with the maxima of the block of embeddings that begins at start.
func (r *maxima) update(start int, lift func(best []float64) error) error {
	lock := &r.locks[start/tileSize]
	lock.Lock()
	defer lock.Unlock()
	return lift(r.best[start:min(start+tileSize, len(r.best))])
}

func (r *maxima) values() []float64 {
	for i, v := range r.best {
		r.best[i] = clip(v)
	}
	return r.best
}
