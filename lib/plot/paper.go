// Values printed in a paper.

package plot

import "fmt"

// PaperPoint is a value printed in a paper, shown as a hollow diamond.
type PaperPoint struct {
	Label string // what it is, and where it is printed: "SCRUB, Table 2"
	X, Y  float64
}

// paperRows returns the rows of paper points.
func paperRows(ps []PaperPoint) []datum {
	var out []datum
	for _, p := range ps {
		out = append(out, datum{row: object{"x": p.X, "y": p.Y, "paper": p.Y, "label": oneLine(p.Label)}})
	}
	return out
}

// paperNotes lists the paper's values below a text drawing.
func paperNotes(ps []PaperPoint) []string {
	var out []string
	for _, p := range ps {
		out = append(out, fmt.Sprintf("\u25c7 %s: %s at %s, printed in the paper", oneLine(p.Label), shortNumber(p.Y), shortNumber(p.X)))
	}
	return out
}
