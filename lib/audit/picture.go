// Figures on pages: in two widths, and in sheets that fit on paper.

package audit

import (
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
)

// The widths, in pixels, in which a figure is drawn for a page: of a screen and of a phone.
const (
	wide   = 800
	narrow = 380
)

// PagePicture draws a figure for a page in sheets of a given number of panels, so that each fits on
// a sheet of paper.
func PagePicture(f plot.Panels, panels int, caption string) ([]report.Part, error) {
	p := report.Picture{Words: f.Text(), Caption: caption}
	for _, sheet := range f.Sheets(panels) {
		for _, to := range []struct {
			width int
			svg   *[]string
		}{{wide, &p.Wide}, {narrow, &p.Narrow}} {
			svg, err := plot.Inline(sheet, to.width)
			if err != nil {
				return nil, err
			}
			*to.svg = append(*to.svg, svg)
		}
	}
	return []report.Part{p}, nil
}
