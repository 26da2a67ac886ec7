package plot

import (
	"cmp"
	"io"
)

// NotebookWidth is the width of a figure in CSS pixels that fits a notebook's
// cell: 7 inches.
const NotebookWidth = 672

// NotebookDPI is how many pixels of a picture go on an inch of a notebook, one
// and a half on a CSS pixel: sharp enough, and half the size of a file of its
// own.
const NotebookDPI = 144

// WithWidth is the figure for a place of the given width in CSS pixels, such as
// NotebookWidth. A figure that names a width itself, or whose kind is narrower,
// keeps it. Its PNG has NotebookDPI, unless the figure names a scale.
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
