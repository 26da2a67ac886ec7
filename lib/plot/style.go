package plot

import (
	"image/color"
	"slices"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The palette of Okabe and Ito (2008), in the order in which series take it;
// yellow is left out, it is too weak on white.
var palette = []color.NRGBA{
	rgb(0x0072B2), // blue
	rgb(0xD55E00), // vermillion
	rgb(0x009E73), // bluish green
	rgb(0xCC79A7), // reddish purple
	rgb(0xE69F00), // orange
	rgb(0x56B4E9), // sky blue
}

// Controls are grey, so that they are never mistaken for a method.
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
	methodShapes  = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, diamond{}, bar{}, hourglass{}}
	controlShapes = []draw.GlyphDrawer{cross{}, plus{}, wedge{}, star{}}
	// The null is dashed evenly; no series is.
	controlDashes = [][]vg.Length{{px(9), px(3), px(2), px(3)}, {px(2), px(2.5)}, {px(14), px(4)}, {px(9), px(3), px(2), px(3), px(2), px(3)}}
	// Outlines of histograms, which have no place for signs.
	sampleDashes = [][]vg.Length{nil, {px(8), px(2)}, {px(2), px(2)}, {px(8), px(2), px(2), px(2)}}
)

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xFF}
}

// alpha is col made translucent.
func alpha(col color.NRGBA, a float64) color.NRGBA {
	col.A = uint8(255*a + 0.5)
	return col
}

// style is how a series is drawn everywhere in a figure.
type seriesStyle struct {
	col    color.NRGBA
	shape  draw.GlyphDrawer
	dashes []vg.Length
}

// seriesID is a series as a reader knows it.
type seriesID struct {
	name    string
	control bool
}

// stylesAmong are the looks of a figure's series: those of the company that it is shown
// in, so that the same series has the same look in every panel and no other has
// it; alone, by their order.
func stylesAmong(own, allSeries []seriesID) []seriesStyle {
	if allSeries == nil {
		return seriesStyles(own)
	}
	all, out := seriesStyles(allSeries), make([]seriesStyle, len(own))
	for i, r := range own {
		out[i] = all[slices.Index(allSeries, r)]
	}
	return out
}

// styles gives each series its look: methods take the colours in turn, controls
// the greys. Every look has a sign of its own, and every control's line its
// dashes, so that a print in grey can be read.
func seriesStyles(series []seriesID) []seriesStyle {
	out := make([]seriesStyle, len(series))
	m, k := 0, 0
	for i, r := range series {
		if r.control {
			n := k + k/len(greys)
			out[i] = seriesStyle{greys[k%len(greys)], controlShapes[n%len(controlShapes)], controlDashes[n%len(controlDashes)]}
			k++
			continue
		}
		out[i] = seriesStyle{palette[m%len(palette)], methodShapes[(m+m/len(palette))%len(methodShapes)], nil}
		m++
	}
	return out
}

// pen writes text: a face of the house font in one size and colour.
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

// The pens of the house.
func titlePen() pen  { return newPen(16, true, ink) }
func headPen() pen   { return newPen(12.5, true, ink) }
func labelPen() pen  { return newPen(12.5, false, ink) }
func smallPen() pen  { return newPen(11.5, false, ink) }
func notePen() pen   { return newPen(12, false, inkSoft) }
func sourcePen() pen { return newPen(10.5, false, inkSoft) }

func (p pen) width(s string) vg.Length { return p.face.Width(s) }

// leading is the distance between two lines of text.
func (p pen) leading() vg.Length { return p.font.Size * 1.28 }

// write puts s on the base line y; align 0 starts at x, 0.5 centres on it, 1
// ends there.
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

// style is the pen as the axes of the drawing library want it.
func (p pen) style(x, y float64) text.Style {
	return text.Style{Color: p.col, Font: p.font, XAlign: text.XAlignment(x), YAlign: text.YAlignment(y), Handler: plot.DefaultTextHandler}
}
