package fishing

// Figure 2: utility against attack.

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
)

var figure2 = paper.Recipe{
	ID:    "fishing/figure2",
	Title: "Fishing Fig. 2. What is given for what the attackers no longer find",
	Doc: "A point per model: 2 AUC - 1 of an attacker against the ELBO of unseen cells (lower is better) and against the mean correlation of marker " +
		"genes with library size (higher is better). The line is the null, the band where 95 of 100 values lie when members and non-members are " +
		"exchangeable. The paper draws one point per method and |2 AUC - 1|, which hides on which side of the null it is; the retrained models show " +
		"what the attacker finds where there is no membership.",
}

func (ev *evidence) figure2() *paper.Output {
	meta := plot.Meta{Title: figure2.Title, Caption: joinCaption(figure2.Doc, ev.trainingNotes()), Source: ev.provenance(figure2.ID).Line()}
	f := plot.Panels{Meta: meta, Columns: 2}
	for _, c := range ev.Cases {
		rows := ev.rowsOf(c.Label, Original)
		if len(rows) == 0 {
			continue
		}
		for _, p := range []struct{ label, protocol string }{{"P-B, all scored", learned.PB().Name}, {"cross-fitted", learned.CrossFitted(nil).Name}} {
			f.Figures = append(f.Figures, ev.tradeoff(c, rows[0], p.label, p.protocol, "ELBO, unseen cells", true, Row.ELBO))
			if len(c.Markers) > 0 {
				f.Figures = append(f.Figures, ev.tradeoff(c, rows[0], p.label, p.protocol, "marker r", false, Row.MarkerR))
			}
		}
	}
	return &paper.Output{Figure: f}
}

// tradeoff shows a case: a point per model, a cloud per variant.
func (ev *evidence) tradeoff(c Case, of Row, label, protocol, axis string, logged bool, useful func(Row) float64) plot.Figure {
	s := plot.Scatter{
		Meta: plot.Meta{Title: fmt.Sprintf("%s: %s", c.Label, label)},
		X:    plot.Axis{Label: axis, Log: logged}, Y: plot.Axis{Label: "2 AUC - 1"}, Null: plot.NullBand(0, of.chanceFloor(protocol).P95),
	}
	for _, a := range c.variants() {
		cloud := plot.Cloud{Name: a.Label, Control: a.Control && a.Label != Original}
		for _, r := range ev.rowsOf(c.Label, a.Label) {
			if x := useful(r); r.Diverged == "" && x == x { // not NaN
				cloud.X, cloud.Y = append(cloud.X, x), append(cloud.Y, r.Attacks[protocol].All.Advantage.Signed)
			}
		}
		if len(cloud.X) > 0 {
			s.Clouds = append(s.Clouds, cloud)
		}
	}
	return s
}
