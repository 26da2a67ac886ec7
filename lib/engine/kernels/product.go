package kernels

import (
	"errors"
	"fmt"
	"math"
	"unsafe"
)

// Multiply sets c = a b, or c += a b where add is set: with a of n x k, b of k x m and c
// of n x m,
//
//	c[i, j] = fma(a[i, p], b[p, j], c[i, j])   for p = 0, 1, ... k-1, one after the other,
//
// starting at 0, or at the value of c if add is set. Each fma is rounded once to T. The bits
// are therefore the same at every level, for any number of workers and any strides; only NaNs
// may differ in the payload. A product without terms (k = 0) is 0.
//
// a and b may be any views; c must have ColStride 1 and RowStride at least m, and must not
// overlap a or b. The error names the operand that is invalid or does not fit; c is then
// unchanged.
func Multiply[T Float](p Pool, c, a, b Matrix[T], add bool) error {
	return multiplyAt(best, p, c, a, b, add)
}

// Gram sets the lower triangle of c, with the diagonal, to that of a times a transposed, for
// a of n x k and c of n x n:
//
//	c[i, j] = fma(a[i, p], a[j, p], c[i, j])   for j <= i and p = 0, 1, ... k-1, from 0,
//
// with the bits of Multiply and half of its work. The upper triangle is undefined. c has the
// same conditions as in Multiply.
func Gram[T Float](p Pool, c, a Matrix[T]) error {
	if err := checkProduct(c, a, a.T()); err != nil {
		return err
	}
	return gramAt(best, p, c, a)
}

// gramAt computes the square below the diagonal by a product and the two triangles
// recursively, until they are small.
func gramAt[T Float](l Level, p Pool, c, a Matrix[T]) error {
	const small = 64
	n := a.Rows
	if n <= small {
		return multiplyAt(l, p, c, a, a.T(), false)
	}
	half := (n/2 + small - 1) / small * small
	top, bottom := a.part(0, half, 0, a.Cols), a.part(half, n, 0, a.Cols)
	return errors.Join(
		gramAt(l, p, c.part(0, half, 0, half), top),
		gramAt(l, p, c.part(half, n, half, n), bottom),
		multiplyAt(l, p, c.part(half, n, 0, half), bottom, top.T(), false))
}

func multiplyAt[T Float](l Level, p Pool, c, a, b Matrix[T], add bool) error {
	if err := checkProduct(c, a, b); err != nil {
		return err
	}
	if c.Rows == 0 || c.Cols == 0 {
		return nil
	}
	// A column is computed as a row of the transposed product, because vectors hold rows.
	if c.Cols == 1 && (c.RowStride == 1 || c.Rows == 1) {
		c, a, b = c.T(), b.T(), a.T()
		c.RowStride = c.Cols
	}
	if !add && multiplySparse(l, p, c, a, b) {
		return nil
	}
	t := tileFor[T](l, c.Cols)
	if p.Workers <= 1 || multiplications(c, a) < minParallelWork {
		t.multiply(c, a, b, add)
		return nil
	}
	g := cutGrid(c.Rows, c.Cols, t.rows, 2*t.lanes, p.Workers)
	p.Run(g.pieces(), 1, func(from, to int) {
		for i := from; i < to; i++ {
			r0, r1, c0, c1 := g.piece(i)
			t.multiply(c.part(r0, r1, c0, c1), a.part(r0, r1, 0, a.Cols), b.part(0, b.Rows, c0, c1), add)
		}
	})
	return nil
}

// tileFor returns the tile for a product with this number of columns. AVX2's is better if
// the columns fill at most half a vector of AVX-512.
func tileFor[T Float](l Level, cols int) *tile[T] {
	if t := tileAt[T](l); 2*cols > t.lanes || l != AVX512 {
		return t
	}
	return tileAt[T](AVX2)
}

func checkProduct[T Float](c, a, b Matrix[T]) error {
	for _, m := range []struct {
		name string
		m    Matrix[T]
	}{{"a", a}, {"b", b}, {"c", c}} {
		if err := m.m.Check(); err != nil {
			return fmt.Errorf("matrix product: %s: %w", m.name, err)
		}
	}
	switch {
	case a.Cols != b.Rows:
		return fmt.Errorf("matrix product: a is %d x %d and b %d x %d: a's columns are not b's rows", a.Rows, a.Cols, b.Rows, b.Cols)
	case c.Rows != a.Rows || c.Cols != b.Cols:
		return fmt.Errorf("matrix product: c is %d x %d, a b is %d x %d", c.Rows, c.Cols, a.Rows, b.Cols)
	case c.Cols > 1 && c.ColStride != 1:
		return fmt.Errorf("matrix product: c has column stride %d, not 1", c.ColStride)
	case c.Rows > 1 && c.RowStride < c.Cols:
		return fmt.Errorf("matrix product: c's rows overlap: %d columns, row stride %d", c.Cols, c.RowStride)
	}
	return nil
}

// minParallelWork is the number of multiplications from which another goroutine pays. It takes
// about as long as waking a sleeping processor of a virtual machine.
const minParallelWork = 1 << 22

// multiplications returns the number of multiplications of c = a b, as a float against
// overflow.
func multiplications[T Float](c, a Matrix[T]) float64 {
	return float64(c.Rows) * float64(c.Cols) * float64(a.Cols)
}

// grid cuts rows x cols outputs into down x across pieces, at multiples of a tile.
type grid struct {
	rows, cols, tileRows, tileCols, down, across int
}

// cutGrid halves the longer side until there are enough pieces for the workers. Each piece
// packs its part of b, so pieces close to a square pack least.
func cutGrid(rows, cols, tileRows, tileCols, workers int) grid {
	g := grid{rows, cols, tileRows, tileCols, 1, 1}
	for g.down*g.across < 2*workers {
		tall, wide := rows/g.down >= 2*tileRows, cols/g.across >= 2*tileCols
		switch {
		case tall && (!wide || rows/g.down >= cols/g.across):
			g.down *= 2
		case wide:
			g.across *= 2
		default:
			return g
		}
	}
	return g
}

// A piece of at most maxResident elements of a convolution's result stays in the second-level
// cache while the blocks of terms are added to it. For fewer than minPackedRows rows packing
// b does not pay.
const (
	maxResident   = 1 << 16
	minPackedRows = 384
)

// limitHeight halves the height of the pieces until they have at most maxResident elements.
func (g grid) limitHeight() grid {
	for g.rows/g.down*(g.cols/g.across) > maxResident && g.rows/g.down >= 2*minPackedRows {
		g.down *= 2
	}
	return g
}

func (g grid) pieces() int { return g.down * g.across }

// piece returns the range of rows and columns of piece i.
func (g grid) piece(i int) (r0, r1, c0, c1 int) {
	r, c := i/g.across, i%g.across
	return cutPoint(g.rows, g.tileRows, r, g.down), cutPoint(g.rows, g.tileRows, r+1, g.down),
		cutPoint(g.cols, g.tileCols, c, g.across), cutPoint(g.cols, g.tileCols, c+1, g.across)
}

// cutPoint returns the start of part i if 0 ... n-1 is cut into parts at multiples of tile.
func cutPoint(n, tile, i, parts int) int {
	tiles := (n + tile - 1) / tile
	return min(n, tiles*i/parts*tile)
}

// multiplyGo is tile.multiply without assembly.
func multiplyGo[T Float](c, a, b Matrix[T], add bool) {
	var f any = multiplyScalar
	if sizeOf[T]() == 8 {
		f = multiplyScalar64
	}
	f.(func(c, a, b Matrix[T], add bool))(c, a, b, add)
}

func sizeOf[T Float]() int { return int(unsafe.Sizeof(T(0))) }

// multiplyScalar adds a row of b to several rows of c at a time. A row that is not contiguous
// is copied first.
func multiplyScalar(c, a, b Matrix[float32], add bool) {
	const some = 16
	row := func(i int) []float32 { return c.Data[i*c.RowStride:][:c.Cols] }
	var line []float32
	if b.ColStride != 1 {
		line = make([]float32, c.Cols)
	}
	for i := 0; i < c.Rows; i += some {
		last := min(i+some, c.Rows)
		for r := i; r < last && !add; r++ {
			clear(row(r))
		}
		for p := range a.Cols {
			for j := range line {
				line[j] = b.At(p, j)
			}
			from := line
			if b.ColStride == 1 {
				from = b.Data[p*b.RowStride:]
			}
			for r := i; r < last; r++ {
				fmaRow(row(r), a.At(r, p), from)
			}
		}
	}
}

// multiplyScalar64 computes four rows and two columns at a time, which fit the registers of a
// processor without vectors.
func multiplyScalar64(c, a, b Matrix[float64], add bool) {
	for i := range c.Rows {
		if !add {
			clear(c.Data[i*c.RowStride:][:c.Cols])
		}
	}
	if a.Cols == 0 {
		return
	}
	for i := 0; i < c.Rows; i += 4 {
		for j := 0; j < c.Cols; j += 2 {
			p := c.part(i, min(i+4, c.Rows), j, min(j+2, c.Cols))
			rows, cols := a.part(i, i+p.Rows, 0, a.Cols), b.part(0, b.Rows, j, j+p.Cols)
			if p.Rows == 4 && p.Cols == 2 {
				fmaChains8(p, rows, cols)
			} else {
				fmaChains(p, rows, cols)
			}
		}
	}
}

// fmaChains adds a b to c.
func fmaChains(c, a, b Matrix[float64]) {
	for i := range c.Rows {
		for j := range c.Cols {
			s := &c.Data[i*c.RowStride+j]
			for p := range a.Cols {
				*s = math.FMA(a.At(i, p), b.At(p, j), *s)
			}
		}
	}
}

// fmaChains8 is fmaChains for a c of 4 x 2.
func fmaChains8(c, a, b Matrix[float64]) {
	c0, c1, c2, c3 := c.Data[:2], c.Data[c.RowStride:], c.Data[2*c.RowStride:], c.Data[3*c.RowStride:]
	a0, a1, a2, a3 := a.Data, a.Data[a.RowStride:], a.Data[2*a.RowStride:], a.Data[3*a.RowStride:]
	b0, b1 := b.Data, b.Data[b.ColStride:]
	s00, s01, s10, s11, s20, s21, s30, s31 := c0[0], c0[1], c1[0], c1[1], c2[0], c2[1], c3[0], c3[1]
	for p, i, j := 0, 0, 0; p < a.Cols; p, i, j = p+1, i+a.ColStride, j+b.RowStride {
		x0, x1, x2, x3, y0, y1 := a0[i], a1[i], a2[i], a3[i], b0[j], b1[j]
		s00, s01 = math.FMA(x0, y0, s00), math.FMA(x0, y1, s01)
		s10, s11 = math.FMA(x1, y0, s10), math.FMA(x1, y1, s11)
		s20, s21 = math.FMA(x2, y0, s20), math.FMA(x2, y1, s21)
		s30, s31 = math.FMA(x3, y0, s30), math.FMA(x3, y1, s31)
	}
	c0[0], c0[1], c1[0], c1[1], c2[0], c2[1], c3[0], c3[1] = s00, s01, s10, s11, s20, s21, s30, s31
}

// packStrided copies b to dst, whose rows have width elements, from row i and column j on.
func packStrided[T Float](dst []T, b Matrix[T], width, i, j int) {
	for p := range b.Rows {
		row := dst[(i+p)*width+j:]
		for n := range b.Cols {
			row[n] = b.At(p, n)
		}
	}
}
