package plot

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// boxFrom is the number of points from which quartiles are drawn as a box.
const boxFrom = 5

// draw draws the summary and the points over it.
func (l strip) draw(vs []float64, sum summary, kind Summary) {
	if kind == MeanInterval {
		l.points(vs, 0.45)
		if sum.ok {
			l.interval(sum)
		}
		return
	}
	if len(vs) >= boxFrom {
		l.box(sum)
	}
	l.points(vs, 0.85)
	if sum.ok {
		l.tick(sum.mid)
	}
}

// box draws the quartiles as a box and the range as a thin line.
func (l strip) box(s summary) {
	half := l.lane * 0.40
	lo, hi := l.clip(s.low), l.clip(s.high)
	l.c.StrokeLine2(solid(alpha(l.style.col, 0.6), 1), l.x, l.clip(s.min), l.x, l.clip(s.max))
	fillRect(l.c, alpha(l.style.col, 0.22), l.x-half, lo, l.x+half, hi)
	r := vg.Rectangle{Min: vg.Point{X: l.x - half, Y: lo}, Max: vg.Point{X: l.x + half, Y: hi}}
	l.c.SetLineStyle(solid(alpha(l.style.col, 0.6), 0.8))
	l.c.Stroke(r.Path())
}

// tick draws the median as a strong horizontal line.
func (l strip) tick(v float64) {
	if at := l.y(v); l.c.ContainsY(at) {
		half := l.lane * 0.40
		l.c.StrokeLine2(solid(l.style.col, 2), l.x-half, at, l.x+half, at)
	}
}

// interval draws the mean with its interval.
func (l strip) interval(s summary) {
	tip := l.lane * 0.25
	lo, hi := l.clip(s.low), l.clip(s.high)
	ls := solid(l.style.col, 1.8)
	l.c.StrokeLine2(ls, l.x, lo, l.x, hi)
	for _, end := range []vg.Length{lo, hi} {
		l.c.StrokeLine2(ls, l.x-tip, end, l.x+tip, end)
	}
	l.glyph(vg.Point{X: l.x, Y: l.y(s.mid)}, min(px(4.5), l.lane*0.34), 1)
}

// points spreads the points over the strip by the golden ratio: neighbours stay apart, and nothing
// is random.
func (l strip) points(vs []float64, opacity float64) {
	const golden = 0.6180339887498949
	r := clamp(l.lane*0.15, px(1.4), px(3.2))
	for i, v := range vs {
		turn := 0.5 + float64(i)*golden
		off := turn - float64(int(turn)) - 0.5
		if len(vs) == 1 {
			off = 0
		}
		l.glyph(vg.Point{X: l.x + vg.Length(off)*l.lane*0.56, Y: l.y(v)}, r, opacity)
	}
}

func (l strip) glyph(pt vg.Point, r vg.Length, opacity float64) {
	l.c.DrawGlyph(draw.GlyphStyle{Color: alpha(l.style.col, opacity), Radius: r, Shape: l.style.shape}, pt)
}

func (l strip) drawPaper(v float64) {
	if at := l.y(v); l.c.ContainsY(at) {
		paperMark(l.c, vg.Point{X: l.x, Y: at}, min(px(5), max(px(3), l.lane*0.4)))
	}
}

// clip limits a height to the drawing; a value that a log axis cannot show is at its lower end.
func (l strip) clip(v float64) vg.Length {
	return clamp(orLow(l.y, v, l.c.Min.Y), l.c.Min.Y, l.c.Max.Y)
}

// orLow returns at(v), or low if a log axis cannot show v.
func orLow(at func(float64) vg.Length, v float64, low vg.Length) (out vg.Length) {
	defer func() {
		if recover() != nil {
			out = low
		}
	}()
	return at(v)
}
