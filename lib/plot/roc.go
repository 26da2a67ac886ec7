// ROC figures.

package plot

import (
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

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

func (r ROC) standardWidth() float64 { return 620 }

func (r ROC) check() error {
	var p problems
	p.refuse(len(r.Curves) == 0, noData)
	p.refuse(!(r.MinFPR >= 0 && r.MinFPR < 1), "smallest false positive rate %v is outside 0 to 1", r.MinFPR)
	for _, s := range r.Curves {
		p.refuse(len(s.FPR) == 0, "curve %q is empty", s.Name)
		p.refuse(len(s.FPR) != len(s.TPR), "curve %q has %d false and %d true positive rates", s.Name, len(s.FPR), len(s.TPR))
		checkRates(&p, s.Name, "false", s.FPR)
		checkRates(&p, s.Name, "true", s.TPR)
	}
	p.refuse(r.Positives < 0 || r.Negatives < 0 || r.Positives > maxSample || r.Negatives > maxSample,
		"samples of %d and %d; sizes can be 0 (unknown) to %d", r.Positives, r.Negatives, maxSample)
	for _, pt := range r.Paper {
		p.refuse(!(pt.X >= 0 && pt.X <= 1 && pt.Y >= 0 && pt.Y <= 1), "paper value %q has the rates %v and %v", pt.Label, pt.X, pt.Y)
	}
	return p.err
}

// maxSample bounds the sizes of samples for the chance band.
const maxSample = 1_000_000

const chanceLabel = "chance band (95 %)"

func checkRates(p *problems, name, kind string, rates []float64) {
	last := 0.0
	for i, v := range rates {
		p.refuse(!(v >= 0 && v <= 1), "curve %q, %s positive rate %d is %v", name, kind, i+1, v)
		p.refuse(v < last, "curve %q, %s positive rate %d falls from %v to %v", name, kind, i+1, last, v)
		last = v
	}
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

// VegaLite implements Interactive. A rate that log axes cannot show is drawn at their start; the
// tooltip has the rate itself.
func (r ROC) VegaLite() ([]byte, error) { return vegaLite(r) }

const fprName, tprName = "false positive rate", "true positive rate"

func (r ROC) scene() scene {
	within := span{r.low(), 1}
	s := scene{x: scale{Axis{Label: fprName, Log: r.Log}, within, true}, y: scale{Axis{Label: tprName, Log: r.Log}, within, true}}
	for i, c := range r.Curves {
		s.addSeries(c.Name, c.Control, r.name(i))
	}
	curves := mark{kind: paths, rows: r.rows(), table: "points", x: "x", y: "y", width: 2, tips: tooltip("series", "curve", "x", fprName, "y", tprName)}
	if r.Log {
		curves.tips = tooltip("series", "curve", "fpr", fprName, "tpr", tprName)
	}
	paper := paperMarks(paperRows(r.visiblePaper()), "x", "y", tooltip("label", "paper", "x", fprName, "y", tprName))
	paper.whole = true // on the edge of log axes
	s.marks = []mark{r.chanceBand(), r.diagonal(), curves, paper}
	s.notes = append(r.ratesText(), paperNotes(r.Paper)...)
	return s
}

// diagonal is the curve of an attack that guesses.
func (r ROC) diagonal() mark {
	ends := []datum{{row: object{"x": r.low(), "y": r.low()}}, {row: object{"x": 1.0, "y": 1.0}}}
	return mark{kind: paths, rows: ends, x: "x", y: "y", means: "chance", col: nullLine, width: 1.3, dashes: nullDashes, sign: '\u00b7'}
}

// rows returns the corners of all curves, with drawn and true rates: those below the start of log
// axes are raised to it. Points inside a horizontal or vertical piece are left out, because the
// line is the same; on log axes, where a straight line is bent, points are added.
func (r ROC) rows() []datum {
	var out []datum
	for k, s := range r.Curves {
		add := func(i int, x, y float64) {
			row := object{"series": oneLine(r.name(k)), "i": i, "x": max(x, r.low()), "y": max(y, r.low())}
			if r.Log {
				row["fpr"], row["tpr"] = x, y
			}
			out = append(out, datum{series: k, sign: letter(k), row: row})
		}
		for i := range s.FPR {
			if i > 0 && s.FPR[i] > s.FPR[i-1] && s.TPR[i] > s.TPR[i-1] && r.Log {
				r.addBent(s, i, add)
			}
			if !s.inside(i) {
				add(i, s.FPR[i], s.TPR[i])
			}
		}
	}
	return out
}

// inside reports whether point i lies between two others on a horizontal or vertical piece of the
// curve.
func (s ROCCurve) inside(i int) bool {
	if i == 0 || i == len(s.FPR)-1 {
		return false
	}
	level := s.TPR[i-1] == s.TPR[i] && s.TPR[i] == s.TPR[i+1]
	upright := s.FPR[i-1] == s.FPR[i] && s.FPR[i] == s.FPR[i+1]
	return level || upright
}

// visiblePaper returns the paper's values, rates below the start of the axes raised to it.
func (r ROC) visiblePaper() []PaperPoint {
	out := slices.Clone(r.Paper)
	for i := range out {
		out[i].X, out[i].Y = max(out[i].X, r.low()), max(out[i].Y, r.low())
	}
	return out
}

// addBent adds the straight line between two points, which is a curve on log axes, unless it is too
// short for that to be seen: curves of many short pieces stay small.
func (r ROC) addBent(s ROCCurve, i int, add func(i int, x, y float64)) {
	from, to := max(s.FPR[i-1], r.low()), s.FPR[i]
	if to <= 1.05*from {
		return
	}
	const steps = 24
	for k := range steps {
		x := from * math.Pow(to/from, float64(k)/steps)
		f := (x - s.FPR[i-1]) / (s.FPR[i] - s.FPR[i-1])
		add(i, x, s.TPR[i-1]+f*(s.TPR[i]-s.TPR[i-1]))
	}
}

// ratesText returns the true positive rates at small false positive rates.
func (r ROC) ratesText() []string {
	var out []string
	for i, c := range r.Curves {
		line := fmt.Sprintf("%c %s", letter(i), oneLine(r.name(i)))
		for _, fpr := range []float64{0.001, 0.01, 0.1} {
			line += fmt.Sprintf(", TPR %s at FPR %g", formatFixed(tprAt(c, fpr), 3), fpr)
		}
		out = append(out, line)
	}
	if r.hasChance() {
		out = append(out, r.chanceText())
	}
	return out
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
