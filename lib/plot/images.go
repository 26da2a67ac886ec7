// Grids of small images.

package plot

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/lethe-ml/lethe/lib/array"
)

// Images is a grid of small grey or colour images with a label under each. Flagged ones have a
// thick frame. The height follows from the images: Height in Meta is not used.
type Images struct {
	Meta
	Pixels       array.Matrix[float32] // an image per row: lines from the top, in a line pixel by pixel, in a pixel channel by channel
	Shape        [3]int                // height, width, channels: 1 is grey, 3 is red, green and blue
	Black, White float64               // pixel values; both 0 means 0 and 1. White below Black shows ink on paper
	Labels       []string              // one per image, or nil
	Flagged      []bool                // one per image, or nil
	FlagLabel    string                // "flagged", when empty
	Columns      int                   // 0 chooses
}

var _ Figure = Images{}

// Render implements Figure.
func (f Images) Render(w io.Writer, format string) error { return render(f, w, format) }

// PNG implements Figure.
func (f Images) PNG() ([]byte, error) { return renderPNG(f) }

// Text implements Figure.
func (f Images) Text() string { return asText(f) }

func (f Images) fixedHeight() {}

// The limits of an image grid.
const (
	maxImages    = 400
	maxImageSide = 1024
)

func (f Images) check() error {
	var p problems
	n, h, w, k := f.Pixels.Rows, f.Shape[0], f.Shape[1], f.Shape[2]
	p.refuse(n == 0, noData)
	p.refuse(n > maxImages || f.Columns < 0 || f.Columns > maxImages, "%d images in %d columns; there can be %d", n, f.Columns, maxImages)
	p.refuse(h < 1 || w < 1 || h > maxImageSide || w > maxImageSide || k != 1 && k != 3,
		"images of %d x %d pixels with %d channels; sides can be 1 to %d, channels 1 or 3", h, w, k, maxImageSide)
	p.refuse(f.Pixels.Cols != h*w*k, "an image has %d values; %d x %d pixels with %d channels need %d", f.Pixels.Cols, h, w, k, h*w*k)
	if p.err == nil {
		p.err = f.Pixels.Check("pixels")
	}
	p.value(f.Black, false, "black")
	p.value(f.White, false, "white")
	p.refuse(f.Black == f.White && f.Black != 0, "black and white are both %v", f.Black)
	p.refuse(f.Labels != nil && len(f.Labels) != n, "%d labels for %d images", len(f.Labels), n)
	p.refuse(f.Flagged != nil && len(f.Flagged) != n, "%d flags for %d images", len(f.Flagged), n)
	return p.err
}

func (f Images) flagged(i int) bool { return f.Flagged != nil && f.Flagged[i] }

// light returns a pixel's value as a fraction from black to white.
func (f Images) light(v float32) float64 {
	black, white := f.Black, f.White
	if black == white {
		white = 1
	}
	return clamp((float64(v)-black)/(white-black), 0, 1)
}

// picture returns image i for the given width. Pixels are repeated so that their edges stay sharp
// when the drawing library scales the image.
func (f Images) picture(i int, width vg.Length) image.Image {
	h, w, k := f.Shape[0], f.Shape[1], f.Shape[2]
	times := max(1, roundPixels(2*width)/w)
	img := image.NewRGBA(image.Rect(0, 0, w*times, h*times))
	row := f.Pixels.Row(i)
	for y := range h * times {
		for x := range w * times {
			at := (y/times*w + x/times) * k
			tone := func(ch int) uint8 { return uint8(math.Round(255 * f.light(row[at+ch%k]))) }
			img.SetRGBA(x, y, color.RGBA{tone(0), tone(1), tone(2), 0xFF})
		}
	}
	return img
}

func (f Images) scene() scene { return scene{custom: f.draw, entries: f.entries(), plain: f.table()} }

func (f Images) entries() []entry {
	for i := range f.Pixels.Rows {
		if f.flagged(i) {
			return []entry{{label: cmp.Or(f.FlagLabel, "flagged"), styleKey: "flag", sample: func(c draw.Canvas) {
				flagFrame(c, vg.Rectangle{Min: c.Min, Max: c.Max})
			}}}
		}
	}
	return nil
}

// flagFrame draws the frame of a flagged image.
func flagFrame(c draw.Canvas, r vg.Rectangle) {
	var p vg.Path
	p.Move(r.Min)
	p.Line(vg.Point{X: r.Max.X, Y: r.Min.Y})
	p.Line(r.Max)
	p.Line(vg.Point{X: r.Min.X, Y: r.Max.Y})
	p.Line(r.Min)
	p.Line(vg.Point{X: r.Max.X, Y: r.Min.Y}) // again, to close the first corner
	c.SetLineStyle(solid(palette[1], 3))
	c.Stroke(p)
}

const (
	imageCell = 96 // target width of a cell in CSS pixels
	imageMost = 150
	// Above this number of images cells are half as wide.
	manyImages = 60
	imageGap   = 14
	labelRows  = 3 // lines under an image; longer labels are cut
)

// imageLayout is the position of the images and their labels.
type imageLayout struct {
	columns   int
	cell      vg.Length // width of a column without the gap
	w, h      vg.Length // of an image
	labels    [][]string
	rowLabels []int // lines of labels under each row of images
}

func (f Images) layout(width vg.Length) imageLayout {
	n := f.Pixels.Rows
	l := imageLayout{columns: f.Columns}
	if l.columns == 0 {
		aim := px(imageCell)
		if n > manyImages {
			aim /= 2
		}
		l.columns = int(max(1, (width+px(imageGap))/(aim+px(imageGap))))
	}
	l.columns = min(l.columns, n)
	l.cell = min((width+px(imageGap))/vg.Length(l.columns)-px(imageGap), px(imageMost))
	l.cell = max(l.cell, px(4))
	l.w, l.h = l.cell, l.cell*vg.Length(f.Shape[0])/vg.Length(f.Shape[1])
	if l.h > px(imageMost) { // tall images
		l.w, l.h = l.w*px(imageMost)/l.h, px(imageMost)
	}
	l.labels = make([][]string, n)
	l.rowLabels = make([]int, (n+l.columns-1)/l.columns)
	for i, s := range f.Labels {
		l.labels[i] = wrapShort(smallPen(), s, l.cell, labelRows)
		l.rowLabels[i/l.columns] = max(l.rowLabels[i/l.columns], len(l.labels[i]))
	}
	return l
}

// wrapShort wraps s and cuts it after most lines, with an ellipsis.
func wrapShort(p pen, s string, width vg.Length, most int) []string {
	lines := wrap(p, s, width)
	if len(lines) <= most {
		return lines
	}
	last := lines[most-1]
	for p.width(last+"\u2026") > width && len([]rune(last)) > 1 {
		r := []rune(last)
		last = string(r[:len(r)-1])
	}
	return append(lines[:most-1:most-1], last+"\u2026")
}

// rowHeight returns the height of a row of images with its labels, without the gap.
func (l imageLayout) rowHeight(r int) vg.Length {
	h := l.h
	if l.rowLabels[r] > 0 {
		h += vg.Length(l.rowLabels[r])*smallPen().leading() + px(5)
	}
	return h
}

func (f Images) body(width vg.Length) vg.Length {
	l := f.layout(width)
	h := vg.Length(len(l.rowLabels)-1)*px(imageGap) + px(6)
	for r := range l.rowLabels {
		h += l.rowHeight(r)
	}
	return h
}

func (f Images) draw(c draw.Canvas) {
	l := f.layout(c.Max.X - c.Min.X)
	top := c.Max.Y - px(3)
	for i := range f.Pixels.Rows {
		if i > 0 && i%l.columns == 0 {
			top -= l.rowHeight(i/l.columns-1) + px(imageGap)
		}
		left := c.Min.X + px(2) + vg.Length(i%l.columns)*(l.cell+px(imageGap)) + (l.cell-l.w)/2
		r := vg.Rectangle{Min: vg.Point{X: left, Y: top - l.h}, Max: vg.Point{X: left + l.w, Y: top}}
		c.DrawImage(r, f.picture(i, l.w))
		if f.flagged(i) {
			flagFrame(c, r)
		} else {
			c.SetLineStyle(solid(gridLine, 1))
			c.Stroke(r.Path())
		}
		y := r.Min.Y - px(4)
		for _, s := range l.labels[i] {
			y -= smallPen().leading()
			smallPen().write(c, left+l.w/2, y+px(3), 0.5, s)
		}
	}
}

// table returns a line per image with its label, its mean brightness, and whether it is flagged.
func (f Images) table() []string {
	kind := "grey"
	if f.Shape[2] == 3 {
		kind = "colour"
	}
	out := []string{fmt.Sprintf("%d %s images, %d pixels high and %d wide; light: mean from 0 (black) to 1 (white)",
		f.Pixels.Rows, kind, f.Shape[0], f.Shape[1])}
	var names []string
	for i := range f.Pixels.Rows {
		names = append(names, fmt.Sprintf("%3d", i+1))
		if f.Labels != nil {
			names[i] += "  " + oneLine(f.Labels[i])
		}
	}
	for i, name := range names {
		sum := 0.0
		for _, v := range f.Pixels.Row(i) {
			sum += f.light(v)
		}
		line := padRight(name, widest(names...)+2) + "light " + formatFixed(sum/float64(f.Pixels.Cols), 2)
		if f.flagged(i) {
			line += "  " + oneLine(cmp.Or(f.FlagLabel, "flagged"))
		}
		out = append(out, line)
	}
	return out
}
