// Forest plots of RULER's metrics M1 to M4 of several models, beside the printed values.

package audit

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// RULERForest draws M1, M2, M3 or M4 of models with intervals over records. The values in printed
// stand beside the first rows. M4 has the band that holds 95 of 100 values under chance alone.
func (c *Case) RULERForest(metric string, printed []float64, models ...*Model) (plot.Forest, error) {
	f := plot.Forest{Meta: plot.Meta{Title: metric + " on " + c.DataSet(), Source: c.Provenance().Line()}, X: plot.Axis{Label: metric}, Digits: 4}
	for i, m := range models {
		r, err := c.RULER(m, ruler.Options{})
		if err != nil {
			return f, err
		}
		e, there := map[string]*stats.Estimate{"M1": r.M1, "M2": r.M2, "M3": r.M3, "M4": r.M4}[metric]
		if !there {
			return f, fmt.Errorf("audit: %q is not one of M1, M2, M3, M4", metric)
		}
		row := plot.ForestRow{Label: m.Label, Control: m.Control, Estimate: *e}
		if i < len(printed) {
			row.Paper = &printed[i]
		}
		f.Rows, f.Null = append(f.Rows, row), c.rulerNull(metric, e)
	}
	return f, nil
}

// rulerNull returns a metric's null, with the chance band where one is known.
func (c *Case) rulerNull(metric string, e *stats.Estimate) *plot.Null {
	switch {
	case e.Null == nil:
		return nil
	case metric == "M4":
		return plot.NullBand(*e.Null, m4ChanceDistance(len(c.Forget), gallerySize(len(c.Retain))))
	}
	return &plot.Null{Value: *e.Null}
}

// m4ChanceDistance returns the distance from 0.5 within which chance alone keeps M4 of n records and a
// gallery in 95 of 100 cases.
func m4ChanceDistance(n, gallery int) float64 { return normal95 * ruler.M4ChanceSD(n, gallery) }
