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

// inline is the format of Inline.
const inline = "inline"

// Inline is the figure as an svg element for an HTML page, of the given width in CSS
// pixels. It brings no fonts, which are a megabyte: the page says what its text falls
// back to, and every text keeps the width that it was laid out with. For those who
// cannot see it there is Text.
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

// svgText is a text element as the drawing library writes it.
var svgText = regexp.MustCompile(`(?s)<text (.*?font-weight:(\w+);.*?font-size:([0-9.]+)px.*?)>(.*?)</text>`)

// fixWidth adds to a text the width that it has in the house font.
func fixWidth(element string) string {
	m := svgText.FindStringSubmatch(element)
	size, err := strconv.ParseFloat(m[3], 64)
	if err != nil {
		return element
	}
	p := newPen(size*96/72, m[2] == "bold", ink)
	return fmt.Sprintf(`<text textLength="%.4g" lengthAdjust="spacingAndGlyphs" %s>%s</text>`, p.width(html.UnescapeString(m[4])).Points(), m[1], m[4])
}
