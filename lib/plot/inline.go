// Figures as svg elements inside an HTML page.

package plot

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
)

// inline is the internal format name of Inline.
const inline = "inline"

// Inline returns the figure as an svg element for an HTML page, of the given width in CSS pixels.
// It embeds no fonts (a megabyte): the page chooses a font, and every text keeps the width of its
// layout. Text has the alternative for screen readers.
func Inline(f Figure, width int) (string, error) {
	var b bytes.Buffer
	if err := render(WithWidth(f, width), &b, inline); err != nil {
		return "", err
	}
	_, svg, found := strings.Cut(b.String(), "<svg ")
	if !found {
		return "", errors.New("the drawing library wrote no svg element")
	}
	svg = svgText.ReplaceAllStringFunc(svg, fixWidth)
	return `<svg aria-hidden="true" ` + strings.TrimSpace(svg), nil
}

// svgText matches a text element of the drawing library.
var svgText = regexp.MustCompile(`(?s)<text (.*?font-weight:(\w+);.*?font-size:([0-9.]+)px.*?)>(.*?)</text>`)

// fixWidth adds to a text element its width in the Liberation font.
func fixWidth(element string) string {
	m := svgText.FindStringSubmatch(element)
	size, err := strconv.ParseFloat(m[3], 64)
	if err != nil {
		return element
	}
	p := newPen(size*96/72, m[2] == "bold", ink)
	return fmt.Sprintf(`<text textLength="%.4g" lengthAdjust="spacingAndGlyphs" %s>%s</text>`, p.width(html.UnescapeString(m[4])).Points(), m[1], m[4])
}
