// Package plot draws Lethe's figures in one style: Liberation fonts, the colour-blind safe palette
// of Okabe and Ito with shapes as a second cue, error bars by default, null values and chance
// floors as lines and bands, a paper's value as a hollow diamond, and under each figure a caption
// and a line with scale, seeds and data hash.
//
// Inside, a figure is a list of marks on two scales (scene.go), which renderers for PNG and SVG,
// for Vega-Lite and for text draw; heat maps, grids of images and panels draw themselves.
//
// Each kind of figure is a struct; its zero value plus data is a finished figure. The same value
// also prints as plain text for a terminal. Data that cannot be drawn (none, lengths that do not
// match, a NaN) are an error that names the series, never a panic. The same figure gives the same
// bytes. Figures with useful tooltips are Interactive: they also have a Vega-Lite specification.
package plot

import (
	"bytes"
	"fmt"
	"image"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is implemented by every kind of figure.
type Figure interface {
	// Render writes the figure as "png", "svg" or "txt".
	Render(w io.Writer, format string) error
	// PNG returns the figure as the bytes of a PNG file.
	PNG() ([]byte, error)
	// Text returns the figure for a terminal, or the text of the error if it cannot
	// be drawn.
	Text() string

	drawing
}

// drawing is the part of a figure that its kind implements; a frame surrounds it.
type drawing interface {
	meta() Meta
	check() error
	body(width vg.Length) vg.Length // height of the drawing area
	scene() scene                   // of a figure that has passed check
}

// Meta holds the texts around the drawing and the size of the figure.
type Meta struct {
	Title   string
	Caption string // how to read the figure, a sentence or two
	Source  string // scale, seeds, data hash: report.Provenance.Line
	Width   int    // of the whole figure in CSS pixels; 0 means 900
	Height  int    // of the drawing area in CSS pixels; 0 leaves it to the kind
	Scale   int    // image pixels per CSS pixel; 0 means 2, sharp on every screen
}

// The limits on the size of a figure, in CSS pixels.
const (
	minSide, maxSide = 120, 6000
	maxScale         = 4
	maxPixels        = 100_000_000
)

func (m Meta) meta() Meta { return m }

func (m Meta) check() error {
	var p problems
	p.refuse(m.Width != 0 && (m.Width < minSide || m.Width > maxSide), "width %d is outside %d to %d", m.Width, minSide, maxSide)
	p.refuse(m.Height != 0 && (m.Height < minSide || m.Height > maxSide), "height %d is outside %d to %d", m.Height, minSide, maxSide)
	p.refuse(m.Scale < 0 || m.Scale > maxScale, "scale %d is outside 1 to %d", m.Scale, maxScale)
	return p.err
}

// width returns the width of the figure, or the standard of its kind if none is given.
func (m Meta) width(standard float64) vg.Length {
	if m.Width > 0 {
		return px(float64(m.Width))
	}
	return px(standard)
}

// height returns the height of the drawing area, or the standard of its kind if none is given.
func (m Meta) height(standard float64) vg.Length {
	if m.Height > 0 {
		return px(float64(m.Height))
	}
	return px(standard)
}

// px returns a length in CSS pixels, of which 96 make an inch.
func px(n float64) vg.Length { return vg.Length(n) * vg.Inch / 96 }

// verify checks the figure; the error has its title.
func verify(f drawing) error {
	err := f.meta().check()
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return fmt.Errorf("figure %q: %w", f.meta().Title, err)
	}
	return nil
}

// render draws f with its frame. A panic inside the drawing library becomes an
// error.
func render(f drawing, w io.Writer, format string) (err error) {
	if err := verify(f); err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("figure %q: drawing failed: %v", f.meta().Title, r)
		}
	}()
	if format == "txt" {
		_, err := io.WriteString(w, asText(f))
		return err
	}
	fr := newFrame(f)
	switch format {
	case "png":
		return fr.png(w)
	case "svg", inline:
		c := vgsvg.NewWith(vgsvg.UseWH(fr.w, fr.h), vgsvg.EmbedFonts(format != inline))
		fr.draw(draw.NewCanvas(c, fr.w, fr.h))
		_, err = c.WriteTo(w)
		return err
	}
	return fmt.Errorf("figure %q: unknown format %q; there are png, svg and txt", f.meta().Title, format)
}

// png draws the frame as a PNG.
func (fr frame) png(w io.Writer) error {
	m := fr.f.meta()
	scale := m.Scale
	if scale == 0 {
		scale = 2
	}
	dot := vg.Inch / vg.Length(96*scale)
	if n := float64(fr.w / dot * (fr.h / dot)); n > maxPixels {
		return fmt.Errorf("figure %q: %.0f pixels are more than %d", m.Title, n, maxPixels)
	}
	// Text is set badly on a coarse grid, so a small picture is drawn at twice its
	// size and halved.
	fine := max(scale, 2)
	dpi := 96 * fine
	if _, here := fr.f.(resized); here && m.Scale == 0 {
		dpi = NotebookDPI
	}
	c := vgimg.NewWith(vgimg.UseWH(fr.w, fr.h), vgimg.UseDPI(dpi))
	fr.draw(draw.NewCanvas(c, fr.w, fr.h))
	img, ok := c.Image().(*image.RGBA)
	if !ok {
		return fmt.Errorf("figure %q: the drawing library returned a %T", m.Title, c.Image())
	}
	if scale < fine {
		img = halve(img)
	}
	return writePNG(w, img)
}

func renderPNG(f drawing) ([]byte, error) {
	var b bytes.Buffer
	if err := render(f, &b, "png"); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
