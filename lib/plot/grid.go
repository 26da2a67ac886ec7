package plot

import (
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// Grid is a rectangle of the plane with evenly spaced points, its edges included. The points run
// along the lowest line from left to right, then along the next one above.
type Grid struct {
	XMin, XMax, YMin, YMax float64
	Columns, Rows          int // 0 means 81 and 61
}

const (
	gridColumns, gridRows = 81, 61
	maxGrid               = 1000 // points along one side
)

// GridAround returns the grid of standard size around all points, with a margin of 8 % on each
// side.
func GridAround(points ...DecisionPoints) Grid {
	x, y := newSpan(), newSpan()
	for _, s := range points {
		x.add(s.X...)
		y.add(s.Y...)
	}
	x, y = x.margin(), y.margin()
	return Grid{XMin: x.lo, XMax: x.hi, YMin: y.lo, YMax: y.hi}
}

// margin widens the span by 8 % on each side.
func (s span) margin() span {
	if s.lo > s.hi {
		return span{0, 1}
	}
	pad := 0.08 * (s.hi - s.lo)
	if pad == 0 {
		pad = math.Max(1, math.Abs(s.lo))
	}
	return span{s.lo - pad, s.hi + pad}
}

// Points returns the points of the grid as rows (x, y), as input for a classifier.
func (g Grid) Points() (array.Matrix[float32], error) {
	var p problems
	if g.check(&p); p.err != nil {
		return array.Matrix[float32]{}, p.err
	}
	g = g.standard()
	out := array.New[float32](g.Columns*g.Rows, 2)
	for k := range out.Rows {
		out.Data[2*k] = float32(g.x(k % g.Columns))
		out.Data[2*k+1] = float32(g.y(k / g.Columns))
	}
	return out, nil
}

// standard sets the standard size where none is given.
func (g Grid) standard() Grid {
	if g.Columns == 0 {
		g.Columns = gridColumns
	}
	if g.Rows == 0 {
		g.Rows = gridRows
	}
	return g
}

func (g Grid) check(p *problems) {
	for i, v := range []float64{g.XMin, g.XMax, g.YMin, g.YMax} {
		p.value(v, false, "grid: limit, value %d", i+1)
	}
	p.refuse(g.XMin >= g.XMax || g.YMin >= g.YMax, "the grid runs from %v to %v and from %v to %v", g.XMin, g.XMax, g.YMin, g.YMax)
	g = g.standard()
	p.refuse(g.Columns < 2 || g.Rows < 2 || g.Columns > maxGrid || g.Rows > maxGrid,
		"the grid has %d columns and %d rows; each side can have 2 to %d", g.Columns, g.Rows, maxGrid)
}

func (g Grid) x(i int) float64 {
	return g.XMin + (g.XMax-g.XMin)*float64(i)/float64(g.Columns-1)
}

func (g Grid) y(j int) float64 {
	return g.YMin + (g.YMax-g.YMin)*float64(j)/float64(g.Rows-1)
}

func (g Grid) contains(x, y float64) bool {
	return x >= g.XMin && x <= g.XMax && y >= g.YMin && y <= g.YMax
}

// interpolate writes the probabilities at (x, y) into out, interpolated between the four points
// around it.
func (g Grid) interpolate(p array.Matrix[float32], x, y float64, out []float64) {
	i, s := cell(x, g.XMin, g.XMax, g.Columns)
	j, t := cell(y, g.YMin, g.YMax, g.Rows)
	low, high := p.Row(j*g.Columns+i), p.Row((j+1)*g.Columns+i)
	lowNext, highNext := p.Row(j*g.Columns+i+1), p.Row((j+1)*g.Columns+i+1)
	for c := range out {
		a := float64(low[c])*(1-s) + float64(lowNext[c])*s
		b := float64(high[c])*(1-s) + float64(highNext[c])*s
		out[c] = a*(1-t) + b*t
	}
}

// cell returns the interval of a grid line that contains v, and the position of v in it.
func cell(v, lo, hi float64, n int) (i int, part float64) {
	f := clamp((v-lo)/(hi-lo), 0, 1) * float64(n-1)
	i = min(int(f), n-2)
	return i, f - float64(i)
}

// topClass returns the most probable class, the first of equals, and its margin.
func topClass(p []float64) (class int, lead float64) {
	for c, v := range p {
		if v > p[class] {
			class = c
		}
	}
	return class, classMargin(p, class)
}

// classMargin returns the probability of a class minus the greatest of the others: 0 where the
// decision changes.
func classMargin(p []float64, class int) float64 {
	other := 0.0
	for c, v := range p {
		if c != class {
			other = math.Max(other, v)
		}
	}
	return p[class] - other
}
