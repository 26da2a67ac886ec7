// Histograms of samples, laid over each other.

package plot

import (
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"

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
}

var _ Figure = Histograms{}

// Render implements Figure.
func (h Histograms) Render(w io.Writer, format string) error { return render(h, w, format) }

// PNG implements Figure.
func (h Histograms) PNG() ([]byte, error) { return renderPNG(h) }

// Text implements Figure.
func (h Histograms) Text() string { return asText(h) }

func (h Histograms) check() error {
	var p problems
	p.refuse(len(h.Samples) == 0, noData)
	p.refuse(h.Bins < 0 || h.Bins > 1000, "%d bins; there can be 1 to 1000", h.Bins)
	h.X.check(&p, "x")
	for _, s := range h.Samples {
		p.refuse(len(s.Values) == 0, "sample %q is empty", s.Name)
		for i, v := range s.Values {
			p.value(v, h.X.Log, "sample %q, value %d", s.Name, i+1)
		}
	}
	h.Null.check(&p, "histograms", h.X.Log)
	return p.err
}

// valueRange returns the range of the values, within the limits of the axis.
func (h Histograms) valueRange() span {
	all := newSpan()
	if n := h.Null; n != nil {
		all.add(n.Value)
	}
	if n := h.Null; n != nil && n.Low != nil {
		all.add(*n.Low, *n.High)
	}
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

func (h Histograms) body(vg.Length) vg.Length { return h.height(330) }

func (h Histograms) scene() scene {
	edges, all, top := h.count(maxBins)
	s := scene{x: scale{Axis: h.X, span: span{edges[0], edges[len(edges)-1]}}, plain: h.table(),
		y: scale{Axis: Axis{Label: "share of the sample"}, span: span{0, top * 1.06}, grid: true}}
	stairs := mark{kind: steps, x: "x", y: "y", width: 1.7}
	for i, c := range all {
		sample := h.Samples[i]
		label := fmt.Sprintf("%s (n = %d)", sample.Name, len(sample.Values))
		if c.out > 0 {
			label = fmt.Sprintf("%s (n = %d, %d outside)", sample.Name, len(sample.Values), c.out)
		}
		s.addSeries(sample.Name, sample.Control, label)
		stairs.rows = append(stairs.rows, outline(i, edges, c.shares)...)
	}
	s.marks = append([]mark{stairs}, h.Null.marks("x")...)
	return s
}

// outline returns the staircase of a histogram, from the axis up and down again.
func outline(series int, edges, shares []float64) []datum {
	var out []datum
	add := func(x, y float64) { out = append(out, datum{series: series, row: object{"x": x, "y": y}}) }
	add(edges[0], 0)
	for i, s := range shares {
		add(edges[i], s)
		add(edges[i+1], s)
	}
	add(edges[len(edges)-1], 0)
	return out
}

// table returns a row per bin, at most twenty bins, with a bar per sample.
func (h Histograms) table() []string {
	h.Bins = min(h.Bins, 20)
	edges, all, top := h.count(20)
	var labels []string
	for i := range len(edges) - 1 {
		labels = append(labels, shortNumber(edges[i])+" to "+shortNumber(edges[i+1]))
	}
	w := widest(labels...)
	const bar, cell = 24, 32
	head := strings.Repeat(" ", w+2)
	for _, s := range h.Samples {
		head += padRight(fmt.Sprintf("%s (n = %d)", oneLine(s.Name), len(s.Values)), cell)
	}
	out := []string{oneLine(h.X.Label), head}
	for i, label := range labels {
		line := padLeft(label, w) + "  "
		for _, s := range all {
			full := strings.Repeat("\u2588", int(math.Round(s.shares[i]/top*bar)))
			line += padRight(full+" "+formatFixed(s.shares[i], 3), cell)
		}
		out = append(out, line)
	}
	return out
}
