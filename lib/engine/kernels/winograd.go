package kernels

import "sync"

// A convolution of 3 x 3 without strides needs 2.25 times fewer multiplications with Winograd's
// F(2x2, 3x3) (Lavin and Gray 2016, section 4.1). For each tile of 2 x 2 outputs
//
//	y = A' [sum over c of (G w G') * (B' x B)] A
//
// where x are the 4 x 4 pixels under the tile, * is the elementwise product, and
//
//	     1  0 -1  0        1    0    0           1  0
//	B' = 0  1  1  0    G = 1/2  1/2  1/2     A = 1  1
//	     0 -1  1  0        1/2 -1/2  1/2         1 -1
//	     0 -1  0  1        0    0    1           0  1
//
// The gradient by the images is the convolution with the reversed weights, that by the weights
// is
//
//	dw = G' [sum over tiles of (B' x B) * (A v A')] G
//
// which is the adjoint of the first. The sums over c and over tiles are chains of fused
// multiply-adds, one for each of the 16 elements of a tile. The sums of the transforms are
// rounded one by one, down first and then across, in the order in internal/gen. The bits do
// not depend on level and workers. The result is NaN or infinite wherever a direct convolution
// multiplies a number that is not finite, and may be so in the other outputs of that tile.

// lattice is the memory of a grid of arrays: array (i, j) of tile k is at
// data[k next + i row + j col:].
type lattice struct {
	data           []float32
	col, row, next int
}

// check panics unless n elements of each of rows x cols arrays of count tiles are in data.
func (l lattice) check(rows, cols, count, n int) {
	_ = l.data[(count-1)*l.next+(rows-1)*l.row+(cols-1)*l.col : (count-1)*l.next+(rows-1)*l.row+(cols-1)*l.col+n]
}

// leastTiled is the number of input and output channels from which tiles pay.
const leastTiled = 16

// tiled reports whether a convolution to outs channels uses tiles. It depends on the shape
// only, not on the batch. Negative padding uses the direct method.
func (w window) tiled(outs int) bool {
	if w.kernelH != 3 || w.kernelW != 3 || w.strideH != 1 || w.strideW != 1 || min(w.depth, outs) < leastTiled {
		return false
	}
	down, across := w.tiles()
	fits := w.top >= 0 && w.left >= 0 && w.top+w.height <= w.down+2 && w.left+w.width <= w.across+2
	return fits && 4*16*down*across <= 3*9*w.down*w.across // three quarters of the multiplications at most
}

// tiles returns the number of tiles, down and across an image.
func (w window) tiles() (down, across int) { return (w.down + 1) / 2, (w.across + 1) / 2 }

// scratchPool keeps scratch memory for reuse. Its contents are undefined.
var scratchPool sync.Pool // of *[]float32

func getScratch(n int) *[]float32 {
	if s, ok := scratchPool.Get().(*[]float32); ok && cap(*s) >= n {
		*s = (*s)[:n]
		return s
	}
	s := make([]float32, n)
	return &s
}

// takeFront removes the first n elements from s and returns them.
func takeFront(s *[]float32, n int) []float32 {
	out := (*s)[:n:n]
	*s = (*s)[n:]
	return out
}

// rowPadding is added to the length of rows and planes that are read together, so that they
// do not share cache lines.
const rowPadding = 16

// factors are the right factors of matrix products, as panels: column j of row i of matrix e
// is at data[e size + j/width step + i width + j%width].
type factors struct {
	data                    []float32
	rows, width, step, size int
}

// multiplyFactorsScalar is multiplyFactors without assembly; all columns are one panel.
func multiplyFactorsScalar(c, a Matrix[float32], f factors, e, j int, add bool) {
	multiplyScalar(c, a, Matrix[float32]{f.data[e*f.size+j:], a.Cols, c.Cols, f.width, 1}, add)
}

// tileRows are the rows of B': which two rows of a tile are added or subtracted.
var tileRows = [4]struct {
	a, b int
	with func(l Level, dst, a, b []float32)
}{{0, 2, subAt}, {1, 2, addAt}, {2, 1, subAt}, {3, 1, subAt}}

// tiler transforms rows of tiles of a convolution.
type tiler struct {
	level  Level
	window window
	image  []float32
	zeros  []float32 // a row of an image
	line   []float32 // a row of tiles, transformed down
}

func (w window) tiler(l Level, image []float32, memory *[]float32) tiler {
	_, across := w.tiles()
	r := tiler{l, w, image, takeFront(memory, w.width*w.depth), takeFront(memory, (2*across+2)*w.depth)}
	clear(r.zeros)
	clear(r.line[:w.left*w.depth])
	clear(r.line[(w.left+w.width)*w.depth:])
	return r
}

func (w window) tilerScratch() int {
	_, across := w.tiles()
	return (w.width + 2*across + 2) * w.depth
}

// row returns a row of an image, zeros outside.
func (r *tiler) row(n, i int) []float32 {
	size := r.window.width * r.window.depth
	if i < 0 || i >= r.window.height {
		return r.zeros
	}
	return r.image[(n*r.window.height+i)*size:][:size]
}

// input writes row i of B' x B of one row of tiles.
func (r *tiler) input(dst lattice, row, i int) {
	w := r.window
	down, across := w.tiles()
	n, top, by := row/down, 2*(row%down)-w.top, tileRows[i]
	by.with(r.level, r.line[w.left*w.depth:][:w.width*w.depth], r.row(n, top+by.a), r.row(n, top+by.b))
	tileInputAt(r.level, dst, lattice{r.line, w.depth, 0, 2 * w.depth}, across, w.depth)
}

// tileBlock is about the number of tiles that are processed together.
const tileBlock = 96

// convolveTiles is convolve with tiles.
func (l Level) convolveTiles(p Pool, scratch []float32, w window, batch int, to target, x []float32, b Matrix[float32]) {
	t := tileFor[float32](l, b.Cols)
	f := l.tileFactors(p, t, scratch, b, w.depth)
	down, across := w.tiles()
	g := grid{batch * down * across, b.Cols, across, 2 * t.lanes, 1, 1}
	if p.Workers > 1 && 16*float64(g.rows)*float64(w.depth)*float64(b.Cols) >= minParallelWork {
		g = cutGrid(g.rows, g.cols, across, 2*t.lanes, p.Workers)
	}
	p.Run(g.pieces(), 1, func(from, last int) {
		for i := from; i < last; i++ {
			r0, r1, c0, c1 := g.piece(i)
			w.tilePiece(l, t, to, x, f, r0/across, r1/across, c0, c1)
		}
	})
}

// factors returns the number of elements of G w G', at every level.
func (w window) factors(outs int) int {
	if !w.tiled(outs) {
		return 0
	}
	const widest = 32
	return 16 * ((outs+widest-1)/widest*widest*w.depth + rowPadding)
}

// tileFactors returns G w G' of all weights, in scratch.
func (l Level) tileFactors(p Pool, t *tile[float32], scratch []float32, b Matrix[float32], depth int) factors {
	width := t.width(b.Cols)
	panels := (b.Cols + width - 1) / width
	f := factors{scratch, depth, width, depth * width, panels*depth*width + rowPadding}
	p.Run(panels, max(1, minParallelWork/16/(16*f.step)), func(from, last int) {
		for n := from; n < last; n++ {
			dst := lattice{f.data[n*f.step:], f.size, 4 * f.size, width}
			src := lattice{b.Data[n*width:], depth * b.Cols, 3 * depth * b.Cols, b.Cols}
			tileWeightsAt(l, dst, src, depth, min(width, b.Cols-n*width))
		}
	})
	return f
}

// tilePiece computes columns c0 ... c1-1 of the outputs of rows of tiles first ... last-1.
func (w window) tilePiece(l Level, t *tile[float32], to target, x []float32, f factors, first, last, c0, c1 int) {
	_, across := w.tiles()
	some, cols := max(1, tileBlock/across), c1-c0
	tiles := some * across
	wide, long := w.depth+rowPadding, cols+rowPadding
	v, m := tiles*wide+rowPadding, tiles*long+rowPadding
	memory := getScratch(4*v + 16*m + w.tilerScratch() + 4*across*cols)
	rest := *memory
	r := w.tiler(l, x, &rest)
	in, out, edge := takeFront(&rest, 4*v), takeFront(&rest, 16*m), rest
	for row := first; row < last; row += some {
		rows := min(some, last-row)
		for i := range 4 {
			for k := range rows {
				r.input(lattice{in[k*across*wide:], v, 0, wide}, row+k, i)
			}
			for j := range 4 {
				e := 4*i + j
				a := Matrix[float32]{in[j*v:], rows * across, w.depth, wide, 1}
				multiplyFactors(t, Matrix[float32]{out[e*m:], a.Rows, cols, long, 1}, a, f, e, c0, false)
			}
		}
		for k := range rows {
			w.output(l, to, lattice{out[k*across*long:], m, 4 * m, long}, edge, row+k, c0, cols)
		}
	}
	scratchPool.Put(memory)
}

// output writes one row of tiles to columns c0 and following. Tiles across the edge of the
// image are computed in scratch memory.
func (w window) output(l Level, to target, from lattice, edge []float32, row, c0, cols int) {
	down, across := w.tiles()
	at, whole := place{row / down, 2 * (row % down), 0}, 0
	if at.i+2 <= w.down {
		whole = w.across / 2
	}
	if whole > 0 {
		tileOutputAt(l, lattice{to.data[to.index(at)+c0:], to.step, to.line, 2 * to.step}, from, whole, cols)
	}
	over := across - whole
	if over == 0 {
		return
	}
	from.data = from.data[whole*from.next:]
	tileOutputAt(l, lattice{edge, cols, 2 * over * cols, 2 * cols}, from, over, cols)
	for i := range min(2, w.down-at.i) {
		for j := range w.across - 2*whole {
			copy(to.data[to.index(place{at.n, at.i + i, 2*whole + j})+c0:], edge[(i*2*over+j)*cols:][:cols])
		}
	}
}

// tileTerms is about the number of tiles that are added to a weight's gradient at a time.
const tileTerms = 128

// weightsTiled computes the gradient by the weights with tiles. A piece has some of the
// columns and some rows of the 16 elements; there are few pieces, because each reads all
// images. The sums are in memory as [element][in][out].
func (c *Conv) weightsTiled(l Level, p Pool, sums, dw, x, v []float32) {
	s := c.shape
	t, size := tileFor[float32](l, s.Out), s.In*s.Out
	plane := size + rowPadding
	groups, parts := 1, 1
	if down, across := c.forward.tiles(); 16*float64(s.Batch*down*across)*float64(size) < minParallelWork {
		p.Workers = 1
	}
	for groups < min(4, p.Workers) {
		groups *= 2
	}
	for groups*parts < p.Workers && s.Out/parts >= 4*t.lanes {
		parts *= 2
	}
	p.Run(groups*parts, 1, func(from, last int) {
		for n := from; n < last; n++ {
			c0, c1 := cutPoint(s.Out, 2*t.lanes, n%parts, parts), cutPoint(s.Out, 2*t.lanes, n%parts+1, parts)
			c.tileSums(l, t, sums, plane, x, v, n/parts*4/groups, (n/parts+1)*4/groups, c0, c1)
		}
	})
	p.Run(s.In, max(1, minParallelWork/16/s.Out), func(from, last int) {
		src := lattice{sums[from*s.Out:], plane, 4 * plane, 0}
		tileGradientAt(l, lattice{dw[from*s.Out:], size, 3 * size, 0}, src, 1, (last-from)*s.Out)
	})
}

// tileSums computes rows first ... last-1 of the sums over tiles, columns c0 ... c1-1.
func (c *Conv) tileSums(l Level, t *tile[float32], sums []float32, size int, x, v []float32, first, last, c0, c1 int) {
	w, s := c.forward, c.shape
	down, across := w.tiles()
	some, cols := max(1, tileTerms/across), c1-c0
	tiles, wide, width := some*across, s.In+rowPadding, t.width(cols)
	f := factors{nil, tiles, width, tiles * width, (cols+width-1)/width*tiles*width + rowPadding}
	plane := tiles*wide + rowPadding
	memory := getScratch(4*plane + 4*f.size + w.tilerScratch() + 2*across*s.Out)
	rest := *memory
	r := w.tiler(l, x, &rest)
	in, line := takeFront(&rest, 4*plane), takeFront(&rest, 2*across*s.Out)
	f.data = rest
	clear(line)
	for row := 0; row < s.Batch*down; row += some {
		rows := min(some, s.Batch*down-row)
		for i := first; i < last; i++ {
			for k := range rows {
				r.input(lattice{in[k*across*wide:], plane, 0, wide}, row+k, i)
				w.adjoint(l, line, v, row+k, i, s.Out)
				for n := c0; n < c1; n += width {
					dst := lattice{f.data[(n-c0)/width*f.step+k*across*width:], f.size, 0, width}
					tileAdjointAt(l, dst, lattice{line[n:], s.Out, 0, 2 * s.Out}, across, min(width, c1-n))
				}
			}
			for j := range 4 {
				a := Matrix[float32]{in[j*plane:], s.In, rows * across, 1, wide}
				multiplyFactors(t, Matrix[float32]{sums[(4*i+j)*size+c0:], s.In, cols, s.Out, 1}, a, f, j, 0, row > 0)
			}
		}
	}
	scratchPool.Put(memory)
}

// adjoint writes row i of A v of one row of tiles.
func (w window) adjoint(l Level, line, v []float32, row, i, outs int) {
	down, _ := w.tiles()
	n, at, size := row/down, 2*(row%down), w.across*outs
	top := v[(n*w.down+at)*size:][:size]
	line = line[:size]
	switch below := at+1 < w.down; {
	case i == 0, i < 3 && !below:
		copy(line, top)
	case !below:
		clear(line)
	case i == 3:
		copy(line, v[(n*w.down+at+1)*size:])
	case i == 1:
		addAt(l, line, top, v[(n*w.down+at+1)*size:][:size])
	default:
		subAt(l, line, top, v[(n*w.down+at+1)*size:][:size])
	}
}
