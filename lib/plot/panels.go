// Panels: several figures in a grid, with one legend.

package plot

import (
	"cmp"
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

// maxPanels bounds the size of a grid.
const maxPanels = 100

func (p Panels) check() error {
	var problems problems
	problems.refuse(len(p.Figures) == 0, noData)
	problems.refuse(len(p.Figures) > maxPanels || p.Columns < 0 || p.Columns > maxPanels,
		"%d panels in %d columns; there can be %d", len(p.Figures), p.Columns, maxPanels)
	for i, f := range p.Figures {
		_, nested := f.(Panels)
		problems.refuse(f == nil, "panel %d is empty", i+1)
		problems.refuse(nested, "panel %d holds panels itself", i+1)
		if problems.err == nil {
			err := verify(f)
			problems.refuse(err != nil, "panel %d: %w", i+1, err)
		}
	}
	if problems.err != nil {
		return problems.err
	}
	looks := map[string]string{}
	for i, s := range p.panels() {
		for _, e := range s.legend() {
			old, seen := looks[e.label]
			problems.refuse(seen && old != e.styleKey,
				"panel %d draws %q in another style than the panels before it; give different series different names", i+1, e.label)
			looks[e.label] = e.styleKey
		}
	}
	return problems.err
}

// Sheets divides the panels into grids of at most n, for pages of paper. A series keeps its style;
// only the first grid has the title.
func (p Panels) Sheets(n int) []Panels {
	var out []Panels
	var all []seriesID
	if p.check() == nil { // else drawing a sheet gives the error
		all = p.allSeries()
	}
	for part := range slices.Chunk(p.Figures, max(1, n)) {
		sheet := p
		sheet.Figures, sheet.gridSeries = part, all
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
		for _, id := range f.scene().ids {
			if !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// fixedHeight is a figure whose height follows from its rows.
type fixedHeight interface{ fixedHeight() }

func (Forest) fixedHeight()  {}
func (Heatmap) fixedHeight() {}

// panels returns the figures as they are drawn, with the styles of the whole grid and a common
// range if requested.
func (p Panels) panels() []scene {
	out, allSeries := make([]scene, len(p.Figures)), p.allSeries()
	all, mixed := newSpan(), p.mixed()
	for i, f := range p.Figures {
		if forest, ok := f.(Forest); ok {
			forest.unitInTitle = mixed
			f = forest
		}
		out[i] = f.scene().restyle(allSeries)
		out[i].heading = cmp.Or(out[i].heading, f.meta().Title)
		if out[i].sharesY {
			all.add(out[i].y.lo, out[i].y.hi)
		}
	}
	for i := range out {
		if p.ShareY && out[i].sharesY {
			out[i].y.span = all
		}
	}
	return out
}

// scene returns the panels with a legend that has each label once, in the order of first use.
func (p Panels) scene() scene {
	panels := p.panels()
	out := scene{custom: func(c draw.Canvas) { p.draw(c, panels) }}
	seen := map[string]bool{}
	for i, s := range panels {
		for _, e := range s.legend() {
			if !seen[e.label] {
				out.entries = append(out.entries, e)
			}
			seen[e.label] = true
		}
		if i > 0 {
			out.plain = append(out.plain, "")
		}
		text := s.titledText(p.Figures[i].meta())
		out.plain = append(out.plain, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
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

// rowHeights returns the heights of the rows of the grid, titles included.
func (p Panels) rowHeights(width vg.Length, panels []scene) []vg.Length {
	n := p.columns()
	out := make([]vg.Length, (len(p.Figures)+n-1)/n)
	w := p.panelWidth(width)
	for i, f := range p.Figures {
		h := vg.Length(len(wrap(headPen(), panels[i].heading, w))) * headPen().leading()
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
	for _, r := range p.rowHeights(width, p.panels()) {
		h += r + panelGapY
	}
	return h - panelGapY
}

func (p Panels) draw(c draw.Canvas, panels []scene) {
	width := c.Max.X - c.Min.X
	w, n := p.panelWidth(width), p.columns()
	heights := p.rowHeights(width, panels)
	y := c.Max.Y
	for i, s := range panels {
		if i > 0 && i%n == 0 {
			y -= heights[i/n-1] + panelGapY
		}
		x := c.Min.X + vg.Length(i%n)*(w+panelGapX)
		sub := c
		sub.Min, sub.Max = vg.Point{X: x, Y: y - heights[i/n]}, vg.Point{X: x + w, Y: y}
		for _, l := range wrap(headPen(), s.heading, w) {
			sub.Max.Y -= headPen().leading()
			headPen().write(c, x, sub.Max.Y+px(5), 0, l)
		}
		s.draw(sub)
	}
}
