package plot

import (
	"cmp"
	"io"
)

// NotebookWidth is the width in CSS pixels of a figure that fits a notebook's cell: 7 inches.
const NotebookWidth = 672

// NotebookDPI is the resolution of a picture in a notebook, one and a half pixels per CSS pixel.
const NotebookDPI = 144

// WithWidth returns the figure for the given width in CSS pixels, such as NotebookWidth. A figure
// that sets a width, or whose kind is narrower, keeps its own. Its PNG has NotebookDPI, unless the
// figure sets a scale.
func WithWidth(f Figure, width int) Figure {
	if f == nil {
		return nil
	}
	if s, ok := f.(widther); ok {
		width = min(width, int(s.standardWidth()))
	}
	return resized{f, width}
}

// resized is a figure with a width from outside.
type resized struct {
	Figure
	width int
}

func (p resized) meta() Meta {
	m := p.Figure.meta()
	m.Width = cmp.Or(m.Width, p.width)
	return m
}

// Render implements Figure.
func (p resized) Render(w io.Writer, format string) error { return render(p, w, format) }

// PNG implements Figure.
func (p resized) PNG() ([]byte, error) { return renderPNG(p) }
