// Values printed in a paper.

package plot

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// PaperPoint is a value printed in a paper, shown as a hollow diamond.
type PaperPoint struct {
	Label string // what it is, and where it is printed: "SCRUB, Table 2"
	X, Y  float64
}

func checkPaper(ps []PaperPoint, logX, logY bool) error {
	for _, p := range ps {
		if err := checkValues(fmt.Sprintf("paper value %q, x", p.Label), logX, p.X); err != nil {
			return err
		}
		if err := checkValues(fmt.Sprintf("paper value %q, y", p.Label), logY, p.Y); err != nil {
			return err
		}
	}
	return nil
}

func paperEntries(ps []PaperPoint) []entry {
	if len(ps) == 0 {
		return nil
	}
	return []entry{paperEntry()}
}

func drawPaperPoints(c draw.Canvas, ps []PaperPoint, x, y func(float64) vg.Length) {
	for _, p := range ps {
		if pt := (vg.Point{X: x(p.X), Y: y(p.Y)}); c.Contains(pt) {
			paperMark(c, pt, px(5.2))
		}
	}
}

// paperText lists the paper's values below a text drawing.
func paperText(b *strings.Builder, ps []PaperPoint) {
	for _, p := range ps {
		writeLine(b, fmt.Sprintf("\u25c7 %s: %s at %s, printed in the paper", oneLine(p.Label), shortNumber(p.Y), shortNumber(p.X)))
	}
}
