package kernels

import "fmt"

// Multiply sets c = a b, or c += a b where add is set: with a of n x k, b of k x m and c
// of n x m,
//
//	c[i, j] = fma(a[i, p], b[p, j], c[i, j])   for p = 0, 1, ... k-1, one after the other,
//
// from 0, or from c's own value where add is set. Each fma is rounded once to float32. The
// bits are therefore the same at every level, for any number of workers and any strides;
// only NaNs may differ in the payload. A product without terms (k = 0) is 0.
//
// a and b may be any views; c must lie in rows: ColStride 1, RowStride at least m. c must
// not overlap a or b. The error names the operand that is no view of its data or does not fit
// the others; c is then untouched.
func Multiply(p Pool, c, a, b Matrix, add bool) error { return Best().Multiply(p, c, a, b, add) }

// Multiply is the function Multiply at level l, or at the best level that the processor
// has where it lacks l.
func (l Level) Multiply(p Pool, c, a, b Matrix, add bool) error {
	if err := checkProduct(c, a, b); err != nil {
		return err
	}
	if c.Rows == 0 || c.Cols == 0 {
		return nil
	}
	// A column is a row to those who look at it sideways, and rows are what vectors hold.
	if c.Cols == 1 && (c.RowStride == 1 || c.Rows == 1) {
		c, a, b = c.T(), b.T(), a.T()
		c.RowStride = c.Cols
	}
	t := l.tileFor(c.Cols)
	if p.Workers <= 1 || multiplications(c, a) < worthSharing {
		t.multiply(c, a, b, add)
		return nil
	}
	g := cut(c.Rows, c.Cols, t.rows, 2*t.lanes, p.Workers)
	p.Run(g.pieces(), 1, func(from, to int) {
		for i := from; i < to; i++ {
			r0, r1, c0, c1 := g.piece(i)
			t.multiply(c.part(r0, r1, c0, c1), a.part(r0, r1, 0, a.Cols), b.part(0, b.Rows, c0, c1), add)
		}
	})
	return nil
}

// tileFor is the tile for a product of that many columns: half of a wide vector takes as
// long as all of it.
func (l Level) tileFor(cols int) *tile {
	if t := l.at().tile(); 2*cols > t.lanes || l.at() < AVX512 {
		return t
	}
	return AVX2.tile()
}

func checkProduct(c, a, b Matrix) error {
	for _, m := range []struct {
		name string
		m    Matrix
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

// worthSharing is the number of multiplications (some 20 microseconds' worth) from which
// waking another goroutine pays.
const worthSharing = 1 << 20

// multiplications is how many c = a b takes, as a float so that nothing overflows.
func multiplications(c, a Matrix) float64 { return float64(c.Rows) * float64(c.Cols) * float64(a.Cols) }

// grid cuts rows x cols outputs into down x across pieces, at multiples of a tile.
type grid struct {
	rows, cols, tileRows, tileCols, down, across int
}

// cut halves the longer side until there are enough pieces for the workers. Each piece is
// multiplied alone and packs b for itself, so pieces near a square pack least.
func cut(rows, cols, tileRows, tileCols, workers int) grid {
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

func (g grid) pieces() int { return g.down * g.across }

// piece is the range of rows and columns of piece i.
func (g grid) piece(i int) (r0, r1, c0, c1 int) {
	r, c := i/g.across, i%g.across
	return edge(g.rows, g.tileRows, r, g.down), edge(g.rows, g.tileRows, r+1, g.down),
		edge(g.cols, g.tileCols, c, g.across), edge(g.cols, g.tileCols, c+1, g.across)
}

// edge is where part i of n begins where 0 ... n-1 is cut into parts at multiples of tile.
func edge(n, tile, i, parts int) int {
	tiles := (n + tile - 1) / tile
	return min(n, tiles*i/parts*tile)
}

// multiplyScalar is multiply without assembly.
func multiplyScalar(c, a, b Matrix, add bool) {
	for i := range c.Rows {
		row := c.Data[i*c.RowStride:][:c.Cols]
		if !add {
			clear(row)
		}
		for p := range a.Cols {
			x := a.At(i, p)
			if b.ColStride != 1 {
				for j := range row {
					row[j] = fma32(x, b.At(p, j), row[j])
				}
				continue
			}
			for j, y := range b.Data[p*b.RowStride:][:len(row)] {
				row[j] = fma32(x, y, row[j])
			}
		}
	}
}

// packAny writes b into dst, whose rows are width long, from row i and column j on.
func packAny(dst []float32, b Matrix, width, i, j int) {
	for p := range b.Rows {
		row := dst[(i+p)*width+j:]
		for n := range b.Cols {
			row[n] = b.At(p, n)
		}
	}
}
