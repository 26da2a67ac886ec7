// Histograms of samples, laid over each other.

package plot

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/lethe-ml/lethe/lib/stats"
)

// Sample is one set of values, such as the losses of the members.
type Sample struct {
	Name    string
	Values  []float64
	Control bool
}

// Histograms overlays the distributions of samples, such as members and non-members. All share the
// same bins; heights are shares of the sample, so that samples of different sizes can be compared.
type Histograms struct {
	Meta
	X       Axis
	Samples []Sample
	Bins    int   // 0 chooses by Freedman and Diaconis' rule, with round edges
	Null    *Null // a vertical line: a threshold, for example

	allSeries []seriesID // of the panels around it
}

var _ Figure = Histograms{}

// Render implements Figure.
func (h Histograms) Render(w io.Writer, format string) error { return render(h, w, format) }

// PNG implements Figure.
func (h Histograms) PNG() ([]byte, error) { return renderPNG(h) }

// Text implements Figure.
func (h Histograms) Text() string { return asText(h) }

func (h Histograms) meta() Meta { return h.Meta }

func (h Histograms) check() error {
	if len(h.Samples) == 0 {
		return errEmpty
	}
	if h.Bins < 0 || h.Bins > 1000 {
		return fmt.Errorf("%d bins; there can be 1 to 1000", h.Bins)
	}
	if err := h.X.check("x"); err != nil {
		return err
	}
	for _, s := range h.Samples {
		if len(s.Values) == 0 {
			return fmt.Errorf("sample %q is empty", s.Name)
		}
		for i, v := range s.Values {
			if err := checkValues(fmt.Sprintf("sample %q, value %d", s.Name, i+1), h.X.Log, v); err != nil {
				return err
			}
		}
	}
	return h.Null.check("histograms", h.X.Log)
}

// valueRange returns the range of the values, within the limits of the axis.
func (h Histograms) valueRange() span {
	all := newSpan()
	all.addNull(h.Null)
	for _, s := range h.Samples {
		all.add(s.Values...)
	}
	if all.lo == all.hi || h.X.Min != nil || h.X.Max != nil {
		return all.fit(h.X)
	}
	return all
}

// bins returns the range of the axis and the number of bins. Without a given number and given
// limits the edges are round numbers.
func (h Histograms) bins(most int) (span, int) {
	r := h.valueRange()
	if h.Bins > 0 {
		return r, h.Bins
	}
	n := min(h.freedmanDiaconis(r), most)
	if h.X.Log || h.X.Min != nil || h.X.Max != nil {
		return r, n
	}
	step := nearRound((r.hi - r.lo) / float64(n))
	first, last := math.Floor(r.lo/step), math.Floor(r.hi/step)+1
	if count := last - first; count >= 1 && count <= 100 {
		return span{first * step, last * step}, int(count)
	}
	return r, n
}

// nearRound returns the round number (1, 2, 2.5 or 5 times a power of ten) nearest to raw by
// ratio.
func nearRound(raw float64) float64 {
	base := math.Pow(10, math.Floor(math.Log10(raw)))
	best := base
	for _, f := range []float64{2, 2.5, 5, 10} {
		if math.Abs(math.Log(f*base/raw)) < math.Abs(math.Log(best/raw)) {
			best = f * base
		}
	}
	return best
}

// freedmanDiaconis returns the rule's number of bins, limited to 12 to 60.
func (h Histograms) freedmanDiaconis(r span) int {
	var pooled []float64
	for _, s := range h.Samples {
		pooled = append(pooled, s.Values...)
	}
	if h.X.Log {
		for i, v := range pooled {
			pooled[i] = math.Log(v)
		}
		r = span{math.Log(r.lo), math.Log(r.hi)}
	}
	q1, err1 := stats.Quantile(pooled, 0.25)
	q3, err3 := stats.Quantile(pooled, 0.75)
	width := 2 * (q3 - q1) / math.Cbrt(float64(len(pooled)))
	if err1 != nil || err3 != nil || !(width > 0) {
		return 20
	}
	return int(clamp(math.Ceil((r.hi-r.lo)/width), 12, 60))
}

// binShares holds the shares of one sample per bin; out is the number of values outside the axis.
type binShares struct {
	shares []float64
	out    int
}

// maxBins bounds the number of bins of Freedman and Diaconis' rule.
const maxBins = 60

// count sorts all samples into the same bins; the last one is closed. most bounds the number of
// bins if none is given.
func (h Histograms) count(most int) (edges []float64, all []binShares, top float64) {
	r, n := h.bins(most)
	at := func(f float64) float64 { return r.lo + f*(r.hi-r.lo) }
	place := func(v float64) float64 { return (v - r.lo) / (r.hi - r.lo) }
	if h.X.Log {
		at = func(f float64) float64 { return r.lo * math.Pow(r.hi/r.lo, f) }
		place = func(v float64) float64 { return math.Log(v/r.lo) / math.Log(r.hi/r.lo) }
	}
	for i := range n + 1 {
		edges = append(edges, at(float64(i)/float64(n)))
	}
	edges[n] = r.hi
	for _, s := range h.Samples {
		c := binShares{shares: make([]float64, n)}
		for _, v := range s.Values {
			if v < r.lo || v > r.hi {
				c.out++
				continue
			}
			i := int(clamp(place(v)*float64(n), 0, float64(n-1)))
			c.shares[i] += 1 / float64(len(s.Values))
		}
		for _, v := range c.shares {
			top = max(top, v)
		}
		all = append(all, c)
	}
	if top == 0 {
		top = 1
	}
	return edges, all, top
}

func (h Histograms) seriesIDs() []seriesID {
	out := make([]seriesID, len(h.Samples))
	for i, s := range h.Samples {
		out[i] = seriesID{s.Name, s.Control}
	}
	return out
}

func (h Histograms) withAllSeries(allSeries []seriesID) drawing { h.allSeries = allSeries; return h }

// styles returns the series styles with the dashes of outlines.
func (h Histograms) styles() []seriesStyle {
	series, all := h.seriesIDs(), h.allSeries
	if all == nil {
		all = series
	}
	out := stylesAmong(series, h.allSeries)
	for i, r := range series {
		at := slices.Index(all, r)
		out[i].dashes = sampleDashes[(at+at/len(palette))%len(sampleDashes)]
	}
	return out
}

func (h Histograms) legend() []entry {
	_, all, _ := h.count(maxBins)
	var out []entry
	for i, l := range h.styles() {
		label := fmt.Sprintf("%s (n = %d)", h.Samples[i].Name, len(h.Samples[i].Values))
		if all[i].out > 0 {
			label = fmt.Sprintf("%s (n = %d, %d outside)", h.Samples[i].Name, len(h.Samples[i].Values), all[i].out)
		}
		out = append(out, entry{label: label, styleKey: fmt.Sprint(l.col, l.dashes), sample: func(c draw.Canvas) {
			fillRect(c, alpha(l.col, 0.3), c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
			style := solid(l.col, 1.8)
			style.Dashes = l.dashes
			c.StrokeLine2(style, c.Min.X, c.Max.Y, c.Max.X, c.Max.Y)
		}})
	}
	return append(out, h.Null.entries(true)...)
}

func (h Histograms) body(vg.Length) vg.Length { return h.height(330) }

func (h Histograms) draw(c draw.Canvas) {
	edges, all, top := h.count(maxBins)
	ls := h.styles()
	p := newPlot(c, h.X, Axis{Label: "share of the sample"}, span{edges[0], edges[len(edges)-1]}, span{0, top * 1.06})
	p.Add(grid{y: true}, layer(func(c draw.Canvas, x, y func(float64) vg.Length) {
		for i, s := range all {
			pts := outline(edges, s.shares, x, y)
			var area vg.Path
			area.Move(pts[0])
			for _, pt := range pts[1:] {
				area.Line(pt)
			}
			area.Close()
			c.SetColor(alpha(ls[i].col, 0.28))
			c.Fill(area)
		}
		for i, s := range all {
			style := solid(ls[i].col, 1.7)
			style.Dashes = ls[i].dashes
			c.StrokeLines(style, outline(edges, s.shares, x, y))
		}
		drawNullVertical(c, h.Null, x)
	}))
	p.Draw(c)
}

// outline returns the staircase of a histogram, from the axis up and down again.
func outline(edges, shares []float64, x, y func(float64) vg.Length) []vg.Point {
	pts := []vg.Point{{X: x(edges[0]), Y: y(0)}}
	for i, s := range shares {
		pts = append(pts, vg.Point{X: x(edges[i]), Y: y(s)}, vg.Point{X: x(edges[i+1]), Y: y(s)})
	}
	return append(pts, vg.Point{X: x(edges[len(edges)-1]), Y: y(0)})
}

// text prints a row per bin, at most twenty bins, with a bar per sample.
func (h Histograms) text() string {
	h.Bins = min(h.Bins, 20)
	edges, all, top := h.count(20)
	var b strings.Builder
	var labels []string
	for i := range len(edges) - 1 {
		labels = append(labels, shortNumber(edges[i])+" to "+shortNumber(edges[i+1]))
	}
	w := widest(labels...) + 2
	const cols = 24
	writeLine(&b, oneLine(h.X.Label))
	head := strings.Repeat(" ", w)
	for _, s := range h.Samples {
		head += padRight(fmt.Sprintf("%s (n = %d)", oneLine(s.Name), len(s.Values)), cols+8)
	}
	writeLine(&b, head)
	for i, label := range labels {
		line := padLeft(label, w-2) + "  "
		for _, s := range all {
			bar := strings.Repeat("\u2588", int(math.Round(s.shares[i]/top*cols)))
			line += padRight(bar+" "+formatFixed(s.shares[i], 3), cols+8)
		}
		writeLine(&b, line)
	}
	return b.String()
}
