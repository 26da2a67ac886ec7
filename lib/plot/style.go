// The style of all figures: palette, shapes, fonts.

package plot

import (
	"fmt"
	"image/color"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// palette is the colours of the series, in their order: Okabe and Ito's (2008), without yellow,
// which is too weak on white, and six that readers who are colour-blind tell from these and from
// each other (CIE76 distance of at least 13 under simulated protanopia and deuteranopia; the least
// distance among Okabe and Ito's is 18).
var palette = []color.NRGBA{
	rgb(0x0072B2), // blue
	rgb(0xD55E00), // vermillion
	rgb(0x009E73), // bluish green
	rgb(0xCC79A7), // reddish purple
	rgb(0xE69F00), // orange
	rgb(0x56B4E9), // sky blue
	rgb(0x8B0000), // dark red
	rgb(0x000080), // navy
	rgb(0x80BA5A), // light green
	rgb(0x7F3C8D), // violet
	rgb(0x117733), // dark green
	rgb(0x00429D), // royal blue
}

// greys are the colours of controls, which distinguish them from methods.
var greys = []color.NRGBA{rgb(0x1A1A1A), rgb(0x7F7F7F), rgb(0x4D4D4D), rgb(0xA6A6A6)}

// The colours of everything that is not data.
var (
	ink       = rgb(0x1A1A1A)
	inkSoft   = rgb(0x595959)
	gridLine  = rgb(0xE6E6E6)
	shade     = rgb(0xF6F6F6)
	bandFill  = color.NRGBA{0xF0, 0xE4, 0x42, 0x59} // Okabe-Ito yellow, thin
	nullLine  = rgb(0x404040)
	paperInk  = rgb(0x000000)
	paperFill = rgb(0xFFFFFF)
)

var (
	methodShapes = []symbol{
		{draw.CircleGlyph{}, "circle"}, {draw.BoxGlyph{}, "square"}, {draw.PyramidGlyph{}, "triangle-up"}, {diamond, "diamond"},
		bar.symbol(), {hourglass, "M-1,-1L1,-1L-1,1L1,1Z"}, leftTriangle.symbol(), rightTriangle.symbol(), flatBar.symbol(),
		bowTie.symbol(), house.symbol(), chevron.symbol(),
	}
	controlShapes = []symbol{
		{cross{}, "M-1,-.7L-.7,-1L0,-.3L.7,-1L1,-.7L.3,0L1,.7L.7,1L0,.3L-.7,1L-1,.7L-.3,0Z"}, {plus{}, "cross"}, {wedge, "triangle-down"},
		{star{}, "M0,-1L.2,-.5L.7,-.7L.5,-.2L1,0L.5,.2L.7,.7L.2,.5L0,1L-.2,.5L-.7,.7L-.5,.2L-1,0L-.5,-.2L-.7,-.7L-.2,-.5Z"},
	}
	nullDashes = []vg.Length{px(5), px(3)}
	// Lines of methods are whole, until there are more than six.
	methodDashes = [][]vg.Length{nil, {px(12), px(2)}, {px(6), px(2)}, {px(12), px(2), px(4), px(2)}}
	// Only the null has even dashes.
	controlDashes = [][]vg.Length{{px(9), px(3), px(2), px(3)}, {px(2), px(2.5)}, {px(14), px(4)}, {px(9), px(3), px(2), px(3), px(2), px(3)}}
	// Outlines of histograms, which have no markers.
	sampleDashes = [][]vg.Length{nil, {px(8), px(2)}, {px(2), px(2)}, {px(8), px(2), px(2), px(2)}}
)

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xFF}
}

// alpha returns col with the opacity a.
func alpha(col color.NRGBA, a float64) color.NRGBA {
	col.A = uint8(255*a + 0.5)
	return col
}

// seriesStyle is how a series is drawn everywhere in a figure.
type seriesStyle struct {
	col    color.NRGBA
	shape  symbol
	dashes []vg.Length
	number int // among the series
}

// symbol is a shape in the drawing library and in Vega's notation.
type symbol struct {
	draw.GlyphDrawer
	vega string
}

// stroke returns the line style of a series; the width is in CSS pixels.
func (l seriesStyle) stroke(width float64) draw.LineStyle {
	return draw.LineStyle{Color: l.col, Width: px(width), Dashes: l.dashes}
}

// outline returns the line style of a histogram, which has no symbols but dashes of its own.
func (l seriesStyle) outline(width float64) draw.LineStyle {
	return draw.LineStyle{Color: l.col, Width: px(width), Dashes: sampleDashes[(l.number+l.number/len(palette))%len(sampleDashes)]}
}

// marker names the colour and shape of a series: equal texts, equal looks.
func (l seriesStyle) marker() string {
	return fmt.Sprintf("%v %T %s", l.col, l.shape.GlyphDrawer, l.shape.vega)
}

// seriesID identifies a series for the reader.
type seriesID struct {
	name    string
	control bool
}

// seriesStyles assigns a style to each series: methods take the colours in turn, controls the
// greys. Every style has its own shape, and every control its own dashes, so that a grey print is
// legible. Twelve methods have twelve colours; a thirteenth has a colour again, with another shape
// and other dashes.
func seriesStyles(series []seriesID) []seriesStyle {
	out := make([]seriesStyle, len(series))
	m, k := 0, 0
	for i, r := range series {
		if r.control {
			n := k + k/len(greys)
			out[i] = seriesStyle{greys[k%len(greys)], controlShapes[n%len(controlShapes)], controlDashes[n%len(controlDashes)], i}
			k++
			continue
		}
		out[i] = seriesStyle{palette[m%len(palette)], methodShapes[(m+m/len(palette))%len(methodShapes)], methodDashes[m/6%len(methodDashes)], i}
		m++
	}
	return out
}

// pen writes text in one font, size and colour.
type pen struct {
	face font.Face
	col  color.Color
	font font.Font
}

// newPen returns a pen of the size in CSS pixels.
func newPen(size float64, bold bool, col color.Color) pen {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: px(size)}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return pen{face: plot.DefaultTextHandler.Cache().Lookup(f, f.Size), col: col, font: f}
}

// The pens of all figures.
func titlePen() pen  { return newPen(16, true, ink) }
func headPen() pen   { return newPen(12.5, true, ink) }
func labelPen() pen  { return newPen(12.5, false, ink) }
func smallPen() pen  { return newPen(11.5, false, ink) }
func notePen() pen   { return newPen(12, false, inkSoft) }
func sourcePen() pen { return newPen(10.5, false, inkSoft) }

func (p pen) width(s string) vg.Length { return p.face.Width(s) }

// leading is the distance between two lines of text.
func (p pen) leading() vg.Length { return p.font.Size * 1.28 }

// write writes s on the base line y. align is 0 to start at x, 0.5 to centre on it, 1 to end
// there.
func (p pen) write(c draw.Canvas, x, y vg.Length, align float64, s string) {
	if s == "" {
		return
	}
	c.SetColor(p.col)
	c.FillString(p.face, vg.Point{X: x - vg.Length(align)*p.width(s), Y: y}, s)
}

// middle writes s so that its small letters are centred on y.
func (p pen) middle(c draw.Canvas, x, y vg.Length, align float64, s string) {
	p.write(c, x, y-p.font.Size*0.34, align, s)
}

// style returns the pen as a text style of the drawing library.
func (p pen) style(x, y float64) text.Style {
	return text.Style{Color: p.col, Font: p.font, XAlign: text.XAlignment(x), YAlign: text.YAlignment(y), Handler: plot.DefaultTextHandler}
}
