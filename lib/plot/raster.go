package plot

import (
	"math"
	"strings"
)

// The size of a text drawing, in characters.
const rasterCols, rasterRows = 64, 16

// raster is a text drawing.
type raster struct {
	x, y  ruler
	cells [rasterRows][]rune
}

func newRaster(xs, ys span, logX, logY bool) *raster {
	r := &raster{x: ruler{xs, logX, rasterCols}, y: ruler{ys, logY, rasterRows}}
	for i := range r.cells {
		r.cells[i] = []rune(strings.Repeat(" ", rasterCols))
	}
	return r
}

// letter returns the character of series i.
func letter(i int) rune { return rune('a' + i%26) }

func (r *raster) set(x, y float64, mark rune) {
	i, okX := r.x.col(x)
	j, okY := r.y.col(y)
	if okX && okY {
		r.cells[rasterRows-1-j][i] = mark
	}
}

// horizontalLine draws a horizontal line.
func (r *raster) horizontalLine(y float64, mark rune) {
	j, ok := r.y.col(y)
	if !ok {
		return
	}
	for i := range rasterCols {
		r.cells[rasterRows-1-j][i] = mark
	}
}

// fill sets every character to the letter of its place.
func (r *raster) fill(letter func(x, y float64) rune) {
	for j := range rasterRows {
		for i := range rasterCols {
			x := r.x.s.lo + (r.x.s.hi-r.x.s.lo)*float64(i)/(rasterCols-1)
			y := r.y.s.lo + (r.y.s.hi-r.y.s.lo)*float64(j)/(rasterRows-1)
			r.cells[rasterRows-1-j][i] = letter(x, y)
		}
	}
}

// line draws a line through points without gaps.
func (r *raster) line(xs, ys []float64, mark rune) {
	r.set(xs[0], ys[0], mark)
	for k := 1; k < len(xs); k++ {
		i0, _ := r.x.col(xs[k-1])
		i1, _ := r.x.col(xs[k])
		j0, _ := r.y.col(ys[k-1])
		j1, _ := r.y.col(ys[k])
		steps := max(abs(i1-i0), abs(j1-j0))
		for s := range steps {
			f := float64(s+1) / float64(steps)
			i := i0 + int(math.Round(f*float64(i1-i0)))
			j := j0 + int(math.Round(f*float64(j1-j0)))
			r.cells[rasterRows-1-j][i] = mark
		}
	}
}

func abs(n int) int { return max(n, -n) }

// write prints the raster with the limits of its axes.
func (r *raster) write(b *strings.Builder, x, y string) {
	hi, lo := shortNumber(r.y.s.hi), shortNumber(r.y.s.lo)
	w := widest(hi, lo)
	if y != "" {
		writeLine(b, oneLine(y))
	}
	for j, cells := range r.cells {
		head := strings.Repeat(" ", w)
		switch j {
		case 0:
			head = padLeft(hi, w)
		case rasterRows - 1:
			head = padLeft(lo, w)
		}
		writeLine(b, head, " \u2502", string(cells))
	}
	writeLine(b, strings.Repeat(" ", w), " \u2514", strings.Repeat("\u2500", rasterCols))
	writeLine(b, strings.Repeat(" ", w+2), r.x.scale())
	if x != "" {
		writeLine(b, strings.Repeat(" ", w+2), oneLine(x))
	}
}
