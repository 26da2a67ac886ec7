package plot

import (
	"bytes"
	"errors"
	"strings"
)

// inline is the format of Inline.
const inline = "inline"

// Inline is the figure as an svg element for an HTML page, of the given width in CSS
// pixels. It brings no fonts, which are a megabyte: the page has to say what its text
// falls back to, best on a font as wide as Liberation Sans, such as Arial. The words for
// those who cannot see it are Text.
func Inline(f Figure, width int) (string, error) {
	var b bytes.Buffer
	if err := render(AtWidth(f, width), &b, inline); err != nil {
		return "", err
	}
	_, svg, found := strings.Cut(b.String(), "<svg ")
	if !found {
		return "", errors.New("the drawing library wrote no svg element")
	}
	return `<svg role="img" aria-hidden="true" ` + strings.TrimSpace(svg), nil
}
