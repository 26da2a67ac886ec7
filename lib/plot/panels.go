// Panels: several figures in a grid, with one legend.

package plot

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Panels is a grid of figures under one title, with one legend for all. Of the figures inside only
// the titles are shown, not captions and sources.
type Panels struct {
	Meta
	Columns int // 0 chooses
	Figures []Figure
	ShareY  bool // the same y range for all Strips and Curves

	gridSeries []seriesID // the series of the whole grid, if this is one of its sheets
}

var _ Figure = Panels{}

// Render implements Figure.
func (p Panels) Render(w io.Writer, format string) error { return render(p, w, format) }

// PNG implements Figure.
func (p Panels) PNG() ([]byte, error) { return renderPNG(p) }

// Text implements Figure.
func (p Panels) Text() string { return asText(p) }

func (p Panels) meta() Meta { return p.Meta }

// maxPanels bounds the size of a grid.
const maxPanels = 100

func (p Panels) check() error {
	if len(p.Figures) == 0 {
		return errEmpty
	}
	if len(p.Figures) > maxPanels || p.Columns < 0 || p.Columns > maxPanels {
		return fmt.Errorf("%d panels in %d columns; there can be %d", len(p.Figures), p.Columns, maxPanels)
	}
	for i, f := range p.Figures {
		if f == nil {
			return fmt.Errorf("panel %d is empty", i+1)
		}
		if _, nested := f.(Panels); nested {
			return fmt.Errorf("panel %d holds panels itself", i+1)
		}
		if err := verify(f); err != nil {
			return fmt.Errorf("panel %d: %w", i+1, err)
		}
	}
	looks := map[string]string{}
	for i, f := range p.panels() {
		for _, e := range f.legend() {
			if old, seen := looks[e.label]; seen && old != e.styleKey {
				return fmt.Errorf("panel %d draws %q in another style than the panels before it; give different series different names",
					i+1, e.label)
			}
			looks[e.label] = e.styleKey
		}
	}
	return nil
}

// legend returns each label once, in the order of first use.
func (p Panels) legend() []entry {
	var out []entry
	seen := map[string]bool{}
	for _, f := range p.panels() {
		for _, e := range f.legend() {
			if !seen[e.label] {
				out = append(out, e)
			}
			seen[e.label] = true
		}
	}
	return out
}

// styledFigure is a figure whose series have styles.
type styledFigure interface {
	seriesIDs() []seriesID
	// withAllSeries returns the figure with the styles that its series have among all series of the panels.
	withAllSeries(allSeries []seriesID) drawing
}

// Sheets divides the panels into grids of at most n, for pages of paper. A series keeps its style;
// only the first grid has the title.
func (p Panels) Sheets(n int) []Panels {
	var out []Panels
	for part := range slices.Chunk(p.Figures, max(1, n)) {
		sheet := p
		sheet.Figures, sheet.gridSeries = part, p.allSeries()
		if len(out) > 0 {
			sheet.Title = ""
		}
		out = append(out, sheet)
	}
	return out
}

// allSeries returns the series of all panels, each once, in the order of first use.
func (p Panels) allSeries() []seriesID {
	out := slices.Clone(p.gridSeries)
	for _, f := range p.Figures {
		d, ok := f.(styledFigure)
		if !ok {
			continue
		}
		for _, r := range d.seriesIDs() {
			if !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	return out
}

// yRanged is a figure whose y axis can be set.
type yRanged interface {
	rangeY() span
	limitY(lo, hi float64) drawing
}

// fixedHeight is a figure whose height follows from its rows.
type fixedHeight interface{ fixedHeight() }

func (Forest) fixedHeight()  {}
func (Heatmap) fixedHeight() {}

// panels returns the figures as they are drawn, with a common range if requested.
func (p Panels) panels() []drawing {
	out, allSeries := make([]drawing, len(p.Figures)), p.allSeries()
	all, mixed := newSpan(), p.mixed()
	for i, f := range p.Figures {
		out[i] = f
		if d, ok := f.(styledFigure); ok {
			out[i] = d.withAllSeries(allSeries)
		}
		if forest, ok := f.(Forest); ok && mixed {
			forest.unitInTitle = true
			out[i] = forest
		}
		if s, ok := f.(yRanged); ok {
			r := s.rangeY()
			all.add(r.lo, r.hi)
		}
	}
	if !p.ShareY {
		return out
	}
	for i, f := range out {
		if s, ok := f.(yRanged); ok {
			out[i] = s.limitY(all.lo, all.hi)
		}
	}
	return out
}

// mixed reports whether forests have intervals over different units. Then the panel titles state
// the unit, because one legend entry cannot.
func (p Panels) mixed() bool {
	var names []string
	for _, f := range p.Figures {
		forest, ok := f.(Forest)
		if !ok {
			continue
		}
		if name, ok := forest.interval(); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return len(names) > 1
}

func (p Panels) columns() int {
	if p.Columns > 0 {
		return min(p.Columns, len(p.Figures))
	}
	for n := range len(p.Figures) {
		if (n+1)*(n+1) >= len(p.Figures) {
			return n + 1
		}
	}
	return 1
}

var (
	panelGapX = px(22)
	panelGapY = px(16)
)

func (p Panels) panelWidth(width vg.Length) vg.Length {
	n := vg.Length(p.columns())
	return (width - (n-1)*panelGapX) / n
}

// headingOf returns the title above a panel.
func headingOf(f drawing) string {
	if forest, ok := f.(Forest); ok {
		return forest.heading()
	}
	return f.meta().Title
}

// rowHeights returns the heights of the rows of the grid, titles included.
func (p Panels) rowHeights(width vg.Length) []vg.Length {
	n := p.columns()
	out := make([]vg.Length, (len(p.Figures)+n-1)/n)
	w := p.panelWidth(width)
	for i, f := range p.panels() {
		h := vg.Length(len(wrap(headPen(), headingOf(f), w))) * headPen().leading()
		_, rigid := f.(fixedHeight)
		switch {
		case p.Height > 0:
			h = px(float64(p.Height))/vg.Length(len(out)) - panelGapY
		case rigid || f.meta().Height > 0:
			h += f.body(w)
		default:
			h += min(f.body(w), max(px(170), w*0.8))
		}
		out[i/n] = max(out[i/n], h)
	}
	return out
}

func (p Panels) body(width vg.Length) vg.Length {
	var h vg.Length
	for _, r := range p.rowHeights(width) {
		h += r + panelGapY
	}
	return h - panelGapY
}

func (p Panels) draw(c draw.Canvas) {
	width := c.Max.X - c.Min.X
	w, n := p.panelWidth(width), p.columns()
	heights := p.rowHeights(width)
	y := c.Max.Y
	for i, f := range p.panels() {
		if i > 0 && i%n == 0 {
			y -= heights[i/n-1] + panelGapY
		}
		x := c.Min.X + vg.Length(i%n)*(w+panelGapX)
		sub := c
		sub.Min, sub.Max = vg.Point{X: x, Y: y - heights[i/n]}, vg.Point{X: x + w, Y: y}
		for _, l := range wrap(headPen(), headingOf(f), w) {
			sub.Max.Y -= headPen().leading()
			headPen().write(c, x, sub.Max.Y+px(5), 0, l)
		}
		f.draw(sub)
	}
}

// text prints the panels one below the other.
func (p Panels) text() string {
	var b strings.Builder
	for i, f := range p.panels() {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(asText(f))
	}
	return b.String()
}
