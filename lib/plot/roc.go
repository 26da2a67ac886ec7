// ROC figures.

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

// ROCCurve is one curve of a ROC figure: points from (0, 0) to (1, 1), both coordinates
// non-decreasing, as stats.ROC returns them.
type ROCCurve struct {
	Name     string
	FPR, TPR []float64
	AUC      *stats.Estimate // printed in the legend
	Control  bool
}

// ROC shows the true against the false positive rate. Chance is the diagonal. With Log both axes
// are logarithmic, which shows small false positive rates: privacy risk depends on the few records
// about which an attack is sure.
type ROC struct {
	Meta
	Curves []ROCCurve
	Log    bool
	MinFPR float64      // start of log axes; 0 means 1e-3
	Paper  []PaperPoint // X is the false, Y the true positive rate

	// Sizes of the two samples. If both are known the chance band is drawn: at each
	// rate, a guessing attack is in it with probability 0.95.
	Positives, Negatives int

	allSeries []seriesID // of the panels around it
}

var _ Figure = ROC{}

// ROCLinearAndLog returns the same figure on linear and on log axes, side by side.
func ROCLinearAndLog(r ROC) Panels {
	m := r.Meta
	lin, log := r, r
	lin.Meta, log.Meta = Meta{Title: "linear axes"}, Meta{Title: "log axes: the few that an attack is sure about"}
	lin.Log, log.Log = false, true
	return Panels{Meta: m, Columns: 2, Figures: []Figure{lin, log}}
}

// Render implements Figure.
func (r ROC) Render(w io.Writer, format string) error { return render(r, w, format) }

// PNG implements Figure.
func (r ROC) PNG() ([]byte, error) { return renderPNG(r) }

// Text implements Figure.
func (r ROC) Text() string { return asText(r) }

func (r ROC) meta() Meta { return r.Meta }

func (r ROC) standardWidth() float64 { return 620 }

func (r ROC) check() error {
	if len(r.Curves) == 0 {
		return errEmpty
	}
	if r.MinFPR < 0 || r.MinFPR >= 1 || math.IsNaN(r.MinFPR) {
		return fmt.Errorf("smallest false positive rate %v is outside 0 to 1", r.MinFPR)
	}
	for _, s := range r.Curves {
		if len(s.FPR) == 0 {
			return fmt.Errorf("curve %q is empty", s.Name)
		}
		if len(s.FPR) != len(s.TPR) {
			return fmt.Errorf("curve %q has %d false and %d true positive rates", s.Name, len(s.FPR), len(s.TPR))
		}
		if err := checkRates(s.Name, "false", s.FPR); err != nil {
			return err
		}
		if err := checkRates(s.Name, "true", s.TPR); err != nil {
			return err
		}
	}
	if r.Positives < 0 || r.Negatives < 0 || r.Positives > maxSample || r.Negatives > maxSample {
		return fmt.Errorf("samples of %d and %d; sizes can be 0 (unknown) to %d", r.Positives, r.Negatives, maxSample)
	}
	for _, p := range r.Paper {
		if !(p.X >= 0 && p.X <= 1 && p.Y >= 0 && p.Y <= 1) {
			return fmt.Errorf("paper value %q has the rates %v and %v", p.Label, p.X, p.Y)
		}
	}
	return nil
}

// maxSample bounds the sizes of samples for the chance band.
const maxSample = 1_000_000

const chanceLabel = "chance band (95 %)"

func checkRates(name, kind string, rates []float64) error {
	last := 0.0
	for i, v := range rates {
		if !(v >= 0 && v <= 1) {
			return fmt.Errorf("curve %q, %s positive rate %d is %v", name, kind, i+1, v)
		}
		if v < last {
			return fmt.Errorf("curve %q, %s positive rate %d falls from %v to %v", name, kind, i+1, last, v)
		}
		last = v
	}
	return nil
}

func (r ROC) low() float64 {
	if !r.Log {
		return 0
	}
	if r.MinFPR > 0 {
		return r.MinFPR
	}
	return 1e-3
}

func (r ROC) seriesIDs() []seriesID {
	out := make([]seriesID, len(r.Curves))
	for i, s := range r.Curves {
		out[i] = seriesID{s.Name, s.Control}
	}
	return out
}

func (r ROC) withAllSeries(allSeries []seriesID) drawing { r.allSeries = allSeries; return r }
func (r ROC) styles() []seriesStyle                      { return stylesAmong(r.seriesIDs(), r.allSeries) }

func (r ROC) legend() []entry {
	var out []entry
	ls := r.styles()
	for i, l := range ls {
		out = append(out, lineEntry(r.name(i), l, false, markerIndex(ls, i) >= 0))
	}
	n := Null{Label: "chance"}
	if r.hasChance() {
		n.Low, n.High, n.BandLabel = new(float64), new(float64), chanceLabel
	}
	return append(append(out, n.entries(false)...), paperEntries(r.Paper)...)
}

// name returns the curve's name with its area.
func (r ROC) name(i int) string {
	s := r.Curves[i]
	if s.AUC == nil {
		return s.Name
	}
	out := s.Name + ": AUC " + formatFixed(s.AUC.Value, 3)
	if !math.IsNaN(s.AUC.Low) && !math.IsNaN(s.AUC.High) {
		out += fmt.Sprintf(" [%s, %s]", formatFixed(s.AUC.Low, 3), formatFixed(s.AUC.High, 3))
	}
	return out
}

func (r ROC) body(w vg.Length) vg.Length { return r.height(clamp(float64(w/px(1))*0.82, 240, 480)) }

func (r ROC) draw(c draw.Canvas) {
	s := span{r.low(), 1}
	ax := Axis{Label: "false positive rate", Log: r.Log}
	ay := Axis{Label: "true positive rate", Log: r.Log}
	p := newPlot(c, ax, ay, s, s)
	p.Add(grid{x: true, y: true}, layer(func(c draw.Canvas, x, y func(float64) vg.Length) {
		r.drawChance(c, x, y)
		c.StrokeLine2(dashed(nullLine, 1.3), x(s.lo), y(s.lo), x(1), y(1))
		ls := r.styles()
		for i, l := range ls {
			drawLine(c, r.staircase(r.Curves[i]), l, markerIndex(ls, i), x, y)
		}
		drawPaperPoints(c, r.visiblePaper(), x, y)
	}))
	p.Draw(c)
}

// staircase returns the curve as a staircase. Rates below the start of the axes are raised to it,
// because log axes cannot show them.
func (r ROC) staircase(s ROCCurve) Curve {
	out := Curve{Name: s.Name}
	add := func(x, y float64) {
		out.X = append(out.X, max(x, r.low()))
		out.Y = append(out.Y, max(y, r.low()))
	}
	for i := range s.FPR {
		if i > 0 && s.FPR[i] > s.FPR[i-1] && s.TPR[i] > s.TPR[i-1] && r.Log {
			r.addBent(s, i, add)
		}
		add(s.FPR[i], s.TPR[i])
	}
	return out
}

// visiblePaper returns the paper's values, rates below the start of the axes raised to it.
func (r ROC) visiblePaper() []PaperPoint {
	out := slices.Clone(r.Paper)
	for i := range out {
		out[i].X, out[i].Y = max(out[i].X, r.low()), max(out[i].Y, r.low())
	}
	return out
}

// addBent adds the straight line between two points, which is a curve on log axes.
func (r ROC) addBent(s ROCCurve, i int, add func(x, y float64)) {
	from, to := max(s.FPR[i-1], r.low()), s.FPR[i]
	if to <= from {
		return
	}
	const steps = 24
	for k := range steps {
		x := from * math.Pow(to/from, float64(k)/steps)
		f := (x - s.FPR[i-1]) / (s.FPR[i] - s.FPR[i-1])
		add(x, s.TPR[i-1]+f*(s.TPR[i]-s.TPR[i-1]))
	}
}

// text prints the curves into one raster, and the true positive rates at small false positive
// rates.
func (r ROC) text() string {
	s := span{r.low(), 1}
	g := newRaster(s, s, r.Log, r.Log)
	g.line([]float64{s.lo, 1}, []float64{s.lo, 1}, '\u00b7')
	for i, c := range r.Curves {
		v := r.staircase(c)
		g.line(v.X, v.Y, letter(i))
	}
	for _, p := range r.visiblePaper() {
		g.set(p.X, p.Y, '\u25c7')
	}
	var b strings.Builder
	g.write(&b, "false positive rate", "true positive rate")
	for i, c := range r.Curves {
		line := fmt.Sprintf("%c %s", letter(i), oneLine(r.name(i)))
		for _, fpr := range []float64{0.001, 0.01, 0.1} {
			line += fmt.Sprintf(", TPR %s at FPR %g", formatFixed(tprAt(c, fpr), 3), fpr)
		}
		writeLine(&b, line)
	}
	if r.hasChance() {
		writeLine(&b, r.chanceText())
	}
	paperText(&b, r.Paper)
	return b.String()
}

// tprAt returns the greatest true positive rate of a point whose false positive rate is at most
// fpr.
func tprAt(c ROCCurve, fpr float64) float64 {
	best := 0.0
	for i, v := range c.FPR {
		if v <= fpr {
			best = max(best, c.TPR[i])
		}
	}
	return best
}
